import CipherStore
import SyncWire

/// Tables that the user takes out of the synchronization, and that stay.
///
/// Peers know from this replica's vector that it has their changes, and may get them from here. So what the table held
/// is kept as that of a dropped one is (`DroppedTables.swift`): peers' changes go there, and new peers are served from
/// there. A second copy stays as it is, and says at the next tracking who changed what in between.
extension TableTracking {

    /// Keeps what the rows are now beside those that peers go on to change.
    func copyKept(of kept: SyncedTable) throws {
        let text = try String.fetchOne(
            db, sql: "SELECT sql FROM main.sqlite_master WHERE type = 'table' AND name = ?",
            arguments: [kept.storageName])
        guard let text, let body = text.firstIndex(of: "(") else {
            throw SyncError(.damagedMetadata, "the kept rows of table \(kept.name) are gone")
        }
        try db.execute(
            sql: """
                DROP TABLE IF EXISTS \(kept.qualifiedBaseName);
                CREATE TABLE \(kept.qualifiedBaseName) \(text[body...]);
                INSERT INTO \(kept.qualifiedBaseName) SELECT * FROM \(kept.qualifiedName);
                """)
    }

    /// Whether a table that is not tracked was taken out by ``untrack(_:)``.
    func isUntracked(_ table: SyncedTable) throws -> Bool {
        try table.place == .dropped && db.tableExists(table.baseName, in: "main")
    }

    // MARK: Tracked again

    /// Merges what was written here while the table was not tracked with what peers changed meanwhile.
    ///
    /// A value that only one side changed is that side's. Of one that both changed, the peers' has a time and stands;
    /// the one of here goes to the journal. A row that is missing here comes back, and one that peers deleted goes,
    /// unless it was written here.
    func merge(
        _ table: SyncedTable, _ kept: SyncedTable, _ definition: TableDefinition,
        columnsAdded added: Set<String>
    ) throws {
        let columns = table.presentColumns.filter { !added.contains($0.name.identifierKey) }.compactMap {
            column in
            kept.presentColumns.first { $0.number == column.number }.map {
                MergedColumn(column, here: column.name, kept: $0.name)
            }
        }
        let affinities = try ColumnAffinity.loadAll(db, table: table.name)
        let isUnwritten = table.presentColumns.filter { added.contains($0.name.identifierKey) }.map {
            Self.isDefault("t." + $0.name.quotedDatabaseIdentifier, of: $0, definition, affinities)
        }
        try deleteUnchanged(table, kept, where: columns.map { "NOT \($0.isChangedHere)" } + isUnwritten)
        try logRows(of: table, kept, .restored)
        for column in columns { try merge(column, table, kept) }
        try db.execute(sql: "DROP TABLE \(kept.qualifiedBaseName)")
    }

    /// A column that the table has, and had.
    private struct MergedColumn {
        let column: SyncedTable.Column
        /// The value in the table, in that of the peers, and what both began with.
        let here, kept, base: String

        init(_ column: SyncedTable.Column, here: String, kept: String) {
            self.column = column
            self.here = "t." + here.quotedDatabaseIdentifier
            self.kept = "k." + kept.quotedDatabaseIdentifier
            base = "b." + kept.quotedDatabaseIdentifier
        }

        var isChangedHere: String { ValueComparison.differs(here, base) }
    }

    /// The rows of the table, those of the peers, and what both began with.
    private func joined(_ table: SyncedTable, _ kept: SyncedTable, with join: String) -> String {
        let key = kept.key.quotedDatabaseIdentifier
        let own = "t.\(table.key.quotedDatabaseIdentifier)"
        return """
            FROM \(table.qualifiedName) AS t \(join) \(kept.qualifiedName) AS k ON k.\(key) = \(own)
            LEFT JOIN \(kept.qualifiedBaseName) AS b ON b.\(key) = \(own)
            """
    }

    /// Deletes rows that peers deleted, and that nobody wrote to here.
    ///
    /// - parameter isUnchanged: The conditions under which nobody did, as SQL.
    private func deleteUnchanged(
        _ table: SyncedTable, _ kept: SyncedTable, where isUnchanged: [String]
    ) throws {
        let key = table.key.quotedDatabaseIdentifier
        let old = kept.key.quotedDatabaseIdentifier
        let isAlive =
            "EXISTS (SELECT 1 FROM _sync_row AS r WHERE r.tbl = \(table.number) AND r.pk = t.\(key) AND r.cl & 1)"
        let conditions = ["k.\(old) IS NULL", "b.\(old) IS NOT NULL", "NOT \(isAlive)"] + isUnchanged
        let keys = try DatabaseValue.fetchAll(
            db,
            sql: """
                SELECT t.\(key) \(joined(table, kept, with: "LEFT JOIN"))
                WHERE \(conditions.joined(separator: " AND "))
                """)
        guard !keys.isEmpty else { return }
        let triggers = try UserTriggers.suspend(db, tables: SyncedTable.loadAll(db))
        let wasPending = db.hasPendingForeignKeyViolations
        var isDone = false
        try db.inSavepoint {
            for value in keys { try delete(value, from: table, whateverRefersToIt: true) }
            isDone = wasPending || !db.hasPendingForeignKeyViolations
            return isDone ? .commit : .rollback
        }
        // A key that is checked at the end of the transaction would undo all of it there.
        if !isDone { for value in keys { try delete(value, from: table, whateverRefersToIt: false) } }
        try triggers.restore()
    }

    /// Deletes a row, unless a foreign key stands against that: then it stays, and is there again for the peers.
    ///
    /// - parameter isForced: Whether keys do not count that are checked at the end of the transaction.
    private func delete(
        _ key: DatabaseValue, from table: SyncedTable, whateverRefersToIt isForced: Bool
    ) throws {
        do {
            // The triggers note it, and what a cascade takes along, as changes of this replica.
            try db.inSavepoint {
                try db.execute(
                    sql: "DELETE FROM \(table.qualifiedName) WHERE \(table.keyMatch("?1"))", arguments: [key])
                return isForced || !db.hasPendingForeignKeyViolations ? .commit : .rollback
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            // Something here refers to it.
        }
    }

    private func merge(_ merged: MergedColumn, _ table: SyncedTable, _ kept: SyncedTable) throws {
        let rows = joined(table, kept, with: "JOIN")
        let isNew = "b.\(kept.key.quotedDatabaseIdentifier) IS NULL"
        let isChangedThere = "(\(isNew) OR \(ValueComparison.differs(merged.kept, merged.base)))"
        let isChangedHere = "(\(isNew) OR \(merged.isChangedHere))"
        let differs = ValueComparison.differs(merged.here, merged.kept)
        let key = "t.\(table.key.quotedDatabaseIdentifier)"
        try log(
            table, ChangeLog.Operation.update, of: merged.column,
            where: """
                \(table.keyAsBytes) IN (
                    SELECT \(key) \(rows) WHERE \(differs) AND NOT \(isChangedThere))
                """)
        try ConflictJournal.appendOwn(
            db, merged.here, of: merged.column.number, in: table.number, rows: rows, key: key,
            where: "\(differs) AND \(isChangedThere) AND \(isChangedHere)", at: environment.milliseconds())
        try Parking.add(
            db, merged.kept, of: merged.column.number, in: table.number, rows: rows, key: key,
            where: "\(differs) AND \(isChangedThere)")
    }
}

extension SyncedTable {
    /// The name of the table that holds what the rows were when the table was untracked.
    var baseName: String { "_sync_dropped_\(number)_base" }

    /// That table in SQL.
    var qualifiedBaseName: String { "main." + baseName.quotedDatabaseIdentifier }
}
