extension SQLTokens {
    /// Returns whether a token stands for a name, and is not the keyword that is written the same.
    ///
    /// SQLite takes many keywords for names where they can't be keywords: `end`, `desc` and `left` are columns
    /// in `SELECT end, desc, left FROM t`. What stands before a word tells which it is.
    package func isName(_ name: String, at index: Int) -> Bool {
        tokens[index].isName(name) && !isKeyword(at: index)
    }

    /// Whether a word is used as a keyword.
    private func isKeyword(at index: Int) -> Bool {
        guard tokens[index].kind == .word else { return false }
        let word = tokens[index].text.foldedIdentifier
        if Self.reservedWords.contains(word) { return true }
        guard Self.wordsWithTwoMeanings.contains(word), let before = token(before: index) else {
            return false
        }
        if before.isSymbol(".") { return false }
        let isAfterKeyword = isKeyword(at: index - 1)
        // No name follows what is complete: `a DESC`, `1 END`, `t LEFT JOIN`, `r BEFORE UPDATE`. An alias
        // may, which is no name of a column or table either.
        if endsOperand(index - 1, isKeyword: isAfterKeyword) { return true }
        // As in `a NOT LIKE b`.
        if before.isKeyword("not") {
            return index > 1 && endsOperand(index - 2, isKeyword: isKeyword(at: index - 2))
        }
        switch word {
        case "end": return before.isSymbol(";")
        case "partition": return token(after: index)?.isKeyword("by") == true
        case "with": return before.isSymbol(";") || before.isSymbol("(") || before.isKeyword("begin")
        case "replace" where token(after: index)?.isKeyword("into") == true: return true
        case "ignore", "abort", "fail", "rollback", "replace": return isResolution(index)
        default:
            let words = Self.joinWords.contains(word) ? Self.joinWords : Self.wordsBefore[word] ?? []
            return isAfterKeyword && words.contains(before.text.foldedIdentifier)
        }
    }

    /// Whether a word says what happens to a conflict: `INSERT OR IGNORE`, `RAISE(IGNORE)`.
    private func isResolution(_ index: Int) -> Bool {
        guard index > 1 else { return false }
        let (verb, before) = (tokens[index - 2], tokens[index - 1])
        if before.isSymbol("(") { return verb.isKeyword("raise") }
        return before.isKeyword("or") && (verb.isKeyword("insert") || verb.isKeyword("update"))
    }

    /// Whether an expression, or the name of something, can be complete with a token.
    private func endsOperand(_ index: Int, isKeyword: Bool) -> Bool {
        let token = tokens[index]
        switch token.kind {
        case .quotedName, .string: return true
        case .other:
            let first = bytes[token.range.lowerBound]
            return token.isSymbol(")") || first >= UInt8(ascii: "0") && first <= UInt8(ascii: "9")
        case .word:
            return !isKeyword || Self.lastWords.contains(token.text.foldedIdentifier)
        }
    }

    /// What SQLite takes for a name in quotes only.
    private static let reservedWords: Set<String> = [
        "add", "all", "alter", "and", "as", "autoincrement", "between", "case", "check", "collate", "commit",
        "constraint", "create", "default", "deferrable", "delete", "distinct", "drop", "else", "escape",
        "except", "exists", "foreign", "from", "group", "having", "in", "index", "insert", "intersect",
        "into",
        "is", "isnull", "join", "limit", "not", "notnull", "null", "on", "or", "order", "primary",
        "references", "select", "set", "table", "then", "to", "transaction", "union", "unique", "update",
        "using", "values", "when", "where",
    ]

    private static let joinWords: Set<String> = [
        "natural", "left", "right", "full", "inner", "outer", "cross",
    ]

    /// Keywords of views, triggers and indexes that are names elsewhere.
    private static let wordsWithTwoMeanings: Set<String> = joinWords.union([
        "abort", "after", "asc", "before", "begin", "by", "desc", "each", "end", "fail", "filter", "first",
        "for", "glob", "ignore", "indexed", "instead", "last", "like", "match", "nulls", "of", "offset",
        "over", "partition", "recursive", "regexp", "replace", "rollback", "row", "with",
    ])

    /// Keywords that are ones right after others.
    private static let wordsBefore: [String: Set<String>] = [
        "by": ["order", "group", "partition", "indexed"], "of": ["update", "instead"], "each": ["for"],
        "row": ["each"], "begin": ["row"], "first": ["nulls"], "last": ["nulls"], "recursive": ["with"],
    ]

    /// Keywords with which an expression, or a term of an order, is complete.
    private static let lastWords: Set<String> = ["null", "isnull", "notnull", "end", "asc", "desc"]
}
