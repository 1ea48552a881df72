/// The parts of a `CREATE TABLE` statement.
package struct TableText {
    /// A definition between two commas of the body: a column, or constraints.
    package struct Item {
        /// The indexes of its tokens.
        package let tokens: Range<Int>
        /// The name of the column, or nil for constraints.
        package let column: String?
    }

    package let sql: SQLTokens

    /// The index of the table's name.
    package let name: Int

    /// The columns and the constraints, in order.
    package let items: [Item]

    /// Splits a statement, or returns nil when it is none that defines columns.
    package init?(_ text: String) {
        sql = SQLTokens(text)
        let tokens = sql.tokens
        guard let open = tokens.firstIndex(where: { $0.isSymbol("(") }), open > 0,
            tokens.first?.isKeyword("create") == true,
            !tokens[..<open].contains(where: { $0.isKeyword("virtual") || $0.isKeyword("as") })
        else { return nil }
        name = open - 1
        let end = sql.endOfParentheses(open) - 1
        var items: [Item] = []
        var start = open + 1
        var depth = 0
        for index in (open + 1)...max(open + 1, end) {
            if tokens[index].isSymbol("(") { depth += 1 }
            if tokens[index].isSymbol(")") { depth -= 1 }
            guard index == end || (depth == 0 && tokens[index].isSymbol(",")) else { continue }
            if start < index { items.append(Self.item(tokens, start..<index)) }
            start = index + 1
        }
        self.items = items
    }

    private static let constraintWords: Set<String> = ["constraint", "primary", "unique", "check", "foreign"]

    private static func item(_ tokens: [SQLToken], _ range: Range<Int>) -> Item {
        let first = tokens[range.lowerBound]
        let isConstraint = first.kind == .word && constraintWords.contains(first.text.foldedIdentifier)
        return Item(tokens: range, column: isConstraint ? nil : first.text)
    }

    /// The position of a column among the items.
    package func index(ofColumn name: String) -> Int? {
        items.firstIndex { $0.column?.isSameIdentifier(as: name) == true }
    }

    /// The indexes of tokens that stand for a column of this table, in the
    /// definitions of columns and in constraints.
    ///
    /// Names of types, collations, constraints and other tables are left out,
    /// and so are the columns of other tables.
    package func occurrences(of column: String) -> [Int] {
        items.flatMap { item in
            occurrences(of: column, in: item.tokens, isColumn: item.column != nil)
        }
    }

    private func occurrences(of column: String, in range: Range<Int>, isColumn: Bool) -> [Int] {
        let tokens = sql.tokens
        var found: [Int] = []
        var index = range.lowerBound
        // A column can be named by a string, too.
        if isColumn {
            if tokens[index].text.isSameIdentifier(as: column) { found.append(index) }
            index += 1
        }
        while index < range.upperBound {
            let token = tokens[index]
            if token.isKeyword("references") {
                index = skipReference(index, column, &found)
            } else if token.isSymbol("(") {
                let end = sql.endOfParentheses(index)
                // The size in a type holds numbers only, so it is searched for nothing.
                found += expressionOccurrences(of: column, in: index..<end)
                index = end
            } else {
                index += 1
            }
        }
        return found
    }

    /// Steps over `REFERENCES table (columns)`; the columns count when the table is this one.
    private func skipReference(_ index: Int, _ column: String, _ found: inout [Int]) -> Int {
        let tokens = sql.tokens
        guard index + 2 < tokens.count, tokens[index + 2].isSymbol("(") else { return index + 2 }
        let end = sql.endOfParentheses(index + 2)
        if tokens[index + 1].text.isSameIdentifier(as: tokens[name].text) {
            found += expressionOccurrences(of: column, in: (index + 2)..<end)
        }
        return end
    }

    private func expressionOccurrences(of column: String, in range: Range<Int>) -> [Int] {
        sql.columnOccurrences(of: column, in: range)
    }
}

extension SQLTokens {
    /// The indexes of tokens that stand for a column in a list or an expression.
    package func columnOccurrences(of column: String, in range: Range<Int>) -> [Int] {
        range.filter { index in
            guard isName(column, at: index) else { return false }
            if token(before: index)?.isKeyword("collate") == true { return false }
            if token(before: index)?.isKeyword("as") == true { return false }
            // A function, and the table in table.column.
            let next = token(after: index)
            return next?.isSymbol("(") != true && next?.isSymbol(".") != true
        }
    }
}
