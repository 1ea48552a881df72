import CipherStore

// Rows that are in the way of others, on engines whose upserts are emulated.

extension ChangeEmulation {
    /// What a row has in common with one that is in its way.
    private struct ConflictKey {
        var columns: [String]
        /// Which rows the key is about; empty for all.
        var condition = QueryFragment()
    }

    /// `WITH "excluded" AS (…)`, with the row that is inserted: all of its columns, also those that get their defaults.
    private func excluded(_ row: QueryFragment) throws -> QueryFragment {
        let given = parts.head.columnNames
        var fragment = QueryFragment("WITH \"excluded values\"(")
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
            .map { ($0.name, $0.defaultValueSQL ?? "NULL") }
    }

    /// The number of a row that has a key of a row that is to be inserted.
    func rowInTheWay(_ row: QueryFragment) throws -> Int64? {
        let excluded = try excluded(row)
        for key in try conflictKeys() {
            var condition = QueryFragment()
            for name in key.columns {
                condition.append(sql: condition.isEmpty ? "" : " AND ")
                condition.append(identifier: name)
                condition.append(literal: " = (SELECT \"excluded\".")
                condition.append(identifier: name)
                condition.append(literal: " FROM \"excluded\")")
            }
            if !key.condition.isEmpty {
                condition.append(
                    " AND (\(key.condition)) AND EXISTS (SELECT 1 FROM \"excluded\" WHERE \(key.condition))")
            }
            let found = try Int64.fetchAll(db, excluded, rowIDName(), parts.head.source, condition)
            if let first = found.first { return first }
        }
        return nil
    }

    /// The key of the conflict's target; without one, each key of the table.
    ///
    /// Without a target, a partial index may leave out the rows that it would find, and an expression has no column: what
    /// violates these is an error.
    private func conflictKeys() throws -> [ConflictKey] {
        guard let table = parts.table else { return [] }
        let primary = try db.primaryKey(table.tableName, in: table.schemaName)
        let indexes = try db.indexes(on: table.tableName, in: table.schemaName).filter(\.isUnique)
        let whole = [primary.columns] + indexes.filter { !$0.isPartial }.map(\.columns)
        let known = Set(try db.columns(in: table.tableName, in: table.schemaName).map(\.name.identifierKey))
        guard !parts.conflictTarget.isEmpty else {
            // A rowid without a name is not inserted.
            return whole.filter { $0.allSatisfy { known.contains($0.identifierKey) } }
                .map { ConflictKey(columns: $0) }
        }
        let names = parts.conflictTarget.quotedNames
        let target = Set(names.map(\.identifierKey))
        let isTarget = { (columns: [String]) in Set(columns.map(\.identifierKey)) == target }
        if whole.contains(where: isTarget) { return [ConflictKey(columns: names)] }
        guard !parts.targetCondition.isEmpty,
            indexes.contains(where: { $0.isPartial && isTarget($0.columns) })
        else {
            throw DatabaseError(
                resultCode: .SQLITE_ERROR,
                message: "ON CONFLICT clause does not match any PRIMARY KEY or UNIQUE constraint",
                sql: parts.head.debugDescription)
        }
        return [ConflictKey(columns: names, condition: parts.targetCondition)]
    }

    /// Updates a row that is in the way.
    ///
    /// - returns: Whether the condition of the update was met.
    func update(_ key: Int64, _ row: QueryFragment) throws -> Bool {
        var fragment = try excluded(row)
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
