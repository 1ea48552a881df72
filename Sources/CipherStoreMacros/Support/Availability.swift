import SwiftSyntax
import SwiftSyntaxMacros

/// The `@available` attributes of a declaration: what a macro writes beside it names it, and is no more available.
enum Availability {
    /// The attributes, a line each, for what is written into the same scope.
    static func ofPeer(_ attributes: AttributeListSyntax) -> String { lines(attributes.availability) }

    /// The attributes, a line each, for an extension, which stands outside of all that is around the type.
    static func ofExtension(_ attributes: AttributeListSyntax, in context: some MacroExpansionContext)
        -> String
    {
        let outer = context.lexicalContext.flatMap { syntax in
            syntax.asProtocol((any WithAttributesSyntax).self)?.attributes.availability ?? []
        }
        return lines(attributes.availability + outer)
    }

    private static func lines(_ texts: [String]) -> String {
        var unique: [String] = []
        for text in texts where !unique.contains(text) { unique.append(text) }
        return unique.map { $0 + "\n" }.joined()
    }
}

extension AttributeListSyntax {
    /// Each `@available` as source, with the `#if` around it.
    fileprivate var availability: [String] {
        compactMap { element -> String? in
            if let attribute = element.as(AttributeSyntax.self) {
                return attribute.isAvailability ? attribute.trimmedDescription : nil
            }
            return element.as(IfConfigDeclSyntax.self)?.availability
        }
    }
}

extension AttributeSyntax {
    /// Whether it says where or until when a declaration is there. `noasync` says who may call it, of functions only.
    fileprivate var isAvailability: Bool {
        guard attributeName.trimmedDescription == "available", case .availability(let list) = arguments else {
            return false
        }
        return !list.contains { $0.argument.trimmedDescription == "noasync" }
    }
}

extension IfConfigDeclSyntax {
    /// The clauses with nothing but `@available`; nil where none has it.
    fileprivate var availability: String? {
        var lines: [String] = []
        var isEmpty = true
        for clause in clauses {
            let words = [clause.poundKeyword.text, clause.condition?.trimmedDescription].compactMap { $0 }
            lines.append(words.joined(separator: " "))
            guard case .attributes(let attributes) = clause.elements else { continue }
            let texts = attributes.availability
            isEmpty = isEmpty && texts.isEmpty
            lines += texts
        }
        return isEmpty ? nil : (lines + ["#endif"]).joined(separator: "\n")
    }
}
