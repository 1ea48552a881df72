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

    /// Tracks tables again that were taken out, and merges what was written here meanwhile with what peers changed.
    ///
    /// A value that only one side changed is that side's. Of one that both changed, the peers' has a time and stands;
    /// the one of here goes to the journal. A row that is missing here comes back, and one that peers deleted goes,
    /// unless it was written here. Which rows go is decided for all tables together: the one that refers to a row may
    /// go as well, or have another parent for the peers.
    func trackAgain(_ tables: [(kept: SyncedTable, definition: TableDefinition)]) throws {
        guard !tables.isEmpty else { return }
        for (_, definition) in tables {
            try definition.checkKeys(db)
            try definition.checkTriggers(db)
        }
        try FoldedStore.fold(db, environment)
        let again = try tables.map { kept, definition in
            let (table, added) = try replace(kept, definition)
            return try TableAgain(
                table: table, kept: kept, definition: definition, columnsAdded: added,
                affinities: ColumnAffinity.loadAll(db, table: table.name))
        }
        // What the actions of foreign keys do to rows is no write that keeps them, so the rows are chosen before.
        let deletions = try again.flatMap { table in
            try unchangedRows(of: table).map { (table: table.table, key: $0) }
        }
        for table in again {
            try parkMissingRows(of: table.table, table.kept)
            for column in table.mergedColumns { try merge(column, table.table, table.kept) }
            try logValues(
                of: table.table, inColumns: table.columnsAdded, table.definition, where: table.isKept)
            try keepWaitingKeys(of: table.table, in: table.kept)
        }
        let deletedHere = try again.compactMap(isDeletedHere)
        try delete(
            deletions, of: again.map(\.table),
            but: deletedHere.isEmpty ? "0" : "(\(deletedHere.joined(separator: " OR ")))")
        for table in again {
            try logNewRows(of: table.table, table.kept)
            try logValues(
                of: table.table, inColumns: table.columnsAdded, table.definition, where: "NOT \(table.isKept)"
            )
            try removeKept(table.kept)
        }
        // Before peers' values are written: a row that they hide would take along what was logged of it.
        try FoldedStore.fold(db, environment)
        for table in again {
            try Parking.adoptMissingRows(db, of: table.table, since: environment.milliseconds())
        }
        try unpark()
    }

    /// A table that is tracked again.
    private struct TableAgain {
        let table, kept: SyncedTable
        let definition: TableDefinition
        let columnsAdded: Set<String>
        let affinities: [String: ColumnAffinity]

        var mergedColumns: [MergedColumn] {
            table.presentColumns.filter { !columnsAdded.contains($0.name.identifierKey) }.compactMap {
                column in
                kept.presentColumns.first { $0.number == column.number }.map {
                    MergedColumn(column, here: column.name, kept: $0.name)
                }
            }
        }

        /// Whether peers have a row, as SQL.
        var isKept: String {
            "(\(table.keyAsBytes) IN (SELECT \(kept.key.quotedDatabaseIdentifier) FROM \(kept.qualifiedName)))"
        }

        /// The conditions under which nobody wrote to a row here, as SQL.
        var isUnchanged: [String] {
            mergedColumns.map { "NOT \($0.isChangedHere)" }
                + table.presentColumns.filter { columnsAdded.contains($0.name.identifierKey) }.map {
                    TableTracking.isDefault(
                        "t." + $0.name.quotedDatabaseIdentifier, of: $0, definition, affinities)
                }
        }
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

    /// The rows of the table, those of the peers, and what both began with. The last two are looked up by their keys, whatever
    /// type the key of the table has.
    ///
    /// - parameter join: A join that SQLite does not turn round, by old statistics for example.
    func joined(_ table: SyncedTable, _ kept: SyncedTable, with join: String) -> String {
        let key = kept.key.quotedDatabaseIdentifier
        let own = table.untypedKey(of: "t")
        return """
            FROM \(table.qualifiedName) AS t \(join) \(kept.qualifiedName) AS k ON k.\(key) = \(own)
            LEFT JOIN \(kept.qualifiedBaseName) AS b ON b.\(key) = \(own)
            """
    }

    /// The keys of rows that peers deleted, and that nobody wrote to here.
    private func unchangedRows(of again: TableAgain) throws -> [DatabaseValue] {
        let (table, kept) = (again.table, again.kept)
        let key = table.key.quotedDatabaseIdentifier
        let old = kept.key.quotedDatabaseIdentifier
        let isAlive =
            "EXISTS (SELECT 1 FROM _sync_row AS r WHERE r.tbl = \(table.number) AND r.pk = \(table.untypedKey(of: "t")) AND r.cl & 1)"
        let conditions =
            ["k.\(old) IS NULL", "b.\(old) IS NOT NULL", "NOT \(isAlive)"] + again.isUnchanged
        return try DatabaseValue.fetchAll(
            db,
            sql: """
                SELECT t.\(key) \(joined(table, kept, with: "LEFT JOIN"))
                WHERE \(conditions.joined(separator: " AND "))
                """)
    }

    /// Which rows `p` that wait were in the table when it was untracked, are not there any more, and were written to by
    /// nobody since, as SQL; nil when that is not known.
    private func isDeletedHere(_ again: TableAgain) throws -> String? {
        let (table, kept) = (again.table, again.kept)
        let key = kept.key.quotedDatabaseIdentifier
        return try isUnwrittenSinceDrop("p.pk", kept).map { isUnwritten in
            """
            (p.tbl = \(table.number)
             AND EXISTS (SELECT 1 FROM \(kept.qualifiedBaseName) AS b WHERE b.\(key) = p.pk)
             AND NOT EXISTS (SELECT 1 FROM \(table.qualifiedName) AS t WHERE \(table.keyMatch("p.pk", of: "t")))
             AND \(isUnwritten))
            """
        }
    }

    /// Lists the rows that wait among those that were kept: one that finds its place is no new row.
    private func keepWaitingKeys(of table: SyncedTable, in kept: SyncedTable) throws {
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO \(kept.qualifiedName) (\(kept.key.quotedDatabaseIdentifier))
                SELECT w.pk FROM (
                    SELECT pk FROM _sync_shadow WHERE tbl = :table UNION SELECT pk FROM _sync_hidden WHERE tbl = :table) AS w
                WHERE NOT EXISTS (SELECT 1 FROM \(table.qualifiedName) AS t WHERE \(table.keyMatch("w.pk", of: "t")))
                """, arguments: ["table": table.number])
    }

    private func merge(_ merged: MergedColumn, _ table: SyncedTable, _ kept: SyncedTable) throws {
        let rows = joined(table, kept, with: "CROSS JOIN")
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
