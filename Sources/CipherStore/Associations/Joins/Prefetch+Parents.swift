extension Prefetch {
    /// Which keys of parents SQLite takes for equal to those of rows.
    ///
    /// By the collation and the type of the column, they can be equal and differ.
    ///
    /// - parameter keys: The keys of parents, each of them once and none NULL.
    /// - returns: The positions of the parents' keys, by the key of the rows.
    func parents(among keys: [[DatabaseValue]], _ db: Database) throws -> [[DatabaseValue]: Set<Int>] {
        guard let table = path[0].relation.source.tableName else { return [:] }
        let names = columns.map { "t.\($0.right.quotedDatabaseIdentifier)" }
        // With a sign, a value has no type of its own, and is compared as an argument is.
        let conditions = names.enumerated().map { index, name in "\(name) = +grdb_keys.k\(index)" }
        let keyNames = columns.indices.map { ", k\($0)" }.joined()
        let marks = "(" + Array(repeating: "?", count: columns.count + 1).joined(separator: ", ") + ")"
        var parents: [[DatabaseValue]: Set<Int>] = [:]
        for batch in Self.batches(of: keys, size: max(1, 500 / (columns.count + 1))) {
            var values: [DatabaseValue] = []
            for index in batch.indices {
                values.append(index.databaseValue)
                values += batch[index]
            }
            let rows = try Row.fetchAll(
                db,
                sql: """
                    WITH grdb_keys(number\(keyNames)) AS (VALUES \(Array(repeating: marks, count: batch.count).joined(separator: ", ")))
                    SELECT grdb_keys.number, \(names.joined(separator: ", ")) FROM grdb_keys
                    JOIN \(table.quotedDatabaseIdentifier) AS t ON \(conditions.joined(separator: " AND "))
                    """,
                arguments: StatementArguments(values))
            for row in rows {
                let key = (1...columns.count).map { row.databaseValue(atIndex: $0) }
                parents[key, default: []].insert(try row.decode(Int.self, atIndex: 0))
            }
        }
        return parents
    }
}

extension Relation {
    /// Requires of distinct rows that they stay the same with the keys that prefetched rows refer to.
    ///
    /// - throws: A ``DatabaseError`` when rows that are equal can have different keys.
    func requireKeysOfDistinctRows(_ prefetches: [Prefetch], _ db: Database) throws {
        let selected = try distinguishedColumns(db)
        func isSelected(_ columns: [String]) -> Bool {
            columns.allSatisfy { selected.contains($0.foldedIdentifier) }
        }
        // No two rows of the table are equal then.
        if let table = source.tableName, let key = try db.existingPrimaryKey(of: table),
            isSelected(key.columns)
        {
            return
        }
        for prefetch in prefetches where !isSelected(prefetch.columns.map(\.left)) {
            let child = prefetch.path[0]
            if child.isJoined {
                // The joined row, which has the same key, is selected with it.
                let joined = try child.relation.distinguishedColumns(db)
                if prefetch.columns.allSatisfy({ joined.contains($0.right.foldedIdentifier) }) { continue }
            }
            let columns = prefetch.columns.map(\.left).filter { !isSelected([$0]) }.joined(separator: ", ")
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: """
                    a distinct row of \(source.name) may stand for several, because \(columns) is not selected, \
                    by which its \(child.key) would be found: select \(columns), too, or leave distinct() out
                    """)
        }
    }

    /// The columns of the source that are selected, under whatever names, in lower case.
    private func distinguishedColumns(_ db: Database) throws -> Set<String> {
        var columns = try selectedColumns(db)
        guard let table = source.tableName else { return columns }
        let identification = RowIdentification(db, table: table, aliases: aliases)
        for expression in try resolvedSelection(db).compactMap(\.countedExpression) {
            if let column = try identification.column(expression, acceptsBijection: false) {
                columns.insert(column.foldedIdentifier)
            }
        }
        return columns
    }
}
