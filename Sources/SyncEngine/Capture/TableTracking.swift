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
        try begin(names)
    }

    private func begin(_ names: [String]) throws {
        let known = try SyncedTable.loadAll(db)
        for name in names {
            let definition = try TableDefinition.load(db, name)
            if let table = known.first(where: { $0.name.lowercased() == name.lowercased() }) {
                if !table.isTracked { try adopt(table, definition) }
            } else {
                try definition.checkKeys(db)
                try definition.checkTriggers(db)
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
        try definition.checkTriggers(db)
        try db.execute(
            sql: "UPDATE _sync_table SET tracked = 1, key = ? WHERE tbl = ?",
            arguments: [definition.key, table.number])
        try updateColumns(of: table, definition)
        let table = try reload(table)
        try start(table)
        // Nobody knows when the values here were written, and the peer's have
        // their times: the peer's win, and those that differ go to the journal.
        for column in table.presentColumns { try journalDifferences(table, column) }
        try Fold(db: db, environment: environment).run()
        try unpark()
    }

    private func reload(_ table: SyncedTable) throws -> SyncedTable {
        guard let table = try SyncedTable.loadAll(db).first(where: { $0.number == table.number }) else {
            throw SyncError(.damagedMetadata, "table \(table.name) is gone from the sync metadata")
        }
        return table
    }

    /// Writes what was parked, now that there may be a place for it.
    func unpark() throws {
        let parking = try Parking(db)
        guard parking.isInUse else { return }
        try db.execute(sql: "UPDATE _sync_state SET applying = 1")
        let touched = try TouchedRows.ifNeeded(db, tables: SyncedTable.loadAll(db))
        _ = try parking.retry(touched)
        try touched?.parkOrphans(parking)
        try db.execute(sql: "UPDATE _sync_state SET applying = 0")
    }

    /// Logs the rows that are there, and creates the triggers.
    private func start(_ table: SyncedTable) throws {
        let key = table.key.quotedDatabaseIdentifier
        let isKnown = "\(key) IN (SELECT pk FROM _sync_row WHERE tbl = \(table.number) AND cl & 1)"
        try log(table, CaptureTriggers.Operation.insert, mask: 0, where: "NOT \(isKnown)")
        // A row that is known and has nothing parked was here when the table was
        // tracked before; what was written to it since then had no trigger.
        let wasHere = """
            \(isKnown) AND NOT EXISTS (
                SELECT 1 FROM _sync_shadow AS s WHERE s.tbl = \(table.number) AND s.pk = \(key))
            """
        for (group, columns) in Dictionary(grouping: table.presentColumns, by: Self.group) {
            let operation = CaptureTriggers.Operation.update | group << CaptureTriggers.Operation.groupShift
            try log(table, operation, mask: columns.reduce(0) { $0 | Self.bit($1) }, where: wasHere)
        }
        try createTriggers(table)
    }

    private static func group(_ column: SyncedTable.Column) -> Int {
        column.number / CaptureTriggers.columnsPerGroup
    }

    private func journalDifferences(_ table: SyncedTable, _ column: SyncedTable.Column) throws {
        let name = "t.\(column.name.quotedDatabaseIdentifier)"
        try db.execute(
            sql: """
                INSERT INTO _sync_conflict (at, tbl, pk, col, val, hlc, sid, won, why)
                SELECT :now, s.tbl, s.pk, s.col, \(name), 0, (SELECT self FROM _sync_state),
                    coalesce(c.sid, r.sid), 'newer'
                FROM _sync_shadow AS s
                JOIN \(table.qualifiedName) AS t ON t.\(table.key.quotedDatabaseIdentifier) = s.pk
                JOIN _sync_row AS r ON r.tbl = s.tbl AND r.pk = s.pk
                LEFT JOIN _sync_cell AS c ON c.r = r.r AND c.col = s.col
                WHERE s.tbl = :table AND s.col = :column
                  AND (\(name) COLLATE BINARY IS NOT s.val COLLATE BINARY OR typeof(\(name)) <> typeof(s.val))
                """,
            arguments: ["now": environment.milliseconds(), "table": table.number, "column": column.number])
    }

    private static func bit(_ column: SyncedTable.Column) -> Int64 {
        1 << Int64(column.number % CaptureTriggers.columnsPerGroup)
    }

    private func log(_ table: SyncedTable, _ operation: Int, mask: Int64, where condition: String) throws {
        try db.execute(
            sql: """
                INSERT INTO _sync_log (tbl, op, pk, mask, ms)
                SELECT ?, ?, \(table.key.quotedDatabaseIdentifier), ?, ?
                FROM \(table.qualifiedName) WHERE \(condition)
                """, arguments: [table.number, operation, mask, environment.milliseconds()])
    }

    private func createTriggers(_ table: SyncedTable) throws {
        for name in try CaptureTriggers.names(db, table: table.number) {
            try db.execute(sql: "DROP TRIGGER \(name.quotedDatabaseIdentifier)")
        }
        for statement in CaptureTriggers(table: table).statements { try db.execute(sql: statement) }
        try db.execute(sql: "PRAGMA recursive_triggers = ON")
    }

    /// Brings names, columns and triggers up to the schema, after somebody changed it.
    ///
    /// - returns: Whether anything had changed.
    @discardableResult
    func refresh() throws -> Bool {
        var hasChanged = false
        for table in try SyncedTable.loadAll(db) where table.isTracked {
            guard let name = try currentName(of: table) else {
                try forget(table)
                hasChanged = true
                continue
            }
            if name != table.name {
                try rename(table, to: name)
                hasChanged = true
                continue
            }
            if try refreshColumns(of: reload(table), TableDefinition.load(db, name)) { hasChanged = true }
        }
        return hasChanged
    }

    /// Names are what peers know a table by, so a renamed table is another one:
    /// its rows count as inserted now, and those of the old name stay known.
    private func rename(_ table: SyncedTable, to name: String) throws {
        for trigger in try CaptureTriggers.names(db, table: table.number) {
            try db.execute(sql: "DROP TRIGGER \(trigger.quotedDatabaseIdentifier)")
        }
        try forget(table)
        try begin([name])
    }

    /// Stops the tracking of a table that is gone. Its rows stay known, and stay
    /// with the peers.
    private func forget(_ table: SyncedTable) throws {
        try db.execute(sql: "UPDATE _sync_table SET tracked = 0 WHERE tbl = ?", arguments: [table.number])
        try db.execute(sql: "UPDATE _sync_column SET present = 0 WHERE tbl = ?", arguments: [table.number])
    }

    /// The name of a table now: SQLite moves the triggers of a renamed table along.
    private func currentName(of table: SyncedTable) throws -> String? {
        if try db.tableExists(table.name) { return table.name }
        return try String.fetchOne(
            db, sql: "SELECT tbl_name FROM sqlite_master WHERE type = 'trigger' AND name = ?",
            arguments: ["_sync_i_\(table.number)"])
    }

    private func refreshColumns(of table: SyncedTable, _ definition: TableDefinition) throws -> Bool {
        let columns = Set(definition.columns.map { $0.lowercased() })
        let present = Set(table.presentColumns.map { $0.name.lowercased() })
        if columns != present {
            try updateColumns(of: table, definition)
            let table = try reload(table)
            try createTriggers(table)
            try logValues(of: table, inColumns: columns.subtracting(present), definition)
            return true
        }
        let triggers = try CaptureTriggers.names(db, table: table.number)
        guard triggers.count != CaptureTriggers(table: table).statements.count else { return false }
        // Somebody dropped the table and made it anew, and the triggers went with it.
        try createTriggers(table)
        try reconcile(table)
        return true
    }

    /// Logs the rows that came or went while a table had no triggers.
    private func reconcile(_ table: SyncedTable) throws {
        let key = table.key.quotedDatabaseIdentifier
        let isKnown = "\(key) IN (SELECT pk FROM _sync_row WHERE tbl = \(table.number) AND cl & 1)"
        try log(table, CaptureTriggers.Operation.insert, mask: 0, where: "NOT \(isKnown)")
        try db.execute(
            sql: """
                INSERT INTO _sync_log (tbl, op, pk, mask, ms)
                SELECT tbl, \(CaptureTriggers.Operation.delete), pk, 0, ? FROM _sync_row AS r
                WHERE tbl = ? AND cl & 1
                  AND pk NOT IN (SELECT \(key) FROM \(table.qualifiedName) WHERE \(key) IS NOT NULL)
                  AND NOT EXISTS (SELECT 1 FROM _sync_shadow AS s WHERE s.tbl = r.tbl AND s.pk = r.pk)
                """, arguments: [environment.milliseconds(), table.number])
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
    ///
    /// The default that ALTER gave each row is nobody's edit, and a parked value
    /// still has to be written.
    private func logValues(
        of table: SyncedTable, inColumns names: Set<String>, _ definition: TableDefinition
    ) throws {
        for column in table.presentColumns where names.contains(column.name.lowercased()) {
            let group = column.number / CaptureTriggers.columnsPerGroup
            let operation = CaptureTriggers.Operation.update | group << CaptureTriggers.Operation.groupShift
            try log(
                table, operation, mask: Self.bit(column),
                where: """
                    \(column.name.quotedDatabaseIdentifier) IS NOT (\(definition.defaults[column.name.lowercased()] ?? "NULL"))
                    AND NOT EXISTS (
                        SELECT 1 FROM _sync_shadow AS s WHERE s.tbl = \(table.number) AND s.col = \(column.number)
                          AND s.pk = \(table.key.quotedDatabaseIdentifier))
                    """)
        }
    }
}
