import CipherStore

/// How versions are repaired that no store takes in any more (see ``ImplausibleMetadata``), and how deletions are forgotten.
extension VersionTable {
    /// Takes rows that are in a life beyond the last one back to the last ones from which they can begin another.
    static func repairLives(_ db: Database) throws {
        let last = AdmissionLimits.lifeMax
        try db.execute(
            sql: """
                UPDATE _sync_row SET cl = CASE WHEN typeof(cl) = 'integer' AND cl & 1 THEN \(last - 3) ELSE \(last - 2) END
                WHERE r IN (SELECT r.r FROM _sync_row AS r WHERE \(ImplausibleMetadata.isLifeBeyond));
                """)
    }

    /// Gives rows versions of this replica as they are: one that exists begins a new life, a deletion is told anew.
    ///
    /// - parameters:
    ///     - rows: The name of a temporary table with their numbers as column `r`.
    ///     - number: The number of the one change that all of them are.
    /// - returns: How many there were.
    static func rewrite(_ db: Database, rowsIn rows: String, as number: Int64, _ stamps: StampRule) throws
        -> Int64
    {
        try turn(
            db, stamps,
            """
            SELECT f.r, \(life), \(turnedStamp), \(number)
            FROM (SELECT v.r, v.cl, v.cl & 1 AS alive, 1 AS turns, \(stamps.sql("\(stamps.now)")) AS stamp
                FROM temp.\(rows) AS h CROSS JOIN _sync_row AS v ON v.r = h.r) AS f
            CROSS JOIN _sync_row AS r ON r.r = f.r
            """)
    }

    // MARK: Deletions

    /// Forgets the deletions below the floor.
    ///
    /// - returns: How many there were.
    static func forgetDeletions(_ db: Database) throws -> Int64 {
        try db.execute(
            sql: """
                DELETE FROM _sync_row WHERE NOT cl & 1 AND oseq <=
                    coalesce((SELECT f.oseq FROM _sync_floor AS f WHERE f.sid = _sync_row.sid), 0)
                """)
        return Int64(db.changesCount)
    }

    /// Forgets the deletions below the floor of one table.
    ///
    /// - returns: How many there were.
    static func forgetDeletions(_ db: Database, of table: Int64) throws -> Int64 {
        try db.execute(
            sql: """
                DELETE FROM _sync_row WHERE tbl = ? AND NOT cl & 1 AND oseq <=
                    coalesce((SELECT c.floor FROM _sync_coverage AS c
                        WHERE c.tbl = _sync_row.tbl AND c.sid = _sync_row.sid), 0)
                """, arguments: [table])
        return Int64(db.changesCount)
    }
}
