import CipherStore
import Foundation
import SyncWire

/// How bases and shares are written of many rows at once, and outside of a merge.
extension CounterStore {
    // MARK: Bases

    /// Takes what the rows of a table hold now for the bases of a new counter.
    ///
    /// The order of the tables is fixed, so that old statistics don't let SQLite read one for each row of the other.
    ///
    /// - parameter present: What the table calls the column, if that is not in the metadata yet.
    static func begin(
        _ db: Database, column: Int, named present: String? = nil, in table: SyncedTable
    ) throws {
        let known = table.columns.first { $0.number == column && $0.isPresent }?.name
        let name = known.map { present ?? $0 }
        if table.hasRows, let name {
            let shown = "t.\(name.quotedDatabaseIdentifier)"
            try db.execute(
                sql: """
                    INSERT OR REPLACE INTO _sync_part (r, col, val)
                    SELECT r.r, \(column), \(shown) FROM \(table.qualifiedName) AS t
                    CROSS JOIN _sync_row AS r ON r.tbl = \(table.number) AND r.pk = \(table.untypedKey(of: "t"))
                    WHERE r.cl & 1
                    """)
        }
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO _sync_part (r, col, val)
                SELECT r.r, s.col, s.val FROM _sync_shadow AS s CROSS JOIN _sync_row AS r ON r.tbl = s.tbl AND r.pk = s.pk
                WHERE s.tbl = ? AND s.col = ? AND r.cl & 1
                """, arguments: [table.number, column])
    }

    /// Forgets the bases and shares of rows that begin anew.
    ///
    /// - parameter isNew: The condition for these rows `r` of the metadata, as SQL.
    static func removeParts(_ db: Database, ofRowsWhere isNew: String) throws {
        try db.execute(
            sql: "DELETE FROM _sync_part WHERE r IN (SELECT r.r FROM _sync_row AS r WHERE \(isNew))")
    }

    /// Takes what rows hold that were inserted for the bases of a counter. These are few, of all that the table has, so they are
    /// found by the condition alone.
    ///
    /// - parameter isNew: The condition for these rows `r` of the metadata, as SQL. Each column of it names its table, for the
    ///   user's may have one of the same name.
    static func begin(
        _ db: Database, _ column: SyncedTable.Column, in table: SyncedTable, ofRowsWhere isNew: String
    ) throws {
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO _sync_part (r, col, val)
                SELECT r.r, \(column.number), t.\(column.name.quotedDatabaseIdentifier) FROM _sync_row AS r
                CROSS JOIN \(table.qualifiedName) AS t ON \(table.keyMatch("r.pk", of: "t"))
                WHERE \(isNew) AND +r.tbl = \(table.number) AND r.cl & 1
                """)
    }

    /// Takes what is parked of rows that were written whole for the bases of a counter that the table does not have.
    ///
    /// - parameters:
    ///     - column: The number of the counter.
    ///     - isNew: The condition for these rows `r` of the metadata, as SQL.
    static func beginParked(
        _ db: Database, _ column: Int, of table: Int64, ofRowsWhere isNew: String
    ) throws {
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO _sync_part (r, col, val)
                SELECT r.r, s.col, s.val FROM _sync_row AS r
                CROSS JOIN _sync_shadow AS s ON s.tbl = r.tbl AND s.pk = r.pk AND s.col = \(column)
                WHERE \(isNew) AND +r.tbl = \(table) AND r.cl & 1
                """)
    }

    /// Takes what waits of rows that exist for the bases of their counters.
    ///
    /// - parameter rows: The name of a temporary table with the numbers of the rows as column `r`.
    static func beginParked(_ db: Database, ofRowsIn rows: String) throws {
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO _sync_part (r, col, val)
                SELECT r.r, s.col, s.val FROM temp.\(rows) AS h CROSS JOIN _sync_row AS r ON r.r = h.r
                CROSS JOIN _sync_shadow AS s ON s.tbl = r.tbl AND s.pk = r.pk
                CROSS JOIN _sync_policy AS y ON y.tbl = s.tbl AND y.col = s.col
                WHERE r.cl & 1 AND y.kind IN (\(ColumnPolicy.Kind.separateWords))
                """)
    }

    /// Gives the column that stays the base of the later write, of two columns that are united. Runs while
    /// `temp._sync_union` lists the rows that have both, and who wins.
    ///
    /// - parameter absent: The column that is given up.
    static func uniteBases(_ db: Database, _ absent: Int, into column: Int, in table: Int64) throws {
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO _sync_part (r, col, val)
                SELECT u.r, :column, CASE WHEN p.r IS NULL THEN u.newer ELSE p.val END FROM temp._sync_union AS u
                LEFT JOIN _sync_part AS p ON p.r = u.r AND p.col = :absent WHERE u.wins;
                DELETE FROM _sync_part WHERE col = :absent AND r IN (SELECT r FROM _sync_row WHERE tbl = :table);
                """, arguments: ["table": table, "absent": absent, "column": column])
    }

    // MARK: Shares

    /// Gives a row a share in another column that is what it is in one.
    ///
    /// - parameters:
    ///     - column: The column that has the share.
    ///     - target: The column that gets it.
    static func copyShare(_ db: Database, row: Int64, from column: Int, to target: Int) throws {
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO _sync_part (r, col, val)
                SELECT r, ?1, val FROM _sync_part WHERE r = ?2 AND col = ?3
                """, arguments: [target, row, column])
    }

    /// Replaces a share of a row.
    static func setShare(_ db: Database, _ share: CounterShare, row: Int64, column: Int) throws {
        try db.execute(
            sql: "UPDATE _sync_part SET val = ? WHERE r = ? AND col = ?",
            arguments: [Data(share.bytes), row, column])
    }

    /// Forgets a share of a row.
    static func removeShare(_ db: Database, row: Int64, column: Int) throws {
        try db.execute(
            sql: "DELETE FROM _sync_part WHERE r = ? AND col = ?", arguments: [row, column])
    }
}
