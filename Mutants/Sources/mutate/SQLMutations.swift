/// Changes to SQL in a literal of Swift.
enum SQLMutations {
    struct Change: CustomStringConvertible {
        /// The literal, changed.
        let text: String
        /// The lines before the change, from the literal's first.
        let line: Int
        /// The line of SQL, before and after.
        let original: String
        let changed: String

        var description: String { changed }
    }

    /// An operator with what else it may be. Words stand alone; NULL and types are not values to compare.
    private static let replacements = [
        (" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" = ", " <> "), (" <> ", " = "),
        (" AND ", " OR "), (" OR ", " AND "), (" IS NOT ", " IS "), (" IS (?!NOT )", " IS NOT "),
        ("NOT EXISTS", "EXISTS"), (#"\bNOT IN\b"#, "IN"), (#"\bmax\("#, "min("), (#"\bmin\("#, "max("),
        (#" DESC\b"#, ""), (#" \+ "#, " - "), (" - ", " + "), ("DISTINCT ", ""), ("OR IGNORE ", ""),
        ("OR REPLACE ", ""), ("LEFT JOIN", "JOIN"), ("UNION ALL", "UNION"),
    ]

    /// What can be changed in a literal, each change by itself.
    static func texts(of literal: String) throws -> [Change] {
        var changes: [Change] = []
        for (pattern, replacement) in replacements {
            for match in literal.matches(of: try Regex(pattern))
            where !isInterpolated(match.range.lowerBound, in: literal) {
                // An assignment is no comparison.
                let before = literal[..<match.range.lowerBound]
                if replacement == " AND ", before.hasSuffix("INSERT") || before.hasSuffix("UPDATE") {
                    continue
                }
                if replacement == " <> ", isAssignment(before: match.range.lowerBound, in: literal) {
                    continue
                }
                let text = literal.replacingCharacters(in: match.range, with: replacement)
                let line = literal[..<match.range.lowerBound].count { $0 == "\n" }
                changes.append(
                    Change(
                        text: text, line: line, original: lineOf(literal, line), changed: lineOf(text, line)))
            }
        }
        return changes
    }

    private static func lineOf(_ text: String, _ number: Int) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines[number].split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Whether an index is within `\( … )`, which is Swift.
    private static func isInterpolated(_ index: String.Index, in literal: String) -> Bool {
        var depth = 0
        var previous: Character = " "
        for character in literal[..<index] {
            if character == "(", depth > 0 || previous == "\\" { depth += 1 }
            if character == ")", depth > 0 { depth -= 1 }
            previous = character
        }
        return depth > 0
    }

    /// Whether the last word before an index that begins a clause is SET.
    private static func isAssignment(before index: String.Index, in literal: String) -> Bool {
        literal[..<index].matches(of: /\b(SET|WHERE|ON|SELECT|AND|OR|CASE|WHEN)\b/).last?.output.0 == "SET"
    }
}

extension String {
    fileprivate func replacingCharacters(in range: Range<String.Index>, with text: String) -> String {
        self[..<range.lowerBound] + text + self[range.upperBound...]
    }
}
