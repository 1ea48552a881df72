/// An `INSERT` or `UPDATE` that changes one row of a table at most, whatever its parameters are.
///
/// SQLite checks the constraints of a row before it writes the row. So a statement that changes one row, and is not
/// asked to undo other rows when it fails, has nothing to undo: `OR FAIL` means to it what `OR ABORT` does, which is
/// the default. Related SQLite documentation: <https://www.sqlite.org/lang_conflict.html>
struct SingleRowChange {
    /// The name of the table, which is in the main schema unless a temporary table has it.
    let table: String

    /// The columns of which the condition of an `UPDATE` gives the value; nil for an `INSERT`.
    let conditionColumns: [String]?

    /// The names in the assignments of an `UPDATE`.
    let assignedNames: [String]

    /// The statement with `OR FAIL`.
    let sql: String

    /// Reads a statement.
    ///
    /// - returns: nil when it does something else, may change several rows, or says what is to happen at a conflict.
    init?(sql: String) {
        var text = SQLTokens(sql)
        let tokens = text.tokens
        guard let verb = tokens.first, Self.isReadable(tokens) else { return nil }
        let isInsert = verb.isKeyword("insert")
        guard isInsert || verb.isKeyword("update") else { return nil }
        var rest = tokens[1...]
        if isInsert, rest.popFirst()?.isKeyword("into") != true { return nil }
        guard let table = Self.tableName(&rest) else { return nil }
        if isInsert {
            guard Self.isOneRow(rest) else { return nil }
            conditionColumns = nil
            assignedNames = []
        } else {
            guard rest.first?.isKeyword("set") == true, let condition = Self.condition(rest) else {
                return nil
            }
            conditionColumns = Self.givenColumns(condition)
            assignedNames = rest[..<condition.startIndex].filter { $0.kind != .other }.map(\.text)
        }
        self.table = table
        text.replace(0, with: verb.text + " OR FAIL")
        self.sql = text.sql
    }

    /// Takes the name of a table from the front.
    private static func tableName(_ rest: inout ArraySlice<SQLToken>) -> String? {
        guard var name = rest.popFirst() else { return nil }
        if rest.first?.isSymbol(".") == true {
            guard name.isName("main") else { return nil }
            rest.removeFirst()
            guard let second = rest.popFirst() else { return nil }
            name = second
        }
        return name.kind == .word || name.kind == .quotedName ? name.text : nil
    }

    /// Whether tokens are `(…) VALUES (…)`, of which the first part can be left out.
    private static func isOneRow(_ tokens: ArraySlice<SQLToken>) -> Bool {
        var rest = tokens
        if rest.first?.isSymbol("(") == true { rest = rest[endOfParentheses(rest)...] }
        guard rest.popFirst()?.isKeyword("values") == true, rest.first?.isSymbol("(") == true else {
            return false
        }
        return endOfParentheses(rest) == rest.endIndex
    }

    /// The tokens after the `WHERE` of an `UPDATE`, if all of them are the condition.
    private static func condition(_ tokens: ArraySlice<SQLToken>) -> ArraySlice<SQLToken>? {
        var start: Int?
        var depth = 0
        for index in tokens.indices {
            let token = tokens[index]
            if token.isSymbol("(") { depth += 1 }
            if token.isSymbol(")") { depth -= 1 }
            guard depth == 0, token.kind == .word, !isParameter(index, tokens) else { continue }
            if token.isKeyword("where") { start = index + 1 }
            // A condition with one of these is not just several that all have to hold, or what follows is none.
            let others = ["or", "between", "case", "not", "order", "limit", "returning", "from"]
            if start != nil, others.contains(where: token.isKeyword) { return nil }
        }
        return start.map { tokens[$0...] }
    }

    /// The columns for which one of the parts that `AND` joins asks for a value.
    private static func givenColumns(_ condition: ArraySlice<SQLToken>) -> [String] {
        var columns: [String] = []
        var part = condition.startIndex
        var depth = 0
        for index in condition.indices {
            if condition[index].isSymbol("(") { depth += 1 }
            if condition[index].isSymbol(")") { depth -= 1 }
            let isAnd = depth == 0 && condition[index].isKeyword("and") && !isParameter(index, condition)
            guard isAnd || index == condition.endIndex - 1 else { continue }
            if let column = givenColumn(condition[part..<(isAnd ? index : condition.endIndex)]) {
                columns.append(column)
            }
            part = index + 1
        }
        return columns
    }

    /// The column of `column = value`, each side of which can be in parentheses.
    private static func givenColumn(_ part: ArraySlice<SQLToken>) -> String? {
        let part = withoutParentheses(part)
        var depth = 0
        let equals = part.firstIndex { token in
            if token.isSymbol("(") { depth += 1 }
            if token.isSymbol(")") { depth -= 1 }
            return depth == 0 && token.isSymbol("=")
        }
        guard let equals else { return nil }
        var value = part[(equals + 1)...]
        if value.first?.isSymbol("=") == true { value.removeFirst() }
        guard isValue(withoutParentheses(value)) else { return nil }
        var column = withoutParentheses(part[..<equals])
        while column.count > 2, column[column.startIndex + 1].isSymbol("."),
            column[column.startIndex].kind != .other
        {
            column.removeFirst(2)
        }
        guard let name = column.first, column.count == 1, name.kind == .word || name.kind == .quotedName
        else {
            return nil
        }
        return name.text
    }

    /// Whether tokens are a parameter, a text or a whole number.
    private static func isValue(_ tokens: ArraySlice<SQLToken>) -> Bool {
        guard let first = tokens.first, first.kind == .other || first.kind == .string else { return false }
        if tokens.count == 1 { return first.kind == .string || first.isSymbol("?") || isNumber(first) }
        guard tokens.count == 2, first.kind == .other, let second = tokens.last,
            first.range.upperBound == second.range.lowerBound
        else { return false }
        return first.isSymbol("?") ? isNumber(second) : isParameter(tokens.startIndex + 1, tokens)
    }

    private static func isNumber(_ token: SQLToken) -> Bool {
        token.kind == .other && token.text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
    }

    /// Whether SQLite sees the same tokens, and each parenthesis has another one.
    ///
    /// It ends a number where a letter follows, as in `1or`, and a parameter may be `$a::b(…)`.
    private static func isReadable(_ tokens: [SQLToken]) -> Bool {
        var depth = 0
        for index in tokens.indices {
            let token = tokens[index]
            if token.isSymbol("(") { depth += 1 }
            if token.isSymbol(")") { depth -= 1 }
            guard depth >= 0, token.kind != .word || !token.text.contains("$"), !token.isSymbol("$") else {
                return false
            }
            if token.kind == .other, token.text.utf8.count > 1, !isNumber(token) { return false }
            guard token.kind == .word, isParameter(index, tokens[...]), index + 1 < tokens.count else {
                continue
            }
            let next = tokens[index + 1]
            if next.isSymbol(":") || next.isSymbol("(") { return false }
        }
        return depth == 0
    }

    private static func withoutParentheses(_ tokens: ArraySlice<SQLToken>) -> ArraySlice<SQLToken> {
        guard tokens.first?.isSymbol("(") == true, endOfParentheses(tokens) == tokens.endIndex else {
            return tokens
        }
        return withoutParentheses(tokens.dropFirst().dropLast())
    }

    /// The index after the parenthesis that closes the first one.
    private static func endOfParentheses(_ tokens: ArraySlice<SQLToken>) -> Int {
        var depth = 0
        for index in tokens.indices {
            if tokens[index].isSymbol("(") { depth += 1 }
            if tokens[index].isSymbol(")") { depth -= 1 }
            if depth == 0 { return index + 1 }
        }
        return tokens.endIndex
    }

    /// Whether a word is the name of a parameter, such as `:where`.
    private static func isParameter(_ index: Int, _ tokens: ArraySlice<SQLToken>) -> Bool {
        guard index > tokens.startIndex, tokens[index - 1].kind == .other else { return false }
        return [":", "@", "#"].contains(where: tokens[index - 1].isSymbol)
            && tokens[index - 1].range.upperBound == tokens[index].range.lowerBound
    }
}
