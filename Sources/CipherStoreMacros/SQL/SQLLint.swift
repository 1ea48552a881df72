import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// Reports what the scanner found in the text of `#sql`.
enum SQLLint {
    /// Checks `literal`; false if it must not be expanded.
    static func check(_ literal: StringLiteralExprSyntax, in context: some MacroExpansionContext) -> Bool {
        var isSound = true
        for finding in SQLScanner(literal).findings {
            let diagnostic = diagnostic(finding, literal)
            if diagnostic.diagMessage.severity == .error { isSound = false }
            context.diagnose(diagnostic)
        }
        return isSound
    }

    private static func diagnostic(_ finding: SQLScanner.Finding, _ literal: StringLiteralExprSyntax)
        -> Diagnostic
    {
        switch finding {
        case .bracket(let place, let sign):
            let message =
                sign == "("
                ? "'(' is never closed in this SQL" : "')' closes nothing in this SQL"
            return Diagnostic(
                node: place.segment, position: place.position,
                message: MacroMessage("sql-bracket", message, severity: .warning),
                fixIts: [sign == "(" ? closing(literal, with: ")") : cutting(place, length: 1)].compactMap {
                    $0
                })
        case .quote(let place, let sign):
            return Diagnostic(
                node: place.segment, position: place.position,
                message: MacroMessage(
                    "sql-quote", "the text that \(sign == "]" ? "[" : String(sign)) begins here never ends",
                    severity: .warning),
                fixIts: [closing(literal, with: String(sign))].compactMap { $0 })
        case .comment(let place):
            return Diagnostic(
                node: place.segment, position: place.position,
                message: MacroMessage("sql-comment", "this comment never ends", severity: .warning),
                fixIts: [closing(literal, with: " */")].compactMap { $0 })
        case .hidden(let expression, let enclosing):
            return hidden(expression, enclosing)
        case .placeholder(let place, let text):
            return Diagnostic(
                node: place.segment, position: place.position,
                message: MacroMessage(
                    "sql-placeholder", "'\(text)' would have no value: bind one with '\\(…)'"),
                fixIts: [replacing(place, text, literal)].compactMap { $0 })
        }
    }

    private static func hidden(
        _ expression: ExpressionSegmentSyntax, _ enclosing: SQLScanner.Enclosing
    ) -> Diagnostic {
        let raw = labelled(expression, "raw", "Put it into the text unchecked, with 'raw:'")
        switch enclosing {
        case .comment:
            return Diagnostic(
                node: expression,
                message: MacroMessage("sql-hidden-value", "SQLite sees no value in a comment"), fixIts: [raw])
        case .quote(let sign):
            let shown = sign == "]" ? "[ ]" : String(sign)
            let message = MacroMessage(
                "sql-hidden-value",
                "SQLite sees no value between quotes (\(shown)): it would read a question mark")
            guard let bare = withoutQuotes(expression, sign) else {
                return Diagnostic(node: expression, message: message, fixIts: [raw])
            }
            return Diagnostic(node: expression, message: message, fixIts: [bare, raw])
        }
    }
}

/// Fixes in the text of a string literal.
extension SQLLint {
    /// The interpolation with `label` before its value.
    private static func labelled(
        _ expression: ExpressionSegmentSyntax, _ label: String, _ message: String
    ) -> FixIt {
        .replace(expression, with: relabelled(expression, label), message)
    }

    private static func relabelled(_ expression: ExpressionSegmentSyntax, _ label: String)
        -> ExpressionSegmentSyntax
    {
        var expressions = Array(expression.expressions)
        if let first = expressions.first {
            expressions[0] = LabeledExprSyntax(
                label: .identifier(label), colon: .colonToken(trailingTrivia: .space),
                expression: first.expression, trailingComma: first.trailingComma)
        }
        return expression.with(\.expressions, LabeledExprListSyntax(expressions))
    }

    /// `'\(x)'` without its quotes; `"\(x)"` becomes `\(quote: x)`.
    private static func withoutQuotes(_ expression: ExpressionSegmentSyntax, _ sign: Character) -> FixIt? {
        guard let list = expression.parent?.as(StringLiteralSegmentListSyntax.self) else { return nil }
        let segments = Array(list)
        guard let index = segments.firstIndex(where: { $0.id == expression.id }), index > 0,
            index + 1 < segments.count,
            case .stringSegment(let before) = segments[index - 1],
            case .stringSegment(let after) = segments[index + 1]
        else { return nil }
        let pairs: [(Character, open: String, close: String)] = [
            ("'", "'", "'"), ("\"", "\\\"", "\\\""), ("\"", "\"", "\""), ("`", "`", "`"), ("]", "[", "]"),
        ]
        guard
            let pair = pairs.first(where: {
                $0.0 == sign && before.content.text.hasSuffix($0.open)
                    && after.content.text.hasPrefix($0.close)
            })
        else { return nil }
        var changed = segments
        changed[index - 1] = .stringSegment(
            before.with(
                \.content.tokenKind, .stringSegment(String(before.content.text.dropLast(pair.open.count)))))
        changed[index + 1] = .stringSegment(
            after.with(
                \.content.tokenKind, .stringSegment(String(after.content.text.dropFirst(pair.close.count)))))
        if sign != "'" { changed[index] = .expressionSegment(relabelled(expression, "quote")) }
        return .replace(
            list, with: StringLiteralSegmentListSyntax(changed),
            sign == "'" ? "Remove the quotes and bind the value" : "Use 'quote:' in the place of the quotes")
    }

    private static func closing(_ literal: StringLiteralExprSyntax, with text: String) -> FixIt? {
        var segments = Array(literal.segments)
        // In a literal of several lines, the last segment is the last line's.
        guard let index = segments.indices.last, case .stringSegment(let last) = segments[index] else {
            return nil
        }
        var content = last.content.text
        let end = content.hasSuffix("\n") ? "\n" : ""
        content.removeLast(end.count)
        let escaped =
            text == "\"" && literal.openingQuote.tokenKind == .stringQuote && literal.openingPounds == nil
            ? "\\\"" : text
        segments[index] = .stringSegment(
            last.with(\.content.tokenKind, .stringSegment(content + escaped + end)))
        return .replace(
            literal.segments, with: StringLiteralSegmentListSyntax(segments), "Add '\(text)' at the end")
    }

    private static func cutting(_ place: SQLScanner.Place, length: Int) -> FixIt? {
        let bytes = Array(place.segment.content.text.utf8)
        let rest = bytes[..<place.offset] + bytes[(place.offset + length)...]
        let text = String(decoding: rest, as: UTF8.self)
        return .replace(
            place.segment, with: place.segment.with(\.content.tokenKind, .stringSegment(text)), "Remove it")
    }

    private static func replacing(
        _ place: SQLScanner.Place, _ placeholder: String, _ literal: StringLiteralExprSyntax
    ) -> FixIt? {
        let bytes = Array(place.segment.content.text.utf8)
        let name = placeholder.dropFirst()
        let value = name.first?.isLetter == true ? "<#\(name)#>" : "<#value#>"
        let pounds = literal.openingPounds?.text ?? ""
        let text =
            String(decoding: bytes[..<place.offset], as: UTF8.self) + "\\\(pounds)(\(value))"
            + String(decoding: bytes[(place.offset + placeholder.utf8.count)...], as: UTF8.self)
        return .replace(
            place.segment, with: place.segment.with(\.content.tokenKind, .stringSegment(text)),
            "Bind a value in its place")
    }
}
