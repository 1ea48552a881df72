import CipherStore

/// What tables show of rows: rows that a constraint forbids are hidden as a whole.
///
/// The rules are carried out, in their order, on empty tables of the same schema in memory, so
/// that SQLite itself says what a constraint, a collation or a default means.
final class SchemaOracle {
    /// A table that is synchronized.
    struct Table: Hashable {
        let name: String
        let key: String
    }

    private let database: DatabaseQueue
    private let tables: [String: Table]
    private let columns: [String: [String]]

    /// Makes the tables.
    ///
    /// - parameter schema: The statements that create them and their indexes, in order.
    init(schema: [String], tables: [Table]) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        database = try DatabaseQueue(configuration: configuration)
        self.tables = Dictionary(tables.map { ($0.name.identifierKey, $0) }, uniquingKeysWith: { $1 })
        columns = try database.write { db in
            for statement in schema { try db.execute(sql: statement) }
            return Dictionary(
                try tables.map { table in
                    (table.name.identifierKey, try db.columns(in: table.name).map { $0.name.identifierKey })
                }, uniquingKeysWith: { $1 })
        }
    }

    /// The rows that the tables show.
    func shownRows(of state: MergedState) throws -> ModelRows {
        var shown: ModelRows = [:]
        try database.inTransaction { db in
            let alive = state.rows.filter { $1.isAlive && tables[$0.table] != nil }
            var allowed: [(key: ModelKey, row: MergedState.Row)] = []
            for (key, row) in alive where try insert(db, key, row) {
                try delete(db, key)
                allowed.append((key, row))
            }
            allowed.sort { left, right in
                if left.row.base.timestamp != right.row.base.timestamp {
                    return left.row.base.timestamp < right.row.base.timestamp
                }
                return (left.row.base.replica, left.key) < (right.row.base.replica, right.key)
            }
            for (key, row) in allowed { _ = try insert(db, key, row) }
            try removeOrphans(db)
            shown = try Self.read(db, Array(tables.values))
            return .rollback
        }
        return shown
    }

    /// Inserts a row.
    ///
    /// - returns: False when a constraint stands against it.
    private func insert(_ db: Database, _ key: ModelKey, _ row: MergedState.Row) throws -> Bool {
        guard let table = tables[key.table] else { return false }
        let own = Set(columns[key.table] ?? [])
        let cells = row.shown.filter { own.contains($0.key) }.sorted { $0.key < $1.key }
        let names = ([table.key] + cells.map(\.key)).map(\.quotedDatabaseIdentifier)
        let values = [key.key.databaseValue] + cells.map(\.value.databaseValue)
        do {
            try db.execute(
                sql: """
                    INSERT OR ABORT INTO \(table.name.quotedDatabaseIdentifier) (\(names.joined(separator: ", ")))
                    VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
                    """, arguments: StatementArguments(values))
            return true
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            return false
        }
    }

    private func delete(_ db: Database, _ key: ModelKey) throws {
        guard let table = tables[key.table] else { return }
        try db.execute(
            sql: """
                DELETE FROM \(table.name.quotedDatabaseIdentifier) WHERE \(table.key.quotedDatabaseIdentifier) = ?
                """, arguments: [key.key.databaseValue])
    }

    /// Removes rows without parents until there are none: what remains is the greatest set of rows
    /// of which each has its parents in it.
    private func removeOrphans(_ db: Database) throws {
        let statements = try tables.values.sorted { $0.name < $1.name }.flatMap {
            try orphanDeletions(db, $0)
        }
        var before = -1
        while db.totalChangesCount != before {
            before = db.totalChangesCount
            for statement in statements { try db.execute(sql: statement) }
        }
    }

    private func orphanDeletions(_ db: Database, _ table: Table) throws -> [String] {
        let rows = try Row.fetchAll(
            db, sql: "PRAGMA foreign_key_list(\(table.name.quotedDatabaseIdentifier))")
        return Dictionary(grouping: rows) { $0["id"] as Int }.sorted { $0.key < $1.key }.compactMap {
            _, rows in
            guard let parent = tables[(rows[0]["table"] as String).identifierKey] else { return nil }
            let child = table.name.quotedDatabaseIdentifier
            let isSet = rows.map { "\(child).\(($0["from"] as String).quotedDatabaseIdentifier) IS NOT NULL" }
            let matches = rows.map {
                let column = ($0["to"] as String?) ?? parent.key
                return """
                    parent_.\(column.quotedDatabaseIdentifier) = \
                    \(child).\(($0["from"] as String).quotedDatabaseIdentifier)
                    """
            }
            return """
                DELETE FROM \(child) WHERE \(isSet.joined(separator: " AND ")) AND NOT EXISTS (
                    SELECT 1 FROM \(parent.name.quotedDatabaseIdentifier) AS parent_
                    WHERE \(matches.joined(separator: " AND ")))
                """
        }
    }

    /// Reads the rows of tables.
    static func read(_ db: Database, _ tables: [Table]) throws -> ModelRows {
        var rows: ModelRows = [:]
        for table in tables {
            let name = table.name.identifierKey
            let found = try Row.fetchAll(db, sql: "SELECT * FROM \(table.name.quotedDatabaseIdentifier)")
            let columns = found.first?.columnNames.map { $0.identifierKey } ?? []
            let keyIndex = columns.firstIndex(of: table.key.identifierKey) ?? 0
            for row in found {
                let values = row.databaseValues.map { ModelValue($0) }
                var named = Dictionary(zip(columns, values), uniquingKeysWith: { first, _ in first })
                named[columns[keyIndex]] = nil
                rows[ModelKey(table: name, key: values[keyIndex])] = named
            }
        }
        return rows
    }
}
