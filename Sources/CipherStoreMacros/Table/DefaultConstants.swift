import SwiftSyntax
import SwiftSyntaxMacros

/// Default values of an initializer that other modules may call, or other targets of the package.
///
/// Swift lets such values speak of names only that all callers can use, where those of a property may speak of any. So each
/// one is the value of a static property that callers can use.
struct DefaultConstants {
    /// The properties, in order.
    private(set) var declarations: [String] = []
    /// The words before a property; nil where the values can stand in the initializer itself.
    private let words: String?

    /// - parameters:
    ///     - access: The word of access of the initializer with a blank, or nothing.
    ///     - model: What is initialized. Of one that a type around it hides, the types of properties may be hidden as well.
    init(access: String, of model: RowModel) {
        switch model.isExposed ? access : "" {
        case "public ": words = "@usableFromInline "
        case "package ": words = "package "
        default: words = nil
        }
    }

    /// What stands in the initializer for a value.
    ///
    /// - parameters:
    ///     - text: The value, as source.
    ///     - type: Its type, as source.
    mutating func value(_ text: String, type: String) -> String {
        guard let words else { return text }
        let name = "default\(declarations.count)"
        declarations.append("\(words)static var \(name): \(type) { \(text) }")
        return name
    }
}

extension ExprSyntax {
    /// Whether it is a literal in which no name stands, so that everybody who can call an initializer can use it.
    var isPlainLiteral: Bool {
        if let text = self.as(StringLiteralExprSyntax.self) { return text.representedLiteralValue != nil }
        if let signed = self.as(PrefixOperatorExprSyntax.self) {
            return signed.operator.text == "-" && signed.expression.isPlainLiteral
        }
        if let array = self.as(ArrayExprSyntax.self) {
            return array.elements.allSatisfy { $0.expression.isPlainLiteral }
        }
        return [.integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr, .nilLiteralExpr].contains(kind)
    }
}
