import SwiftSyntax
import SwiftSyntaxMacros

/// `@ProjectedSQL(text)` on a static member: `$name`, the text as a condition of queries and triggers.
///
/// Swift lets nobody but macros and property wrappers declare a name with `$`, and a property wrapper would be a
/// static variable.
enum ProjectedSQLMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let function = declaration.as(FunctionDeclSyntax.self),
            let text = node.arguments?.as(LabeledExprListSyntax.self)?.first?.expression.trimmed
        else { return [] }
        let access = Access(function.modifiers).peerWord
        let type = "\(Library.name).SQLQueryExpression"
        return [
            """
            /// What `\(function.name)` says, for queries and triggers.
            \(raw: access)nonisolated static var $\(function.name): \(raw: type)<Bool> {
                \(raw: type)("\\(raw: \(text))", as: Bool.self)
            }
            """
        ]
    }
}
