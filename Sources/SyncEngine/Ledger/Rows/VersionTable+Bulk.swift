import CipherStore
import SyncWire

/// What happens to versions by statements of their own, most of them for many rows.
extension VersionTable {

    // MARK: Fold

    /// Gives versions to rows that the tail of the log inserts, when there is nothing but such.
    ///
    /// - returns: False when a row was known after all; nothing was changed then.
    static func foldInsertions(_ db: Database, after folded: Int64, _ stamps: StampRule) throws -> Bool {
        do {
            try db.execute(
                sql: """
                    INSERT INTO _sync_row (tbl, pk, cl, hlc, sid, oseq)
                    SELECT tbl, pk, 1, \(stamps.sql("ms")), \(stamps.replica), seq
                    FROM _sync_log WHERE seq > \(folded) AND \(TableDefinition.isUUID("pk")) ORDER BY seq
                    """)
            return true
        } catch ResultCode.SQLITE_CONSTRAINT_UNIQUE {
            return false
        }
    }

    /// Gives versions to columns of known rows that the tail of the log updates, when there is nothing but such.
    ///
    /// - returns: False when a row was not known; nothing was changed then.
    static func foldUpdates(_ db: Database, after folded: Int64, _ stamps: StampRule) throws -> Bool {
        let written = try WrittenColumns(db, after: folded, [ChangeLog.Operation.update])
        defer { written.finish() }
        do {
            // The number of a row that is not known, or not alive, is NULL, which the table refuses, and so is a
            // stamp beyond the last one: a row begins a new life then.
            try db.execute(
                sql: """
                    INSERT OR REPLACE INTO _sync_cell (r, col, hlc, sid, oseq)
                    SELECT CASE WHEN r.cl & 1 THEN r.r END, u.col,
                        nullif(
                            min(max(\(stamps.sql("u.ms")), r.hlc + 1, coalesce(c.hlc + 1, 0)), \(StampRule.end)),
                            \(StampRule.end)),
                        \(stamps.replica), u.seq
                    FROM (SELECT l.tbl, l.pk, c.col, max(l.seq) AS seq, l.ms
                          FROM _sync_log AS l \(written.join)
                          WHERE l.seq > \(folded) AND \(TableDefinition.isUUID("l.pk"))
                          GROUP BY l.tbl, l.pk, c.col) AS u
                    LEFT JOIN _sync_row AS r ON r.tbl = u.tbl AND r.pk = u.pk
                    LEFT JOIN _sync_cell AS c ON c.r = r.r AND c.col = u.col
                    """)
            return true
        } catch ResultCode.SQLITE_CONSTRAINT_NOTNULL {
            return false
        }
    }

    /// A row's life after `turns` insertions and deletions: odd while it exists. A deletion of a row that
    /// is gone is one of the same life, re-issued (see ``HalfKnownDeletions``).
    ///
    /// A row that is replaced in the last life in which it can be there stays in it. It can die in the last life there is,
    /// and begin none after it. Its key was used up by somebody who sent such
    /// a life; what is inserted under it is not told to others, and `verify` names it.
    static let life = """
        min(\(AdmissionLimits.lifeMax) - (f.alive AND f.cl & 1), f.cl + CASE WHEN f.alive OR f.cl & 1 OR f.turns > 1
            THEN f.turns + ((f.cl + f.turns) & 1 <> f.alive) ELSE 0 END)
        """

    /// A stamp above those of a row and its cells, or of the present where there is none above them: in a new life it
    /// need not be above.
    static let turnedStamp = """
        CASE WHEN max(r.hlc, coalesce((SELECT max(c.hlc) FROM _sync_cell AS c WHERE c.r = f.r), 0))
                >= \(AdmissionLimits.timestampMax) THEN f.stamp
            ELSE max(f.stamp, r.hlc + 1, coalesce((SELECT max(c.hlc) FROM _sync_cell AS c WHERE c.r = f.r) + 1, 0))
        END
        """

    /// Gives versions to the rows of `temp._sync_fold` that came, went or came back.
    static func foldWholeRows(_ db: Database, _ stamps: StampRule) throws {
        // A row that came and went between two folds was never seen by anybody.
        try db.execute(
            sql: """
                INSERT INTO _sync_row (tbl, pk, cl, hlc, sid, oseq)
                SELECT f.tbl, f.pk, \(life), f.stamp, \(stamps.replica), f.seq
                FROM temp._sync_fold AS f WHERE f.r IS NULL AND f.alive ORDER BY f.seq;
                """)
        _ = try turn(
            db, stamps,
            """
            SELECT f.r, \(life), \(turnedStamp), f.seq
            FROM temp._sync_fold AS f JOIN _sync_row AS r ON r.r = f.r
            WHERE f.turns > 0 OR f.cl & 1 <> f.alive
            """)
    }

    /// Gives rows as a whole versions of this replica.
    ///
    /// - parameter versions: The number of each row, its life, its stamp and the number of the change, as SQL.
    /// - returns: How many there were.
    static func turn(_ db: Database, _ stamps: StampRule, _ versions: String) throws -> Int64 {
        try db.execute(
            sql: """
                CREATE TEMP TABLE _sync_turned (r INTEGER PRIMARY KEY, cl, hlc, seq);
                INSERT INTO temp._sync_turned \(versions);
                """)
        let count = Int64(db.changesCount)
        try db.execute(sql: "DELETE FROM _sync_cell WHERE r IN (SELECT r FROM temp._sync_turned)")
        let update = """
            UPDATE _sync_row SET sid = \(stamps.replica),
                (cl, hlc, oseq) = (SELECT t.cl, t.hlc, t.seq FROM temp._sync_turned AS t WHERE t.r = _sync_row.r)
            """
        if count <= turnedOneByOneMax {
            let rows = try Int64.fetchAll(db, sql: "SELECT r FROM temp._sync_turned")
            let statement = try db.makeStatement(sql: "\(update) WHERE r = ?")
            for row in rows { try statement.execute(arguments: [row]) }
        } else {
            try db.execute(sql: "\(update) WHERE r IN (SELECT r FROM temp._sync_turned)")
        }
        try db.execute(sql: "DROP TABLE temp._sync_turned")
        return count
    }

    /// How many rows get their version one by one. For a list of rows, SQLite reads all that are known where statistics are of
    /// a time when these were few.
    private static let turnedOneByOneMax: Int64 = 100

    /// Gives versions to the columns that were written in the rows of `temp._sync_fold` which stayed, but for those that
    /// policies keep apart.
    ///
    /// A migration's write is stamped just above the one that it replaces, and loses
    /// against a value that waits to be written.
    static func foldCells(
        _ db: Database, after folded: Int64, _ stamps: StampRule, hasSeparate: Bool
    ) throws {
        let rewrite = ChangeLog.Operation.rewrite
        let written = try WrittenColumns(db, after: folded, [ChangeLog.Operation.update, rewrite])
        defer { written.finish() }
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
                      FROM _sync_log AS l \(written.join)
                      WHERE l.seq > \(folded) GROUP BY l.tbl, l.pk, c.col) AS u
                JOIN temp._sync_fold AS f ON f.tbl = u.tbl AND f.pk = u.pk AND f.turns = 0 AND f.cl & 1
                JOIN _sync_row AS r ON r.r = f.r
                LEFT JOIN _sync_cell AS c ON c.r = f.r AND c.col = u.col
                WHERE (u.kind <> \(rewrite) OR NOT EXISTS (
                    SELECT 1 FROM _sync_shadow AS s WHERE s.tbl = u.tbl AND s.pk = u.pk AND s.col = u.col))
                  \(hasSeparate ? "AND NOT \(isSeparate)" : "");
                """)
    }

    /// Gives a column of a row the version of a write that came after what the row has.
    ///
    /// - parameters:
    ///     - stamp: The time of the write as a timestamp.
    ///     - replica: The number of its author.
    static func foldCell(
        _ db: Database, row: Int64, column: Int, stamp: Int64, replica: Int64, sequence: Int64
    ) throws {
        // One text for all rows: to prepare it takes longer than to run it.
        let statement = try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO _sync_cell (r, col, hlc, sid, oseq)
                SELECT r.r, ?2, min(\(AdmissionLimits.timestampMax), max(?3, r.hlc + 1, coalesce(c.hlc + 1, 0))), ?4, ?5
                FROM _sync_row AS r LEFT JOIN _sync_cell AS c ON c.r = r.r AND c.col = ?2
                WHERE r.r = ?1
                """)
        statement.reset()
        let raw = statement.sqliteStatement
        _ = RawBinding.int64(raw, 1, row)
        _ = RawBinding.int64(raw, 2, Int64(column))
        _ = RawBinding.int64(raw, 3, stamp)
        _ = RawBinding.int64(raw, 4, replica)
        _ = RawBinding.int64(raw, 5, sequence)
        while try statement.step() {}
        statement.reset()
    }

    // MARK: Identities and numbers

    /// Moves the changes of a replica beyond the last common one to another id, as one change.
    static func move(
        _ db: Database, from sid: Int64, after common: Int64, to new: Int64, as number: Int64
    ) throws {
        assert(sid != new, "nothing would move")
        for table in ["_sync_row", "_sync_cell"] {
            try db.execute(
                sql:
                    "UPDATE \(table) SET sid = ?, oseq = ?, hlc = min(hlc + 1, ?) WHERE sid = ? AND oseq > ?",
                arguments: [new, number, AdmissionLimits.timestampMax, sid, common])
            try debugAssert(
                Bool.fetchOne(
                    db, sql: "SELECT EXISTS(SELECT 1 FROM \(table) WHERE sid = ? AND oseq > ?)",
                    arguments: [sid, common]) == false, "an identity has changes beyond the common ones")
        }
    }

    /// Lets columns that were written after the whole row stay so, when the row moved to another id as one change.
    /// Shares have nothing to do with that.
    static func raiseCells(_ db: Database, aboveRowsOf new: Int64, as number: Int64) throws {
        try db.execute(
            sql: """
                UPDATE _sync_cell SET sid = ?1, oseq = ?2,
                    hlc = min(\(AdmissionLimits.timestampMax), 1 + (SELECT b.hlc FROM _sync_row AS b WHERE b.r = _sync_cell.r))
                WHERE r IN (SELECT r FROM _sync_row WHERE sid = ?1 AND oseq = ?2)
                AND hlc <= (SELECT b.hlc FROM _sync_row AS b WHERE b.r = _sync_cell.r)
                AND col NOT IN (
                    SELECT h.col FROM _sync_share AS h JOIN _sync_row AS b ON b.tbl = h.tbl WHERE b.r = _sync_cell.r)
                """, arguments: [new, number])
    }

    /// The newest timestamp of later changes of a replica that is not beyond a bound; 0 when there is none.
    static func newestTimestamp(
        _ db: Database, of replica: Int64, after sequence: Int64, upTo bound: Int64
    ) throws -> Int64 {
        try ["_sync_row", "_sync_cell"].map { table in
            try Int64.fetchOne(
                db, sql: "SELECT max(hlc) FROM \(table) WHERE sid = ? AND oseq > ? AND hlc <= ?",
                arguments: [replica, sequence, bound]) ?? 0
        }.reduce(0, max)
    }

    /// Copies the version of a column to another one, as a change of another replica.
    static func copyCell(
        _ db: Database, row: Int64, from column: Int, to target: Int, of replica: Int64, as sequence: Int64
    ) throws {
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO _sync_cell (r, col, hlc, sid, oseq)
                SELECT r, ?1, min(hlc + 1, \(AdmissionLimits.timestampMax)), ?2, ?3 FROM _sync_cell WHERE r = ?4 AND col = ?5;
                """, arguments: [target, replica, sequence, row, column])
    }

    /// Lets a column have been written earlier than its version says, by the same replica.
    static func setBack(
        _ db: Database, row: Int64, column: Int, to timestamp: Int64, _ sequence: Int64
    ) throws {
        try db.execute(
            sql: "UPDATE _sync_cell SET hlc = ?, oseq = ? WHERE r = ? AND col = ?",
            arguments: [timestamp, sequence, row, column])
    }

    /// Gives later changes of a replica to the rows of `temp._sync_held` another number. One by one: for a list of rows, SQLite
    /// reads all that are known where statistics are of a time when these were few.
    static func renumberHeld(_ db: Database, of own: Int64, as number: Int64) throws {
        let held = try Row.fetchAll(db, sql: "SELECT r, oseq FROM temp._sync_held")
        for table in ["_sync_row", "_sync_cell"] {
            let update = try db.makeStatement(
                sql: "UPDATE \(table) SET oseq = ?1 WHERE r = ?2 AND +sid = ?3 AND oseq > ?4")
            for row in held {
                let (version, known): (Int64, Int64) = (
                    try row.decode(atIndex: 0), try row.decode(atIndex: 1)
                )
                try update.execute(arguments: [number, version, own, known])
            }
        }
    }

    // MARK: Columns

    /// Gives a column the versions that stand when two columns become one. They are in `temp._sync_union` (see
    /// ``ColumnUnion``).
    static func replaceWithWinnersOfUnion(_ db: Database, of column: Int) throws {
        try db.execute(
            sql: """
                DELETE FROM _sync_cell
                WHERE col = :column AND r IN (SELECT r FROM temp._sync_union WHERE wins AND oseq IS NULL);
                INSERT OR REPLACE INTO _sync_cell (r, col, hlc, sid, oseq)
                SELECT r, :column, hlc, sid, oseq FROM temp._sync_union WHERE wins AND oseq IS NOT NULL;
                """, arguments: ["column": column])
    }

    /// Forgets the versions of a column.
    static func forget(_ db: Database, column: Int, of table: Int64) throws {
        try db.execute(
            sql: "DELETE FROM _sync_cell WHERE col = ? AND r IN (SELECT r FROM _sync_row WHERE tbl = ?)",
            arguments: [column, table])
    }

    /// Forgets the version of a column of a row.
    static func forget(_ db: Database, column: Int, ofRow row: Int64) throws {
        try db.execute(sql: "DELETE FROM _sync_cell WHERE r = ? AND col = ?", arguments: [row, column])
    }
}
