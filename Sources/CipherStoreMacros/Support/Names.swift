import SwiftSyntax
import SwiftSyntaxBuilder

/// A name as it stands in source, where a keyword needs backticks, and as the text that SQL is given.
struct DeclaredName: Equatable, Sendable {
    /// The name without backticks.
    let text: String

    init(_ token: TokenSyntax) {
        var text = token.text
        if text.count > 2, text.hasPrefix("`"), text.hasSuffix("`") {
            text = String(text.dropFirst().dropLast())
        }
        self.text = text
    }

    init(text: String) {
        self.text = text
    }

    /// The name as a declaration and a use of a local name need it: with backticks where it is a keyword.
    var source: String {
        needsBackticks ? "`\(text)`" : text
    }

    /// The name after a dot or as the label of an argument.
    var member: String {
        // After a dot, these few are no members but parts of the language.
        ["init", "self", "Type", "Protocol"].contains(text) || !isPlainIdentifier ? "`\(text)`" : text
    }

    /// The name as a label. `inout`, `var` and `let` are no labels without backticks.
    var label: String {
        ["inout", "var", "let"].contains(text) || !isPlainIdentifier ? "`\(text)`" : text
    }

    private var isPlainIdentifier: Bool {
        guard let first = text.unicodeScalars.first else { return false }
        return (first == "_" || first.properties.isXIDStart)
            && text.unicodeScalars.allSatisfy { $0 == "_" || $0.properties.isXIDContinue }
    }

    private var needsBackticks: Bool {
        !isPlainIdentifier || ["Type", "Protocol"].contains(text) || Self.reserved.contains(text)
    }

    /// The words that can't name a declaration without backticks.
    private static let reserved: Set<String> = [
        "Any", "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer",
        "deinit",
        "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard",
        "if",
        "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup",
        "private",
        "protocol", "public", "repeat", "rethrows", "return", "self", "Self", "static", "struct", "subscript",
        "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]
}

extension String {
    /// The text as a Swift string literal.
    var literal: String {
        StringLiteralExprSyntax(content: self).description
    }
}
