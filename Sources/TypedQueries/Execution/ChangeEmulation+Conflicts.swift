import CipherStore

// Rows that are in the way of others, on engines whose upserts are emulated.

extension ChangeEmulation {
    /// `WITH "excluded" AS (…)`, with the row that is inserted: all of its columns, also those that get their defaults.
    ///
    /// - parameters:
    ///     - row: The values between parentheses.
    ///     - tables: Common tables before it, which are those of the statement or none.
    private func excluded(
        _ row: QueryFragment, after tables: QueryFragment = QueryFragment()
    ) throws -> QueryFragment {
        let given = parts.head.columnNames
        var fragment = tables
        fragment.append(sql: tables.isEmpty ? "WITH " : ", ")
        fragment.append(literal: "\"excluded values\"(")
        fragment.append(names: given)
        fragment.append(literal: ") AS (VALUES ")
        fragment.append(row)
        fragment.append(literal: "), \"excluded\"(")
        let missing = try missingColumns(given)
        fragment.append(names: given + missing.map(\.name))
        fragment.append(literal: ") AS (SELECT *")
        for column in missing { fragment.append(sql: ", (\(column.defaultSQL))" as String) }
        fragment.append(literal: " FROM \"excluded values\") ")
        return fragment
    }

    /// The columns that are not inserted, with the SQL of their values.
    private func missingColumns(_ given: [String]) throws -> [(name: String, defaultSQL: String)] {
        guard let table = parts.table else { return [] }
        let given = Set(given.map(\.identifierKey))
        return try db.columns(in: table.tableName, in: table.schemaName)
            .filter { !given.contains($0.name.identifierKey) }
            .map { ($0.name, $0.defaultExpressionSQL ?? "NULL") }
    }

    /// The number of a row that has a key of a row that is to be inserted.
    func rowInTheWay(_ row: QueryFragment, _ keys: [ConflictKey]) throws -> Int64? {
        guard !keys.isEmpty else { return nil }
        let excluded = try excluded(row)
        let number = try rowIDName()
        for key in keys {
            let found = try Int64.fetchAll(db, excluded, number, parts.head.source, key.condition)
            if let first = found.first { return first }
        }
        return nil
    }

    /// The key of the conflict's target; without one, each key of the table.
    func conflictKeys() throws -> [ConflictKey] {
        guard parts.assignments != nil || !parts.conflictTarget.isEmpty, let table = parts.table else {
            return []
        }
        let known = Set(
            (try db.columns(in: table.tableName, in: table.schemaName).map(\.name) + parts.head.columnNames)
                .map(\.identifierKey))
        // A number of rows that has no name is inserted by few statements.
        return try targetedKeys(table).filter { key in
            key.unique.terms.allSatisfy { term in
                term.column.map { known.contains($0.identifierKey) } ?? true
            }
        }
    }

    private func targetedKeys(_ table: any Table.Type) throws -> [ConflictKey] {
        let primary = try db.primaryKey(table.tableName, in: table.schemaName)
        var keys = try db.uniqueKeys(of: table.tableName, primaryKey: primary, in: table.schemaName)
        let columns = try db.columns(in: table.tableName, in: table.schemaName).map(\.name)
        // The number of a row is a key, but a column that is called so is not.
        if primary.columnInfos == nil, columns.contains(where: { $0.isSameIdentifier(as: "rowid") }) {
            keys.removeFirst()
        }
        guard !parts.conflictTarget.isEmpty else {
            // Where several rows are in the way, the first counts that SQLite would find.
            return keys.sorted { $0.rank < $1.rank }
                .map { ConflictKey(unique: $0, tableName: table.tableName) }
        }
        if let target = ConflictTarget(parts.conflictTarget) {
            if let key = keys.first(where: { $0.condition == nil && target.isMet(by: $0) }) {
                return [ConflictKey(unique: key, tableName: table.tableName)]
            }
            let partial = keys.first { $0.condition != nil && target.isMet(by: $0) }
            if let partial, !parts.targetCondition.isEmpty {
                return [
                    ConflictKey(
                        unique: partial, tableName: table.tableName, targetCondition: parts.targetCondition)
                ]
            }
        }
        throw DatabaseError(
            resultCode: .SQLITE_ERROR,
            message: "ON CONFLICT clause does not match any PRIMARY KEY or UNIQUE constraint",
            sql: parts.head.debugDescription)
    }

    /// Updates a row that is in the way.
    ///
    /// - returns: Whether the condition of the update was met.
    func update(_ key: Int64, _ row: QueryFragment) throws -> Bool {
        var fragment = try excluded(row, after: parts.commonTables)
        fragment.append(literal: "UPDATE ")
        fragment.append(parts.head.source)
        fragment.append(literal: " SET ")
        fragment.append((parts.assignments ?? QueryFragment()).withExcludedSubqueries)
        fragment.append(literal: " WHERE ")
        try fragment.append(sql: rowIDName())
        fragment.append(literal: " = ")
        fragment.append(binding: .int(key))
        if !parts.updateCondition.isEmpty {
            fragment.append(literal: " AND (")
            fragment.append(parts.updateCondition.withExcludedSubqueries)
            fragment.append(literal: ")")
        }
        try db.executeFragment(fragment)
        return db.changesCount > 0
    }
}

extension Int64 {
    /// The numbers of the rows of a table that meet a condition.
    static func fetchAll(
        _ db: Database, _ tables: QueryFragment, _ column: String, _ source: QueryFragment,
        _ condition: QueryFragment
    ) throws -> [Int64] {
        var fragment = tables
        fragment.append(literal: "SELECT ")
        fragment.append(sql: column)
        fragment.append(literal: " FROM ")
        fragment.append(source)
        if !condition.isEmpty {
            fragment.append(literal: " WHERE ")
            fragment.append(condition)
        }
        return try SQLQueryExpression(fragment, as: Int64.self).fetchAll(db)
    }
}

extension QueryFragment {
    /// The names of the columns between parentheses, at the end of an INSERT's head.
    fileprivate var columnNames: [String] {
        var fragment = QueryFragment()
        var index = 0
        while index < code.count, code[index] != UInt8(ascii: "(") { index += Code.length(code[index]) }
        fragment.code.append(contentsOf: code[index...])
        return fragment.quotedNames
    }

    /// The names in a list of quoted names.
    fileprivate var quotedNames: [String] {
        let quote = UInt8(ascii: "\"")
        var names: [String] = []
        var rest = FragmentRenderer(self).text[...]
        while let start = rest.firstIndex(of: quote) {
            var name: [UInt8] = []
            rest = rest[(start + 1)...]
            while let end = rest.firstIndex(of: quote) {
                name += rest[..<end]
                rest = rest[(end + 1)...]
                // Two quotes are one.
                guard rest.first == quote else { break }
                name.append(quote)
                rest = rest.dropFirst()
            }
            names.append(String(decoding: name, as: UTF8.self))
        }
        return names
    }

    /// Adds quoted names with commas between them.
    fileprivate mutating func append(names: [String]) {
        for (index, name) in names.enumerated() {
            if index > 0 { append(literal: ", ") }
            append(identifier: name)
        }
    }

    /// The piece, where columns of the row that could not be inserted are read by subqueries. It has no choices.
    fileprivate var withExcludedSubqueries: QueryFragment {
        var result = QueryFragment()
        result.bindings = bindings
        var index = 0
        while index < code.count {
            let byte = code[index]
            let length = Code.length(byte)
            let isExcluded =
                byte == Code.tableName
                && Self.table(at: code[index + 1..<index + 9])?.tableAlias == ExcludedName.aliasName
            guard isExcluded else {
                result.code.append(contentsOf: code[index..<index + length])
                index += length
                continue
            }
            let end = endOfName(at: index + length + 1)
            result.append(literal: "(SELECT ")
            result.code.append(contentsOf: code[index..<end])
            result.append(literal: " FROM \"excluded\")")
            index = end
        }
        return result
    }

    /// The end of a quoted name, in which a quote is written twice.
    private func endOfName(at start: Int) -> Int {
        let quote = UInt8(ascii: "\"")
        var index = start + 1
        while index < code.count {
            if code[index] == quote {
                guard index + 1 < code.count, code[index + 1] == quote else { return index + 1 }
                index += 1
            }
            index += Code.length(code[index])
        }
        return code.count
    }
}
