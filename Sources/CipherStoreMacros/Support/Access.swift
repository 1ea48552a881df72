import SwiftSyntax
import SwiftSyntaxMacros

/// Who may use what a macro declares: as the type that carries the macro.
enum Access: Int, Comparable, Sendable {
    case `private`
    case `fileprivate`
    case `internal`
    case package
    case `public`

    init(_ modifiers: DeclModifierListSyntax) {
        var found = Access.internal
        for modifier in modifiers where modifier.detail == nil {
            switch modifier.name.tokenKind {
            case .keyword(.public), .keyword(.open): found = .public
            case .keyword(.package): found = .package
            case .keyword(.fileprivate): found = .fileprivate
            case .keyword(.private): found = .private
            default: continue
            }
        }
        self = found
    }

    /// The word before a member that the conformance or a caller needs, with a blank after it; empty where Swift's own
    /// default is right. Members of a private type have no word: `private` would hide them from the type's own file.
    var word: String {
        switch self {
        case .public: "public "
        case .package: "package "
        case .internal, .fileprivate, .private: ""
        }
    }

    /// The word before names that an extension of a type gives the type itself.
    ///
    /// In an extension of a type inside of a private one, Swift takes them for more visible than the type.
    static func ofAliases(_ modifiers: DeclModifierListSyntax, in context: some MacroExpansionContext)
        -> String
    {
        let isHidden = context.lexicalContext.contains { outer in
            outer.asProtocol((any WithModifiersSyntax).self).map { Access($0.modifiers) <= .fileprivate }
                ?? false
        }
        return isHidden ? "fileprivate " : Access(modifiers).word
    }

    /// Whether no type around a declaration keeps it within its module. Of an extension, nothing here says what it extends.
    static func isExposed(in context: some MacroExpansionContext) -> Bool {
        context.lexicalContext.allSatisfy { outer in
            guard !outer.is(ExtensionDeclSyntax.self),
                let type = outer.asProtocol((any WithModifiersSyntax).self)
            else { return true }
            return Access(type.modifiers) >= .package
        }
    }

    /// The word before a declaration beside one of this access, which has the same types in it.
    var peerWord: String { self <= .fileprivate ? "fileprivate " : word }

    /// The word before what is declared for one property of a type whose access is `owner`.
    func word(within owner: Access) -> String {
        if owner <= .fileprivate { return "" }
        return self == .fileprivate ? "fileprivate " : min(self, owner).word
    }

    static func < (one: Access, other: Access) -> Bool { one.rawValue < other.rawValue }
}
