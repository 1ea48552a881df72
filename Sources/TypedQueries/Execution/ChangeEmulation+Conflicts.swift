// Rows that are in the way of others, on engines whose upserts are emulated.

extension ChangeEmulation {
    /// `WITH "excluded" AS (…)`, with the row that is inserted.
    private func excluded(_ row: QueryFragment) -> QueryFragment {
        var fragment = QueryFragment("WITH \"excluded\"")
        fragment.append(parts.head.columnNames)
        fragment.append(literal: " AS (VALUES ")
        fragment.append(row)
        fragment.append(literal: ") ")
        return fragment
    }

    /// The number of a row that has a key of a row that is to be inserted.
    func rowInTheWay(_ row: QueryFragment) throws -> Int64? {
        for key in try conflictKeys() {
            var condition = QueryFragment()
            for name in key {
                condition.append(sql: condition.isEmpty ? "" : " AND ")
                condition.append(identifier: name)
                condition.append(literal: " = (SELECT ")
                condition.append(identifier: name)
                condition.append(literal: " FROM \"excluded\")")
            }
            let found = try Int64.fetchAll(
                db, excluded(row), "SELECT rowid FROM ", parts.head.source, condition)
            if let first = found.first { return first }
        }
        return nil
    }

    /// The columns of the conflict's target; without one, those of each key of the table whose columns are inserted.
    ///
    /// A partial index may leave out the rows that it would find, and an expression has no column: what violates these
    /// is an error.
    private func conflictKeys() throws -> [[String]] {
        guard parts.conflictTarget.isEmpty else { return [parts.conflictTarget.names] }
        guard let table = parts.table else { return [] }
        let inserted = Set(parts.head.columnNames.names.map(\.identifierKey))
        let primary = try db.primaryKey(table.tableName, in: table.schemaName).columns
        let indexes = try db.indexes(on: table.tableName, in: table.schemaName)
        let unique = indexes.filter { $0.isUnique && !$0.isPartial }.map(\.columns)
        return ([primary] + unique).filter { key in
            !key.isEmpty && key.allSatisfy { inserted.contains($0.identifierKey) }
        }
    }

    /// Updates a row that is in the way.
    ///
    /// - returns: Whether the condition of the update was met.
    func update(_ key: Int64, _ row: QueryFragment) throws -> Bool {
        var fragment = excluded(row)
        fragment.append(literal: "UPDATE ")
        fragment.append(parts.head.source)
        fragment.append(literal: " SET ")
        fragment.append((parts.assignments ?? QueryFragment()).withExcludedSubqueries)
        fragment.append(literal: " WHERE rowid = ")
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

extension QueryFragment {
    /// The names of the columns between parentheses, at the end of an INSERT's head.
    fileprivate var columnNames: QueryFragment {
        var fragment = QueryFragment()
        var index = 0
        while index < code.count, code[index] != UInt8(ascii: "(") { index += Code.length(code[index]) }
        fragment.code.append(contentsOf: code[index...])
        return fragment
    }

    /// The names in a list of quoted names.
    fileprivate var names: [String] {
        let text = String(decoding: FragmentRenderer(self).text, as: UTF8.self)
        return text.split(separator: "\"").map(String.init).filter { ![", ", "(", ")"].contains($0) }
    }

    /// The piece, where columns of the row that could not be inserted are read by subqueries.
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
            // `."name"`, in which a quote is written twice.
            var end = index + length + 2
            while end < code.count, code[end] != UInt8(ascii: "\"") { end += 1 }
            result.append(literal: "(SELECT ")
            result.code.append(contentsOf: code[index...min(end, code.count - 1)])
            result.append(literal: " FROM \"excluded\")")
            index = end + 1
        }
        return result
    }
}
