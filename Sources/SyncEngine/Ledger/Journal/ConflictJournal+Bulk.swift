import CipherStore
import SyncWire

/// What comes into the journal, is closed in it and leaves it by statements of their own, most of them for many rows.
extension ConflictJournal {

    // MARK: Adding

    /// Adds the values of this replica that differ from the ones that wait for a column that is here again. Those that wait come
    /// first: the table can have any number of rows of which nothing waits.
    static func appendDifferences(
        _ db: Database, of column: SyncedTable.Column, in table: SyncedTable, at milliseconds: Int64
    ) throws {
        let name = "t.\(column.name.quotedDatabaseIdentifier)"
        let key = "t.\(table.key.quotedDatabaseIdentifier)"
        try db.execute(
            sql: """
                INSERT INTO _sync_conflict (at, tbl, pk, col, val, hlc, sid, won, why, life, won_hlc)
                SELECT :now, s.tbl, s.pk, s.col, \(name), 0, (SELECT self FROM _sync_state),
                    coalesce(c.sid, r.sid), 'newer', r.cl, coalesce(c.hlc, r.hlc)
                FROM _sync_shadow AS s
                CROSS JOIN \(table.qualifiedName) AS t ON \(key) = s.pk AND \(key) = s.pk COLLATE BINARY
                CROSS JOIN _sync_row AS r ON r.tbl = s.tbl AND r.pk = s.pk
                LEFT JOIN _sync_cell AS c ON c.r = r.r AND c.col = s.col
                WHERE s.tbl = :table AND s.col = :column
                  AND \(ValueComparison.differs(name, "s.val"))
                """,
            arguments: ["now": milliseconds, "table": table.number, "column": column.number])
    }

    /// Adds values of this replica, which nobody knows the time of, that lose against those of peers.
    ///
    /// The rows come first, and their key loses its type (see ``SyncedTable/untypedKey(of:)``): SQLite would read all rows that
    /// are known of the table for each of them. They have no order: SQLite would hold all values in memory to sort them.
    ///
    /// - parameters:
    ///     - value: The value, as SQL over the rows.
    ///     - rows: The rows, as SQL from FROM on.
    ///     - key: Their keys, as SQL over the rows.
    ///     - condition: Which of them, as SQL.
    static func appendOwn(
        _ db: Database, _ value: String, of column: Int, in table: Int64, rows: String, key: String,
        where condition: String, at milliseconds: Int64
    ) throws {
        try db.execute(
            sql: """
                INSERT INTO _sync_conflict (at, tbl, pk, col, val, hlc, sid, won, why, life, won_hlc)
                SELECT :now, :table, \(key), :column, \(value), 0, (SELECT self FROM _sync_state),
                    coalesce(c.sid, r.sid), 'newer', r.cl, coalesce(c.hlc, r.hlc)
                \(rows) CROSS JOIN _sync_row AS r ON r.tbl = :table AND r.pk = +\(key)
                LEFT JOIN _sync_cell AS c ON c.r = r.r AND c.col = :column
                WHERE \(condition)
                """,
            arguments: ["now": milliseconds, "table": table, "column": column])
    }

    /// Adds the values that lose when two columns become one, when another replica wrote them. They stand in
    /// `temp._sync_union` (see ``ColumnUnion``).
    static func appendLosersOfUnion(
        _ db: Database, of column: Int, in table: Int64, at milliseconds: Int64
    ) throws {
        try db.execute(
            sql: """
                INSERT INTO _sync_conflict (at, tbl, pk, col, val, hlc, sid, won, why, life, won_hlc)
                SELECT ?, ?, pk, ?, CASE WHEN wins THEN older ELSE newer END,
                    CASE WHEN wins THEN other_hlc ELSE hlc END, CASE WHEN wins THEN other_sid ELSE sid END,
                    CASE WHEN wins THEN sid ELSE other_sid END, 'newer', cl, CASE WHEN wins THEN hlc ELSE other_hlc END
                FROM temp._sync_union
                WHERE sid <> other_sid AND \(ValueComparison.differs("newer", "older"))
                """, arguments: [milliseconds, table, column])
    }

    /// Adds the value of a cell that is older than the last write of its row, unless that is the default.
    ///
    /// - parameters:
    ///     - shown: What the user's table `t` shows, as SQL; NULL if nothing.
    ///     - join: Joins that table to the row `r`, as SQL; empty where there is none.
    ///     - standard: The default of the column, as SQL.
    static func appendOutlived(
        _ db: Database, row: Int64, column: Int, shown: String, join: String, default standard: String
    ) throws {
        let value = "CASE WHEN s.tbl IS NULL THEN \(shown) ELSE s.val END"
        try db.execute(
            sql: """
                INSERT INTO _sync_conflict (at, tbl, pk, col, val, hlc, sid, won, why, life, won_hlc)
                SELECT a.clock >> 16, r.tbl, r.pk, c.col, \(value), c.hlc, c.sid, r.sid, 'newer', r.cl, r.hlc
                FROM _sync_state AS a JOIN _sync_row AS r ON r.r = :row
                JOIN _sync_cell AS c ON c.r = r.r AND c.col = :column
                LEFT JOIN _sync_shadow AS s ON s.tbl = r.tbl AND s.pk = r.pk AND s.col = c.col
                \(join) WHERE \(value) IS NOT NULL AND \(ValueComparison.differs("(\(value))", "(\(standard))"))
                """, arguments: ["row": row, "column": column])
    }

    /// Adds the parked values that local writes replace (see ``Parking/listReplacedByFold(_:after:)``): whoever wrote
    /// here could not see them.
    ///
    /// - parameter own: The number of this replica.
    static func appendReplacedByFold(_ db: Database, own: Int64, at milliseconds: Int64) throws {
        try db.execute(
            sql: """
                INSERT INTO _sync_conflict (at, tbl, pk, col, val, hlc, sid, won, why, life, won_hlc)
                SELECT \(milliseconds), s.tbl, s.pk, s.col, s.val,
                    coalesce(c.hlc, r.hlc), coalesce(c.sid, r.sid), \(own),
                    CASE WHEN EXISTS (
                        SELECT 1 FROM temp._sync_fold AS t WHERE t.tbl = +s.tbl AND t.pk = s.pk AND t.turns > 0)
                    THEN 'deleted' ELSE 'newer' END, r.cl, \(milliseconds << 16)
                FROM temp._sync_replaced AS x
                CROSS JOIN _sync_shadow AS s ON s.tbl = x.tbl AND s.pk = x.pk AND s.col = x.col
                CROSS JOIN _sync_row AS r ON r.tbl = s.tbl AND r.pk = s.pk
                LEFT JOIN _sync_cell AS c ON c.r = r.r AND c.col = s.col
                WHERE s.col >= 0 AND s.why <> '\(KeptReason.dropped)';
                """)
    }

    /// Adds a value of a row that is gone, for the row to be restored as a whole, unless the journal has one of its
    /// column.
    ///
    /// - parameter conflict: The number of a conflict of the same row.
    static func appendRest(
        _ db: Database, _ value: WireValue, column: Int, beside conflict: Int64, at milliseconds: Int64
    ) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO _sync_conflict (at, tbl, pk, col, val, hlc, sid, won, why, life, won_hlc)
                SELECT ?1, j.tbl, j.pk, ?2, ?3, 0, s.self, j.won, 'row', j.life, j.won_hlc
                FROM _sync_conflict AS j JOIN _sync_state AS s WHERE j.id = ?4 AND NOT EXISTS (
                    SELECT 1 FROM _sync_conflict AS o
                    WHERE o.tbl = j.tbl AND o.pk = j.pk AND o.col = ?2 AND o.life = j.life)
                """)
        statement.reset()
        let raw = statement.sqliteStatement
        _ = RawBinding.int64(raw, 1, milliseconds)
        _ = RawBinding.int64(raw, 2, Int64(column))
        value.bind(raw, 3)
        _ = RawBinding.int64(raw, 4, conflict)
        while try statement.step() {}
        statement.reset()
    }

    // MARK: Custom policies

    private static let replicaNumber = "(SELECT sid FROM _sync_replica WHERE rid = ?)"

    /// Keeps both values of an open conflict, because the merge policy of its column failed.
    ///
    /// - parameters:
    ///     - won: The value that won.
    ///     - life: The life of the row whose values lost.
    static func markMergeFailed(
        _ db: Database, _ conflict: MergePlan.Conflict, won: WireValue, life: Int64, in table: Int64,
        _ key: DatabaseValue, at milliseconds: Int64
    ) throws {
        let failed = Conflict.Reason.mergeFailed.rawValue
        try db.execute(
            sql: """
                UPDATE _sync_conflict SET why = ?
                WHERE tbl = ? AND pk = ? AND col = ? AND hlc = ? AND sid = \(replicaNumber) AND resolved IS NULL
                """,
            arguments: [
                failed, table, key, conflict.column, conflict.lostStamp.timestamp.rawValue,
                conflict.lostStamp.replica.data,
            ])
        try db.execute(
            sql: """
                INSERT INTO _sync_conflict (at, tbl, pk, col, val, hlc, sid, won, why, life, won_hlc)
                SELECT ?, ?, ?, ?, ?, ?, p.sid, p.sid, ?, ?, ? FROM _sync_replica AS p WHERE p.rid = ?
                """,
            arguments: [
                milliseconds, table, key, conflict.column, won.databaseValue,
                conflict.winner.timestamp.rawValue, failed, life, conflict.winner.timestamp.rawValue,
                conflict.winner.replica.data,
            ])
    }

    /// Closes the open conflicts of one lost value as merged.
    ///
    /// - returns: How many there were.
    static func closeMerged(
        _ db: Database, _ lost: Stamp, column: Int, in table: Int64, _ key: DatabaseValue,
        at milliseconds: Int64
    ) throws -> Int64 {
        try db.execute(
            sql: """
                UPDATE _sync_conflict SET resolved = ?, how = ?
                WHERE tbl = ? AND pk = ? AND col = ? AND hlc = ? AND sid = \(replicaNumber) AND resolved IS NULL
                """,
            arguments: [
                milliseconds, Conflict.Resolution.merged.rawValue, table, key, column,
                lost.timestamp.rawValue, lost.replica.data,
            ])
        return Int64(db.changesCount)
    }

    // MARK: Closing

    /// Closes those of some conflicts that are open.
    static func close(
        _ db: Database, _ ids: [Int64], _ resolution: Conflict.Resolution, at milliseconds: Int64
    ) throws {
        try db.execute(
            sql: """
                UPDATE _sync_conflict SET resolved = ?, how = ?
                WHERE id IN (\(ids.map { String($0) }.joined(separator: ", "))) AND resolved IS NULL
                """, arguments: [milliseconds, resolution.rawValue])
    }

    /// Closes the rest of rows of which nothing is open any more.
    static func closeRests(_ db: Database, at milliseconds: Int64) throws {
        try db.execute(
            sql: """
                UPDATE _sync_conflict SET resolved = ?, how = 'kept'
                WHERE why = 'row' AND resolved IS NULL AND NOT EXISTS (
                    SELECT 1 FROM _sync_conflict AS o WHERE o.tbl = _sync_conflict.tbl AND o.pk = _sync_conflict.pk
                      AND o.life = _sync_conflict.life AND o.why <> 'row' AND o.resolved IS NULL)
                """, arguments: [milliseconds])
    }

    /// Lets conflicts of a column be those of another one, as which it turns out.
    static func renumber(_ db: Database, column absent: Int, to column: Int, in table: Int64) throws {
        try db.execute(
            sql: "UPDATE _sync_conflict SET col = :column WHERE tbl = :table AND col = :absent",
            arguments: ["table": table, "absent": absent, "column": column])
    }

    // MARK: Dropping

    /// What is dropped: conflicts that are open, or that somebody dealt with.
    enum State {
        case open, resolved

        fileprivate var condition: String { self == .open ? "resolved IS NULL" : "resolved IS NOT NULL" }
        /// Since when they are that.
        fileprivate var time: String { self == .open ? "at" : "resolved" }
    }

    /// Drops what is older than a bound, and in the resolved state the rests of rows too.
    ///
    /// - returns: How many conflicts there were, the rests of rows apart.
    static func remove(_ db: Database, _ state: State, before bound: Int64) throws -> Int64 {
        try db.execute(
            sql: "DELETE FROM _sync_conflict WHERE \(state.condition) AND why <> 'row' AND \(state.time) < ?",
            arguments: [bound])
        let count = Int64(db.changesCount)
        if state == .resolved {
            try db.execute(
                sql:
                    "DELETE FROM _sync_conflict WHERE \(state.condition) AND why = 'row' AND \(state.time) < ?",
                arguments: [bound])
        }
        return count
    }

    /// Drops all but the latest ones.
    ///
    /// - returns: How many conflicts there were, the rests of rows apart.
    static func remove(_ db: Database, _ state: State, beyond count: Int64) throws -> Int64 {
        try db.execute(
            sql: """
                DELETE FROM _sync_conflict WHERE id IN (
                    SELECT id FROM _sync_conflict WHERE \(state.condition) AND why <> 'row'
                    ORDER BY \(state.time) DESC, id DESC LIMIT -1 OFFSET ?)
                """, arguments: [count])
        return Int64(db.changesCount)
    }

    /// Drops the open rests of rows of which no conflict is open.
    static func removeRests(_ db: Database) throws {
        try db.execute(
            sql: """
                DELETE FROM _sync_conflict WHERE why = 'row' AND resolved IS NULL AND NOT EXISTS (
                    SELECT 1 FROM _sync_conflict AS o WHERE o.tbl = _sync_conflict.tbl AND o.pk = _sync_conflict.pk
                      AND o.life = _sync_conflict.life AND o.why <> 'row' AND o.resolved IS NULL)
                """)
    }
}
