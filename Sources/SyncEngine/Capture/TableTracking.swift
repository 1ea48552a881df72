import CipherStore
import SyncWire

/// Starts and maintains the tracking of tables.
struct TableTracking {
    let db: Database
    let environment: SyncEnvironment

    /// Tracks tables. Tables that are tracked already are left as they are.
    ///
    /// Rows that are there count as inserted now. Runs in the caller's transaction.
    func track(_ names: [String]) throws {
        try refresh()
        let known = try SyncedTable.loadAll(db)
        for name in names {
            let definition = try TableDefinition.load(db, name)
            if let table = known.first(where: { $0.name.lowercased() == name.lowercased() }) {
                if !table.isTracked { try adopt(table, definition) }
            } else {
                try definition.checkKeys(db)
                let table = try SyncedTable.register(
                    db, name: definition.name, key: definition.key, columns: definition.columns,
                    isTracked: true)
                try start(table)
            }
        }
    }

    /// Tracks a table whose rows came from a peer before the table was there.
    private func adopt(_ table: SyncedTable, _ definition: TableDefinition) throws {
        try definition.checkKeys(db)
        try db.execute(
            sql: "UPDATE _sync_table SET tracked = 1, key = ? WHERE tbl = ?",
            arguments: [definition.key, table.number])
        try updateColumns(of: table, definition)
        guard let table = try SyncedTable.loadAll(db).first(where: { $0.number == table.number }) else {
            return
        }
        try start(table)
    }

    private func start(_ table: SyncedTable) throws {
        let name = table.name.quotedDatabaseIdentifier
        let key = table.key.quotedDatabaseIdentifier
        try db.execute(
            sql: """
                INSERT INTO _sync_log (tbl, op, pk, mask, ms)
                SELECT ?, \(CaptureTriggers.Operation.insert), \(key), 0, ? FROM \(name)
                """, arguments: [table.number, environment.milliseconds()])
        try createTriggers(table)
    }

    private func createTriggers(_ table: SyncedTable) throws {
        for name in try CaptureTriggers.names(db, table: table.number) {
            try db.execute(sql: "DROP TRIGGER \(name.quotedDatabaseIdentifier)")
        }
        for statement in CaptureTriggers(table: table).statements { try db.execute(sql: statement) }
        try db.execute(sql: "PRAGMA recursive_triggers = ON")
    }

    /// Brings triggers and columns up to the schema, after somebody changed it.
    ///
    /// - returns: Whether anything had changed.
    @discardableResult
    func refresh() throws -> Bool {
        var hasChanged = false
        for table in try SyncedTable.loadAll(db) where table.isTracked {
            guard try db.tableExists(table.name) else {
                // The rows stay known, and stay with the peers.
                try db.execute(
                    sql: "UPDATE _sync_table SET tracked = 0 WHERE tbl = ?", arguments: [table.number])
                try db.execute(
                    sql: "UPDATE _sync_column SET present = 0 WHERE tbl = ?", arguments: [table.number])
                hasChanged = true
                continue
            }
            let definition = try TableDefinition.load(db, table.name)
            let columns = Set(definition.columns.map { $0.lowercased() })
            let present = Set(table.presentColumns.map { $0.name.lowercased() })
            guard columns != present else { continue }
            try updateColumns(of: table, definition)
            hasChanged = true
            if let table = try SyncedTable.loadAll(db).first(where: { $0.number == table.number }) {
                try createTriggers(table)
                try logValues(of: table, inColumns: columns.subtracting(present))
            }
        }
        return hasChanged
    }

    private func updateColumns(of table: SyncedTable, _ definition: TableDefinition) throws {
        let columns = Set(definition.columns.map { $0.lowercased() })
        for column in table.columns {
            try db.execute(
                sql: "UPDATE _sync_column SET present = ? WHERE tbl = ? AND col = ?",
                arguments: [columns.contains(column.name.lowercased()), table.number, column.number])
        }
        let known = Set(table.columns.map { $0.name.lowercased() })
        let added = definition.columns.filter { !known.contains($0.lowercased()) }
        _ = try table.addingColumns(db, added, isPresent: true)
    }

    /// Logs what was written to new columns before the triggers knew them.
    private func logValues(of table: SyncedTable, inColumns names: Set<String>) throws {
        for column in table.presentColumns where names.contains(column.name.lowercased()) {
            let group = column.number / CaptureTriggers.columnsPerGroup
            let operation = CaptureTriggers.Operation.update | group << CaptureTriggers.Operation.groupShift
            let mask = Int64(1) << Int64(column.number % CaptureTriggers.columnsPerGroup)
            try db.execute(
                sql: """
                    INSERT INTO _sync_log (tbl, op, pk, mask, ms)
                    SELECT ?, ?, \(table.key.quotedDatabaseIdentifier), ?, ?
                    FROM \(table.name.quotedDatabaseIdentifier)
                    WHERE \(column.name.quotedDatabaseIdentifier) IS NOT NULL
                    """, arguments: [table.number, operation, mask, environment.milliseconds()])
        }
    }
}

/// The key and the columns of a table in the local schema.
struct TableDefinition {
    let name: String
    let key: String
    /// The columns other than the key.
    let columns: [String]

    /// Reads the definition of a table that can be tracked.
    ///
    /// - throws: ``SyncError`` that names what stands against it.
    static func load(_ db: Database, _ name: String) throws -> TableDefinition {
        guard !MetadataSchema.isReserved(name) else {
            throw SyncError(.unsuitableTable, "table \(name) belongs to the library")
        }
        let sql =
            "SELECT name, type, sql FROM sqlite_master WHERE lower(name) = lower(?) AND type IN ('table', 'view')"
        guard let row = try Row.fetchOne(db, sql: sql, arguments: [name]) else {
            throw SyncError(.noSuchTable, "there is no table \(name)")
        }
        let realName: String = try row.decode(atIndex: 0)
        let type: String = try row.decode(atIndex: 1)
        let text: String = try row.decodeIfPresent(atIndex: 2) ?? ""
        guard type == "table", !text.uppercased().hasPrefix("CREATE VIRTUAL") else {
            throw SyncError(.unsuitableTable, "\(name) is a \(type == "view" ? "view" : "virtual table")")
        }
        let columns = try Row.fetchAll(db, sql: "PRAGMA table_info(\(realName.quotedDatabaseIdentifier))")
        let keys = try columns.filter { try $0.decode(Int.self, forColumn: "pk") > 0 }
        guard keys.count == 1, let key = keys.first else {
            throw SyncError(
                .unsuitableKey,
                keys.isEmpty
                    ? "table \(name) has no primary key; synchronization needs one UUID column as its key"
                    : "table \(name) has a primary key of \(keys.count) columns; synchronization needs one UUID column"
            )
        }
        let keyType = try key.decode(String.self, forColumn: "type")
        guard keyType.uppercased() != "INTEGER" else {
            throw SyncError(
                .unsuitableKey,
                "the key of table \(name) is an integer; two devices would give the same number to different rows, so synchronization needs a UUID"
            )
        }
        let keyName = try key.decode(String.self, forColumn: "name")
        let names = try columns.map { try $0.decode(String.self, forColumn: "name") }
        return TableDefinition(name: realName, key: keyName, columns: names.filter { $0 != keyName })
    }

    /// Checks that each key is a UUID.
    func checkKeys(_ db: Database) throws {
        let key = key.quotedDatabaseIdentifier
        let count = try Int.fetchOne(
            db, sql: "SELECT count(*) FROM \(name.quotedDatabaseIdentifier) WHERE NOT \(Self.isUUID(key))")
        guard let count, count > 0 else { return }
        throw SyncError(
            .unsuitableKey,
            "table \(name) has \(count) rows whose key is no UUID: a blob of 16 bytes, or text of 36 characters"
        )
    }

    /// The SQL that tells whether a key is a UUID.
    static func isUUID(_ key: String) -> String {
        let group = "[0-9a-fA-F]"
        let pattern = [8, 4, 4, 4, 12].map { String(repeating: group, count: $0) }.joined(separator: "-")
        return """
            ((typeof(\(key)) = 'blob' AND length(\(key)) = 16) OR (typeof(\(key)) = 'text' AND \(key) GLOB '\(pattern)'))
            """
    }
}
