import CipherStore
import SyncWire

/// Tables that the app drops and makes anew later, when peers may have changed rows in between.
///
/// Their changes went to the rows that are kept (`DroppedTables.swift`), and nobody knows when the values of the new
/// table were written: it may be the end of a rebuild over several transactions, or what an export of last year held. So
/// what peers wrote since the drop stands, and the value of here goes to the journal. Which changes these are follows
/// from what was known at the drop, so that no second copy of the rows is needed.
extension TableTracking {
    /// Notes up to where the changes of each replica are known that the rows hold which are about to be kept.
    func noteKnownChanges(of kept: SyncedTable) throws {
        try db.execute(sql: "DROP TABLE IF EXISTS \(kept.qualifiedKnownName)")
        // Of a table of which some rows are held, the others may come later, under numbers that count as known.
        guard try !isPartial(kept) else { return }
        let most = AdmissionLimits.sequenceMax
        try db.execute(
            sql: """
                CREATE TABLE \(kept.qualifiedKnownName) (sid INTEGER PRIMARY KEY, oseq INTEGER NOT NULL);
                INSERT INTO \(kept.qualifiedKnownName)
                SELECT p.sid, max(p.oseq, coalesce(
                    (SELECT c.oseq FROM _sync_coverage AS c
                     WHERE c.tbl = \(kept.number) AND c.sid = p.sid AND c.oseq BETWEEN 1 AND \(most)), 0))
                FROM _sync_replica AS p WHERE p.oseq BETWEEN 1 AND \(most);
                """)
    }

    /// Forgets that changes of a replica after one of them were known when tables were dropped: others have come to have
    /// their numbers.
    static func setBackKnownChanges(_ db: Database, of sid: Int64, to common: Int64) throws {
        for table in try SyncedTable.loadAll(db) where table.place == .dropped {
            guard try db.tableExists(table.knownName, in: "main") else { continue }
            try db.execute(
                sql: "UPDATE \(table.qualifiedKnownName) SET oseq = min(oseq, ?) WHERE sid = ?",
                arguments: [common, sid])
        }
    }

    private func isPartial(_ table: SyncedTable) throws -> Bool {
        try PartialTable.loadAll(db, StoreMetadata.require(db))[table.number] != nil
    }

    /// Goes on with the rows of a table that was dropped and is made anew.
    ///
    /// Where a row has another value than the kept one, and peers wrote that since the drop, theirs stands, and the one of
    /// here goes to the journal. Another one counts as written by a migration: it replaces what was known at the drop,
    /// and an edit of a peer wins over it, whether that comes before the table is tracked or later.
    func mergeRemade(_ table: SyncedTable, _ kept: SyncedTable, columnsAdded added: Set<String>) throws {
        let separate = try SeparateColumns.loadAll(db)[table.number]
        let key = "t.\(table.key.quotedDatabaseIdentifier)"
        // The rows that were kept have keys without a collation. They are looked up, whatever types the two keys have, and
        // whatever old statistics say.
        let rows = """
            FROM \(table.qualifiedName) AS t
            CROSS JOIN \(kept.qualifiedName) AS k
            ON k.\(kept.key.quotedDatabaseIdentifier) = \(table.untypedKey(of: "t"))
            """
        for column in table.presentColumns where !added.contains(column.name.identifierKey) {
            guard let old = kept.presentColumns.first(where: { $0.number == column.number }) else { continue }
            let here = "t.\(column.name.quotedDatabaseIdentifier)"
            let there = "k.\(old.name.quotedDatabaseIdentifier)"
            let differs = ValueComparison.differs(here, there)
            let isChangedThere = try isChangedSinceDrop(column.number, kept)
            // What a migration writes to a counter is its base: what was added here has to be told by an edit.
            let isCounter = separate?.isShown(column.number) == true
            try log(
                table, isCounter ? ChangeLog.Operation.update : ChangeLog.Operation.rewrite, of: column,
                where: """
                    \(table.keyAsBytes) IN (SELECT \(key) \(rows) WHERE \(differs) AND NOT \(isChangedThere))
                    """)
            try ConflictJournal.appendOwn(
                db, here, of: column.number, in: table.number, rows: rows, key: key,
                where: "\(differs) AND \(isChangedThere)", at: environment.milliseconds())
            try Parking.add(
                db, there, of: column.number, in: table.number, rows: rows, key: key,
                where: "\(differs) AND \(isChangedThere)")
        }
    }

    /// Whether the value of a kept row `k` may have been written since its table was dropped, as SQL.
    ///
    /// Tables that an older program dropped have no list of what was known, and all their values may.
    private func isChangedSinceDrop(_ column: Int, _ kept: SyncedTable) throws -> String {
        // Of a counter, its shares are cells of their own.
        try isUnwrittenSinceDrop(
            "k.\(kept.key.quotedDatabaseIdentifier)", kept,
            """
            AND (w.col = \(column) OR w.col IN (
                SELECT h.col FROM _sync_share AS h WHERE h.tbl = \(kept.number) AND h.counter = \(column)))
            """
        ).map { "(NOT \($0))" } ?? "(1)"
    }

    /// Whether nobody has written to a row since its table was dropped or untracked, as SQL; nil when that is not known.
    ///
    /// - parameters:
    ///     - key: The key of the row, as SQL.
    ///     - condition: Which of its columns `w` count, as SQL that begins with AND; empty for all.
    func isUnwrittenSinceDrop(_ key: String, _ kept: SyncedTable, _ condition: String = "") throws -> String?
    {
        guard try db.tableExists(kept.knownName, in: "main"), try !isPartial(kept) else { return nil }
        func isKnown(_ version: String) -> String {
            """
            EXISTS (SELECT 1 FROM \(kept.qualifiedKnownName) AS n
                WHERE n.sid = \(version).sid AND n.oseq >= \(version).oseq)
            """
        }
        return """
            (EXISTS (
                SELECT 1 FROM _sync_row AS v
                WHERE v.tbl = \(kept.number) AND v.pk = +\(key) AND \(isKnown("v"))
                  AND NOT EXISTS (
                    SELECT 1 FROM _sync_cell AS w WHERE w.r = v.r AND NOT \(isKnown("w")) \(condition))))
            """
    }
}

extension SyncedTable {
    /// The name of the table that holds which changes were known when the table was dropped.
    var knownName: String { "_sync_dropped_\(number)_known" }

    /// That table in SQL.
    var qualifiedKnownName: String { "main." + knownName.quotedDatabaseIdentifier }
}
