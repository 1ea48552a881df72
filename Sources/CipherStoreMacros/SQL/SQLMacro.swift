import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `#sql("…", as: Type.self)`: SQL text with values in it, checked for quotes and brackets when it is compiled.
enum SQLMacro: ExpressionMacro {
    static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> ExprSyntax {
        guard let text = node.arguments.first else { return "\(raw: Library.name).SQLQueryExpression(\"\")" }
        if let literal = text.expression.as(StringLiteralExprSyntax.self) {
            guard SQLLint.check(literal, in: context) else {
                // The type stays right, so that what is around it shows no errors of its own.
                let rest = LabeledExprListSyntax(
                    [
                        LabeledExprSyntax(expression: ExprSyntax("\"\"")).with(
                            \.trailingComma, text.trailingComma)
                    ]
                        + node.arguments.dropFirst())
                return "\(raw: Library.name).SQLQueryExpression(\(rest))"
            }
        }
        return "\(raw: Library.name).SQLQueryExpression(\(node.arguments.trimmed))"
    }
}

/// `#bind(value, as: Type.self)`: a value as an expression, in another representation than its own.
enum BindMacro: ExpressionMacro {
    static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> ExprSyntax {
        "\(raw: Library.name).BindQueryExpression(\(node.arguments.trimmed))"
    }
}

/// The module that the expansions speak of.
enum Library {
    static let name = "TypedQueries"
}
