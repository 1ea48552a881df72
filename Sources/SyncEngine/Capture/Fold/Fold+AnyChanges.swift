import CipherStore

/// The fold of a tail in which rows come, go and change.
extension Fold {
    /// Every case, through one temporary row for each row that the tail names.
    func foldAny(
        _ metadata: StoreMetadata, _ stamps: StampRule, _ separate: [Int64: SeparateColumns]
    ) throws {
        try db.execute(sql: "DROP TABLE IF EXISTS temp._sync_fold")
        defer { try? db.execute(sql: "DROP TABLE IF EXISTS temp._sync_fold") }
        // The types are those of the columns it is compared with, or its key would not be used.
        // With one max(), and no other, SQLite takes bare columns from the row of the maximum.
        try db.execute(
            sql: """
                CREATE TEMP TABLE _sync_fold (
                    tbl INTEGER, pk, seq, alive, stamp, turns, r, cl, mixed, PRIMARY KEY (tbl, pk)) WITHOUT ROWID;
                INSERT INTO temp._sync_fold
                SELECT l.tbl, l.pk, l.seq, l.op <> 3, \(stamps.sql("l.ms")), l.turns, r.r, coalesce(r.cl, 0), l.mixed
                FROM (SELECT tbl, pk, max(seq) AS seq, op, ms, sum(op IN (1, 3)) AS turns,
                          sum(op = 3) > 0 AND count(*) > 1 AS mixed
                      FROM _sync_log WHERE seq > \(metadata.folded) AND \(TableDefinition.isUUID("pk"))
                      GROUP BY tbl, pk) AS l
                LEFT JOIN _sync_row AS r ON r.tbl = l.tbl AND r.pk = l.pk;
                """)
        try lookForRows(after: metadata.folded)
        try beginLives()
        let digests = try DigestLedger(db, metadata)
        try digests.beginFold()
        try journalShadowedValues(metadata)
        let lastRows = LastRows(db)
        if !separate.isEmpty { try lastRows.keepSeparate(at: environment.milliseconds()) }
        let hasDeletions = try Bool.fetchOne(
            db, sql: "SELECT EXISTS(SELECT 1 FROM temp._sync_fold WHERE NOT alive)")
        if hasDeletions == true { try lastRows.prune(now: environment.milliseconds()) }
        try VersionTable.foldWholeRows(db, stamps)
        try VersionTable.foldCells(db, after: metadata.folded, stamps, hasSeparate: !separate.isEmpty)
        try foldSeparate(separate, metadata, stamps, hasUpdates: true)
        try digests.endFold()
    }

    /// Finds out whether rows exist about which the order of the entries says too little.
    ///
    /// SQLite runs the newest trigger first. One of the user that deletes or inserts the row that it runs for can be logged
    /// before the change which it followed. And the values of rows that came into a table which is gone, or that are known no
    /// more, are nowhere: a version of such a row as a whole would empty those of peers. A row that is hidden exists and is in
    /// no table; one of which only a value waits for a column is in its table.
    private func lookForRows(after folded: Int64) throws {
        if try hasEntriesOfMissingTables(after: folded) {
            try db.execute(
                sql: """
                    DELETE FROM temp._sync_fold WHERE alive AND (turns > 0 OR NOT cl & 1)
                    AND tbl IN (SELECT tbl FROM _sync_table WHERE tracked = \(SyncedTable.Place.elsewhere.rawValue))
                    """)
        }
        let mixed = try Int64.fetchSet(db, sql: "SELECT DISTINCT tbl FROM temp._sync_fold WHERE mixed")
        guard !mixed.isEmpty else { return }
        for table in try SchemaInspection(db: db).storedTables() where mixed.contains(table.number) {
            try db.execute(
                sql: """
                    UPDATE temp._sync_fold SET alive = EXISTS (
                        SELECT 1 FROM \(table.qualifiedName) WHERE \(table.keyMatch("_sync_fold.pk")))
                    WHERE mixed AND tbl = ? AND NOT EXISTS (
                        SELECT 1 FROM _sync_hidden AS h WHERE h.tbl = _sync_fold.tbl AND h.pk = _sync_fold.pk)
                    """, arguments: [table.number])
        }
    }

    /// Lets rows begin a new life whose stamps are at the end of what other stores take in: so an edit wins over what it
    /// replaces, and the row has stamps of the present again.
    private func beginLives() throws {
        try db.execute(
            sql: """
                UPDATE temp._sync_fold SET turns = 2
                WHERE turns = 0 AND alive AND cl & 1 AND cl < \(AdmissionLimits.lifeMax - 2) AND r IN (
                    SELECT f.r FROM temp._sync_fold AS f JOIN _sync_row AS r ON r.r = f.r
                    WHERE r.hlc >= \(AdmissionLimits.timestampMax) OR EXISTS (
                        SELECT 1 FROM _sync_cell AS c WHERE c.r = f.r AND c.hlc >= \(AdmissionLimits.timestampMax)))
                """)
    }

    /// Moves parked values that local writes replace into the journal: whoever
    /// wrote here could not see them.
    private func journalShadowedValues(_ metadata: StoreMetadata) throws {
        guard try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_shadow)") == true else { return }
        try Parking.listReplacedByFold(db, after: metadata.folded)
        defer { try? db.execute(sql: "DROP TABLE IF EXISTS temp._sync_replaced") }
        try ConflictJournal.appendReplacedByFold(
            db, own: metadata.selfNumber, at: environment.milliseconds())
        try Parking.removeReplacedByFold(db)
    }
}
