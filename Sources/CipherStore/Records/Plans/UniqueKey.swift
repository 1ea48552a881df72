/// What no two rows of a table have in common: its primary key, or a unique index.
package struct UniqueKey: Sendable {
    /// A column, or an expression, of the key.
    package struct Term: Sendable {
        /// The column, or nil for an expression.
        package let column: String?
        /// How SQL writes it.
        package let sql: String
        /// By what its values are compared; nil as the column's are.
        package let collation: String?
    }

    /// The name of the index, or nil where there is none.
    var indexName: String?
    package var terms: [Term]

    /// The condition on the rows that the key is about, or nil for all.
    package var condition: String?

    /// Its place in the order in which SQLite looks for rows in the way of another.
    package var rank = -1

    /// Whether it is about all rows, and has exactly some columns.
    func isOfAllRows(on columns: [String]) -> Bool {
        condition == nil && hasColumns(Set(columns.map { $0.foldedIdentifier }))
    }

    /// Whether it has exactly some columns, given in lower case.
    func hasColumns(_ names: Set<String>) -> Bool {
        terms.allSatisfy { $0.column != nil }
            && Set(terms.compactMap { $0.column?.foldedIdentifier }) == names
    }
}

extension UniqueKey {
    /// Makes the key of some columns of a table.
    init(columns: [String]) {
        self.init(
            terms: columns.map { Term(column: $0, sql: $0.quotedDatabaseIdentifier, collation: nil) })
    }
}

extension Database {
    /// The primary key and the unique indexes of a table, the primary key first.
    ///
    /// - parameters:
    ///     - tableName: The name of the table.
    ///     - primaryKey: Its primary key.
    ///     - schemaName: As in ``tableExists(_:in:)``.
    /// - throws: A ``DatabaseError``, also when there is no such table.
    package func uniqueKeys(
        of tableName: String, primaryKey: PrimaryKeyInfo, in schemaName: String? = nil
    ) throws -> [UniqueKey] {
        noticeSchemaChange()
        let table = try findTableOrView(tableName, in: schemaName)
        if let keys = schemaCache[table.schemaID].uniqueKeys(of: table.name) { return keys }
        let keys = try readUniqueKeys(of: table, primaryKey)
        schemaCache[table.schemaID].set(uniqueKeys: keys, of: table.name)
        return keys
    }

    private func readUniqueKeys(
        of table: DatabaseObjectID, _ primaryKey: PrimaryKeyInfo
    ) throws -> [UniqueKey] {
        try withoutTracing {
            let indexes = try Row.fetchAll(self, sql: pragma("index_list", table.name, table.schemaID))
            var first = UniqueKey(columns: primaryKey.columns)
            var others: [UniqueKey] = []
            for (place, index) in indexes.enumerated() {
                guard try index.decode(Bool.self, forColumn: "unique") else { continue }
                var key = try uniqueKey(index.decode(String.self, forColumn: "name"), table)
                key.rank = place
                if try index.decode(String.self, forColumn: "origin") == "pk" {
                    first = key
                } else {
                    others.append(key)
                }
            }
            return [first] + others
        }
    }

    private func uniqueKey(_ indexName: String, _ table: DatabaseObjectID) throws -> UniqueKey {
        // The index of a constraint has no text, and neither expressions nor a condition.
        let text = try String.fetchOne(
            self,
            sql: "SELECT sql FROM \(table.schemaID.masterTable) WHERE type = 'index' AND name = ?",
            arguments: [indexName])
        let parts = text.map { IndexText($0) } ?? IndexText()
        let rows = try Row.fetchAll(self, sql: pragma("index_xinfo", indexName, table.schemaID))
        var terms: [UniqueKey.Term] = []
        for row in rows {
            guard try row.decode(Bool.self, forColumn: "key") else { continue }
            let column = try row.decodeIfPresent(String.self, forColumn: "name")
            let sql: String
            if let column {
                sql = column.quotedDatabaseIdentifier
            } else if terms.count < parts.terms.count {
                sql = "(\(parts.terms[terms.count]))"
            } else {
                throw DatabaseError(
                    resultCode: .SQLITE_ERROR, message: "the index \(indexName) can't be understood")
            }
            terms.append(
                UniqueKey.Term(
                    column: column, sql: sql, collation: try row.decode(String.self, forColumn: "coll")))
        }
        return UniqueKey(
            indexName: indexName, terms: terms, condition: parts.condition.map { "(\($0))" })
    }
}

/// The parts of a `CREATE INDEX` statement that SQLite accepted.
private struct IndexText {
    /// The indexed columns and expressions, without their order.
    private(set) var terms: [String] = []

    /// What follows `WHERE`.
    private(set) var condition: String?

    init() {}

    init(_ sql: String) {
        let text = SQLTokens(sql)
        let tokens = text.tokens
        guard let on = tokens.firstIndex(where: { $0.isKeyword("on") }),
            let start = tokens[on...].firstIndex(where: { $0.isSymbol("(") })
        else { return }
        let end = text.endOfParentheses(start)
        var depth = 0
        var first = start + 1
        for index in start..<end {
            if tokens[index].isSymbol("(") { depth += 1 }
            if tokens[index].isSymbol(")") { depth -= 1 }
            guard depth == 0 || depth == 1 && tokens[index].isSymbol(",") else { continue }
            var last = index - 1
            if last > first, tokens[last].isKeyword("asc") || tokens[last].isKeyword("desc") { last -= 1 }
            if last >= first { terms.append(Self.text(text, first, last)) }
            first = index + 1
        }
        guard end < tokens.count, tokens[end].isKeyword("where"), end + 1 < tokens.count else { return }
        condition = Self.text(text, end + 1, tokens.count - 1)
    }

    private static func text(_ sql: SQLTokens, _ first: Int, _ last: Int) -> String {
        let range = sql.tokens[first].range.lowerBound..<sql.tokens[last].range.upperBound
        return String(decoding: sql.bytes[range], as: UTF8.self)
    }
}
