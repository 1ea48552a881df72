import CipherStore

/// A statement from outside that is to make a table or an index, and nothing else.
///
/// It has the form in which SQLite keeps definitions: a table's columns are in parentheses, so that no query can make
/// and fill it, and what follows them is known.
struct SharedDefinition {
    private let sql: SQLTokens

    private var tokens: [SQLToken] { sql.tokens }

    /// nil for text that SQLite would not read to its end.
    init?(_ statement: String) {
        guard !statement.utf8.contains(0) else { return nil }
        sql = SQLTokens(statement)
    }

    /// Whether it is `CREATE TABLE name (…)`, perhaps with options.
    func makesTable(_ name: String) -> Bool {
        guard has(["create", "table"], at: 0), isName(name, at: 2), let end = endOfList(3) else {
            return false
        }
        return Self.areOptions(tokens[end...])
    }

    /// Whether it is `CREATE [UNIQUE] INDEX index ON name (…)`, perhaps with a condition.
    func makesIndex(of name: String) -> Bool {
        let start =
            has(["create", "unique", "index"], at: 0) ? 3 : has(["create", "index"], at: 0) ? 2 : nil
        guard let start, tokens.indices.contains(start), tokens[start].kind != .other,
            !MetadataSchema.isReserved(tokens[start].text), has(["on"], at: start + 1),
            isName(name, at: start + 2), let end = endOfList(start + 3)
        else { return false }
        // A condition is one expression: SQLite refuses queries in it, and what follows a semicolon.
        return end == tokens.count
            || (has(["where"], at: end) && !tokens[end...].contains { $0.isSymbol(";") })
    }

    private func has(_ keywords: [String], at index: Int) -> Bool {
        guard index + keywords.count <= tokens.count else { return false }
        return zip(tokens[index...], keywords).allSatisfy { $0.isKeyword($1) }
    }

    private func isName(_ name: String, at index: Int) -> Bool {
        index < tokens.count && tokens[index].kind != .other && tokens[index].text.isSameIdentifier(as: name)
    }

    /// The index after the parenthesis that closes the one at an index; nil when there are none.
    private func endOfList(_ start: Int) -> Int? {
        guard start < tokens.count, tokens[start].isSymbol("(") else { return nil }
        let end = sql.endOfParentheses(start)
        guard tokens[end - 1].isSymbol(")"), !tokens[start..<end].contains(where: { $0.isSymbol(";") }) else {
            return nil
        }
        return end
    }

    /// Whether tokens are `WITHOUT ROWID` and `STRICT`, with a comma between them.
    private static func areOptions(_ tokens: ArraySlice<SQLToken>) -> Bool {
        guard !tokens.isEmpty else { return true }
        return tokens.split(omittingEmptySubsequences: false, whereSeparator: { $0.isSymbol(",") }).allSatisfy
        {
            let words = $0.map { $0.kind == .word ? $0.text.foldedIdentifier : "" }
            return words == ["without", "rowid"] || words == ["strict"]
        }
    }
}
