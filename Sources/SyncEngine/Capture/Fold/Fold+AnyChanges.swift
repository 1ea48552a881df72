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
                    tbl INTEGER, pk, seq, alive, stamp, turns, r, cl, PRIMARY KEY (tbl, pk)) WITHOUT ROWID;
                INSERT INTO temp._sync_fold
                SELECT l.tbl, l.pk, l.seq, l.op <> 3, \(stamps.sql("l.ms")), l.turns, r.r, coalesce(r.cl, 0)
                FROM (SELECT tbl, pk, max(seq) AS seq, op, ms, sum(op IN (1, 3)) AS turns
                      FROM _sync_log WHERE seq > \(metadata.folded) AND \(TableDefinition.isUUID("pk"))
                      GROUP BY tbl, pk) AS l
                LEFT JOIN _sync_row AS r ON r.tbl = l.tbl AND r.pk = l.pk;
                """)
        try beginLives()
        let digests = try DigestLedger(db, metadata)
        try digests.beginFold()
        try journalShadowedValues(metadata)
        let lastRows = LastRows(db)
        if !separate.isEmpty { try lastRows.keepSeparate(at: environment.milliseconds()) }
        let hasDeletions = try Bool.fetchOne(
            db, sql: "SELECT EXISTS(SELECT 1 FROM temp._sync_fold WHERE NOT alive)")
        if hasDeletions == true { try lastRows.prune(now: environment.milliseconds()) }
        try foldWholeRows(stamps)
        try foldCells(metadata, stamps, hasSeparate: !separate.isEmpty)
        try foldSeparate(separate, metadata, stamps, hasUpdates: true)
        try digests.endFold()
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

    /// A row's life after `turns` insertions and deletions: odd while it exists. A deletion of a row that
    /// is gone is one of the same life, told anew (see ``HalfKnownDeletions``).
    ///
    /// A row that is replaced in the last life in which it can be there stays in it. It can die in the last life there is,
    /// and begin none after it. Its key was used up by somebody who sent such
    /// a life; what is inserted under it is not told to others, and `verify` names it.
    private static let life = """
        min(\(AdmissionLimits.lifeMax) - (f.alive AND f.cl & 1), f.cl + CASE WHEN f.alive OR f.cl & 1 OR f.turns > 1
            THEN f.turns + ((f.cl + f.turns) & 1 <> f.alive) ELSE 0 END)
        """

    /// A stamp above those of a row and its cells, or of the present where there is none above them: in a new life it
    /// need not be above.
    private static let turnedStamp = """
        CASE WHEN max(r.hlc, coalesce((SELECT max(c.hlc) FROM _sync_cell AS c WHERE c.r = f.r), 0))
                >= \(AdmissionLimits.timestampMax) THEN f.stamp
            ELSE max(f.stamp, r.hlc + 1, coalesce((SELECT max(c.hlc) FROM _sync_cell AS c WHERE c.r = f.r) + 1, 0))
        END
        """

    private func foldWholeRows(_ stamps: StampRule) throws {
        // A row that came and went between two folds was never seen by anybody.
        try db.execute(
            sql: """
                INSERT INTO _sync_row (tbl, pk, cl, hlc, sid, oseq)
                SELECT f.tbl, f.pk, \(Self.life), f.stamp, \(stamps.replica), f.seq
                FROM temp._sync_fold AS f WHERE f.r IS NULL AND f.alive ORDER BY f.seq;
                CREATE TEMP TABLE _sync_turned (r INTEGER PRIMARY KEY, cl, hlc, seq);
                INSERT INTO temp._sync_turned
                SELECT f.r, \(Self.life), \(Self.turnedStamp), f.seq
                FROM temp._sync_fold AS f JOIN _sync_row AS r ON r.r = f.r
                WHERE f.turns > 0 OR f.cl & 1 <> f.alive;
                DELETE FROM _sync_cell WHERE r IN (SELECT r FROM temp._sync_turned);
                UPDATE _sync_row SET sid = \(stamps.replica),
                    (cl, hlc, oseq) = (SELECT t.cl, t.hlc, t.seq FROM temp._sync_turned AS t WHERE t.r = _sync_row.r)
                WHERE r IN (SELECT r FROM temp._sync_turned);
                DROP TABLE temp._sync_turned;
                """)
    }

    /// A migration's write is stamped just above the one that it replaces, and loses
    /// against a value that waits to be written.
    private func foldCells(_ metadata: StoreMetadata, _ stamps: StampRule, hasSeparate: Bool) throws {
        let rewrite = CaptureTriggers.Operation.rewrite
        let isSeparate = """
            EXISTS (SELECT 1 FROM _sync_policy AS y WHERE y.tbl = u.tbl AND y.col = u.col AND y.kind IN (\(ColumnPolicy.Kind.separateWords)))
            """
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO _sync_cell (r, col, hlc, sid, oseq)
                SELECT f.r, u.col,
                    min(\(AdmissionLimits.timestampMax), max(
                        CASE u.kind WHEN \(rewrite) THEN 0 ELSE \(stamps.sql("u.ms")) END,
                        r.hlc + 1, coalesce(c.hlc + 1, 0))),
                    \(stamps.replica), u.seq
                FROM (SELECT l.tbl, l.pk, c.col, max(l.seq) AS seq, l.ms, l.op & 15 AS kind
                      FROM _sync_log AS l JOIN _sync_column AS c ON c.tbl = l.tbl
                          AND l.op IN (2 | ((c.col / 60) << 4), \(rewrite) | ((c.col / 60) << 4)) AND l.mask >> (c.col % 60) & 1
                      WHERE l.seq > \(metadata.folded) GROUP BY l.tbl, l.pk, c.col) AS u
                JOIN temp._sync_fold AS f ON f.tbl = u.tbl AND f.pk = u.pk AND f.turns = 0 AND f.cl & 1
                JOIN _sync_row AS r ON r.r = f.r
                LEFT JOIN _sync_cell AS c ON c.r = f.r AND c.col = u.col
                WHERE (u.kind <> \(rewrite) OR NOT EXISTS (
                    SELECT 1 FROM _sync_shadow AS s WHERE s.tbl = u.tbl AND s.pk = u.pk AND s.col = u.col))
                  \(hasSeparate ? "AND NOT \(isSeparate)" : "");
                """)
    }

    /// The parked values that local writes replace.
    ///
    /// `INSERT OR REPLACE` writes the columns that are here: what peers have in
    /// others stays, as part of the new row.
    private var shadowed: String {
        """
        (EXISTS (
            SELECT 1 FROM temp._sync_fold AS f
            WHERE f.tbl = _sync_shadow.tbl AND f.pk = _sync_shadow.pk AND f.turns > 0
              AND NOT (f.alive AND f.cl & 1 AND EXISTS (
                SELECT 1 FROM _sync_column AS a
                WHERE a.tbl = f.tbl AND a.col = _sync_shadow.col AND a.present <> 1)))
        OR EXISTS (
            SELECT 1 FROM temp._sync_written AS w
            WHERE w.tbl = _sync_shadow.tbl AND w.pk = _sync_shadow.pk AND w.col = _sync_shadow.col))
        """
    }

    /// Moves parked values that local writes replace into the journal: whoever
    /// wrote here could not see them.
    private func journalShadowedValues(_ metadata: StoreMetadata) throws {
        guard try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_shadow)") == true else { return }
        // Both can be long, so the writes to parked values are looked up once.
        try db.execute(
            sql: """
                DROP TABLE IF EXISTS temp._sync_written;
                CREATE TEMP TABLE _sync_written (tbl INTEGER, pk, col INTEGER, PRIMARY KEY (tbl, pk, col)) WITHOUT ROWID;
                INSERT OR IGNORE INTO temp._sync_written
                SELECT l.tbl, l.pk, c.col FROM _sync_log AS l JOIN _sync_column AS c ON c.tbl = l.tbl
                    AND l.op = (2 | ((c.col / 60) << 4)) AND l.mask >> (c.col % 60) & 1
                WHERE l.seq > \(metadata.folded) AND EXISTS (
                    SELECT 1 FROM _sync_shadow AS s WHERE s.tbl = l.tbl AND s.pk = l.pk AND s.col = c.col);
                """)
        defer { try? db.execute(sql: "DROP TABLE IF EXISTS temp._sync_written") }
        try db.execute(
            sql: """
                INSERT INTO _sync_conflict (at, tbl, pk, col, val, hlc, sid, won, why, life, won_hlc)
                SELECT \(environment.milliseconds()), _sync_shadow.tbl, _sync_shadow.pk, _sync_shadow.col, val,
                    coalesce(c.hlc, r.hlc), coalesce(c.sid, r.sid), \(metadata.selfNumber),
                    CASE WHEN EXISTS (
                        SELECT 1 FROM temp._sync_fold AS t
                        WHERE t.tbl = _sync_shadow.tbl AND t.pk = _sync_shadow.pk AND t.turns > 0)
                    THEN 'deleted' ELSE 'newer' END, r.cl, \(environment.milliseconds() << 16)
                FROM _sync_shadow JOIN _sync_row AS r ON r.tbl = _sync_shadow.tbl AND r.pk = _sync_shadow.pk
                LEFT JOIN _sync_cell AS c ON c.r = r.r AND c.col = _sync_shadow.col
                WHERE _sync_shadow.col >= 0 AND _sync_shadow.why <> '\(KeptReason.dropped)' AND \(shadowed);
                DELETE FROM _sync_shadow WHERE \(shadowed);
                DELETE FROM _sync_hidden WHERE EXISTS (
                    SELECT 1 FROM temp._sync_fold AS f
                    WHERE f.tbl = _sync_hidden.tbl AND f.pk = _sync_hidden.pk AND f.turns > 0);
                """)
    }
}
