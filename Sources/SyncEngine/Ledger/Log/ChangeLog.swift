import CipherStore
import SyncWire

/// The log of what was written to tracked tables, `_sync_log`. Whatever appends to it, or drops its oldest entries, does
/// so here; the triggers, which run in any program, have their text from here too.
struct ChangeLog {
    /// The operations of the log. An update's group of columns is in the bits above.
    enum Operation {
        static let insert = 1
        static let update = 2
        static let delete = 3
        /// An update by a migration, of which an edit by a user is not to lose
        /// (see ``TrackedSchema``).
        static let rewrite = 4
        static let groupShift = 4

        /// Whether a number is one of them, whatever the group of the columns.
        static func isKnown(_ operation: Int) -> Bool { (insert...rewrite).contains(operation & 15) }
    }

    /// How many columns one log entry's mask covers.
    static let columnsPerGroup = 60

    private let db: Database

    init(_ db: Database) { self.db = db }

    /// How many changes this replica made after one of them.
    static func changeCount(_ db: Database, after last: Int64) throws -> Int64 {
        try Int64.fetchOne(
            db, sql: "SELECT count(*) FROM _sync_log WHERE seq > ? AND op <> 0", arguments: [last]) ?? 0
    }

    // MARK: Appending

    /// The statement by which a trigger appends an entry.
    ///
    /// - parameters:
    ///     - conflictClause: What the insertion does when a constraint fails, as SQL; empty for what the outer statement says.
    ///     - operation: One of ``Operation``, with the group of the columns.
    ///     - key: The key of the row, as SQL.
    ///     - mask: The columns of the group, as SQL.
    ///     - milliseconds: The time, as SQL.
    ///     - condition: When there is something to append, as SQL; nil for always.
    static func appendingStatement(
        _ conflictClause: String, _ table: Int64, _ operation: Int, key: String, mask: String,
        at milliseconds: String, condition: String?
    ) -> String {
        assert(Operation.isKnown(operation))
        assert(!key.isEmpty && !mask.isEmpty && !milliseconds.isEmpty)
        return """
            INSERT\(conflictClause) INTO _sync_log (tbl, op, pk, mask, ms)
            SELECT \(table), \(operation), \(key), \(mask), \(milliseconds)\(condition.map { " WHERE \($0)" } ?? "");
            """
    }

    /// The number of the entry that was appended last, as SQL, whatever was inserted elsewhere since.
    static let lastNumber = "(SELECT max(seq) FROM _sync_log)"

    /// Appends an entry for one row.
    ///
    /// - parameters:
    ///     - operation: One of ``Operation``, with the group of the columns.
    ///     - mask: The columns of the group.
    func append(_ operation: Int, _ table: Int64, _ key: RowKey, mask: Int64, at milliseconds: Int64) throws {
        assert(Operation.isKnown(operation), "a fold would not know what entry \(operation) is")
        let statement = try db.cachedStatement(
            sql: "INSERT INTO _sync_log (tbl, op, pk, mask, ms) VALUES (?, ?, ?, ?, ?)")
        let raw = statement.sqliteStatement
        statement.reset()
        _ = RawBinding.int64(raw, 1, table)
        _ = RawBinding.int64(raw, 2, Int64(operation))
        key.value.bind(raw, 3)
        _ = RawBinding.int64(raw, 4, mask)
        _ = RawBinding.int64(raw, 5, milliseconds)
        while try statement.step() {}
        statement.reset()
    }

    /// Appends an operation for the rows of a table that meet a condition.
    ///
    /// - parameters:
    ///     - operation: One of ``Operation``, with the group of the columns.
    ///     - mask: The columns of the group.
    func append(
        _ operation: Int, ofRowsIn table: SyncedTable, mask: Int64, at milliseconds: Int64,
        where condition: String
    ) throws {
        assert(Operation.isKnown(operation))
        try db.execute(
            sql: """
                INSERT INTO _sync_log (tbl, op, pk, mask, ms)
                SELECT ?, ?, \(table.key.quotedDatabaseIdentifier), ?, ?
                FROM \(table.qualifiedName) WHERE \(condition)
                """, arguments: [table.number, operation, mask, milliseconds])
    }

    /// Appends deletions of the rows that have versions, and that are neither in their table nor hidden.
    ///
    /// A row of which only a value waits for a column was in its table, with all its other values.
    func appendDeletions(ofRowsMissingIn table: SyncedTable, at milliseconds: Int64) throws {
        let key = table.key.quotedDatabaseIdentifier
        try db.execute(
            sql: """
                INSERT INTO _sync_log (tbl, op, pk, mask, ms)
                SELECT tbl, \(Operation.delete), pk, 0, ? FROM _sync_row AS r
                WHERE tbl = ? AND cl & 1
                  AND pk NOT IN (SELECT \(key) FROM \(table.qualifiedName) WHERE \(key) IS NOT NULL)
                  AND NOT EXISTS (SELECT 1 FROM _sync_hidden AS h WHERE h.tbl = r.tbl AND h.pk = r.pk)
                """, arguments: [milliseconds, table.number])
    }

    /// Appends the deletions anew of those rows that a temporary table lists and that are deleted. These are looked up: the store
    /// knows any number of others.
    ///
    /// - parameter rows: The name of the temporary table, with columns `tbl` and `pk`.
    func appendDeletions(ofDeadRowsIn rows: String, at milliseconds: Int64) throws {
        try db.execute(
            sql: """
                INSERT INTO _sync_log (tbl, op, pk, mask, ms)
                SELECT e.tbl, \(Operation.delete), e.pk, 0, ?
                FROM temp.\(rows) AS e CROSS JOIN _sync_row AS r ON r.tbl = e.tbl AND r.pk = e.pk
                WHERE NOT r.cl & 1 ORDER BY +r.r;
                """, arguments: [milliseconds])
    }

    /// Appends an entry that stands for no row: it takes a number for changes that get another one.
    ///
    /// - returns: The number.
    func appendMark(at milliseconds: Int64) throws -> Int64 {
        try db.execute(
            sql: "INSERT INTO _sync_log (tbl, op, pk, mask, ms) VALUES (0, 0, x'', 0, ?)",
            arguments: [milliseconds])
        return db.lastInsertedRowID
    }

    // MARK: Changing

    /// Makes rewrites of the updates after an entry: a migration made them.
    func markRewrites(after sequence: Int64) throws {
        try db.execute(
            sql: """
                UPDATE _sync_log SET op = op - \(Operation.update) + \(Operation.rewrite)
                WHERE seq > ? AND op & 15 = \(Operation.update)
                """, arguments: [sequence])
    }

    /// Gives entries the present as their time whose own is none.
    ///
    /// - returns: How many there were.
    func repairTimes(now milliseconds: Int64) throws -> Int64 {
        try db.execute(
            sql: "UPDATE _sync_log SET ms = ? WHERE typeof(ms) NOT IN ('integer', 'real')",
            arguments: [milliseconds])
        return Int64(db.changesCount)
    }

    // MARK: Dropping

    /// Drops the entries before one.
    ///
    /// - returns: How many there were.
    @discardableResult
    func removeEntries(before sequence: Int64) throws -> Int64 {
        try SettlementMark.willDrop(db, entriesBefore: sequence)
        try db.execute(sql: "DELETE FROM _sync_log WHERE seq < ?", arguments: [sequence])
        return Int64(db.changesCount)
    }

    /// Drops the history of another replica, up to the last entry that was folded. That one stays as a mark, because it
    /// numbers the next one.
    func beginAnew(after folded: Int64) throws {
        try SettlementMark.willDrop(db, entriesBefore: folded.addingSaturated(1))
        try removeEntries(before: folded)
        try db.execute(
            sql: "UPDATE _sync_log SET tbl = 0, op = 0, pk = x'', mask = 0 WHERE seq = ?",
            arguments: [folded])
    }
}
