import CipherStore

/// Deletes rows that peers deleted while their tables were not tracked.
///
/// They are deleted as by a program: the actions of foreign keys run, and the triggers note what these take along as
/// changes of this replica. A row stays, and is there again for the peers, when something refers to it that does not go
/// itself, or when the actions would delete or change a row that does not show yet what peers wrote to it: nobody knows
/// whether that one refers to the row. Rows that refer to each other in a circle by keys that are checked at the end of
/// the transaction go if all of the rows do.
struct RefusableDeletions {
    typealias Row = (table: SyncedTable, key: DatabaseValue)

    private let db: Database
    private let rows: [Row]
    /// Whether values wait for columns that are here.
    private let hasWaitingValues: Bool

    init(db: Database, rows: [Row]) throws {
        self.db = db
        self.rows = rows
        hasWaitingValues =
            try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_shadow AS s \(Self.isPresent))")
            == true
    }

    /// - returns: The rows that stay.
    @discardableResult
    func run() throws -> [Row] {
        guard !rows.isEmpty else { return [] }
        let triggers = try UserTriggers.suspend(db, tables: SyncedTable.loadAll(db))
        let wasPending = db.hasPendingForeignKeyViolations
        var isDone = false
        var rest: [Row] = []
        try db.inSavepoint {
            rest = try deleteAll(whateverRefersToThem: true)
            isDone = wasPending || !db.hasPendingForeignKeyViolations
            return isDone ? .commit : .rollback
        }
        // A key that is checked at the end of the transaction would undo all of it there.
        if !isDone { rest = try deleteAll(whateverRefersToThem: false) }
        try triggers.restore()
        return rest
    }

    /// - parameter isForced: Whether keys do not count that are checked at the end of the transaction.
    /// - returns: The rows that stay.
    private func deleteAll(whateverRefersToThem isForced: Bool) throws -> [Row] {
        // What refers to a row was mostly inserted after it, and goes before it.
        var rest = Array(rows.reversed())
        var count: Int
        repeat {
            count = rest.count
            rest = try rest.filter { try !delete($0.key, from: $0.table, whateverRefersToIt: isForced) }
            // A chain in the other order would lose one row in each pass.
            rest.reverse()
        } while !rest.isEmpty && rest.count < count
        return rest
    }

    /// - returns: Whether the row is gone.
    private func delete(
        _ key: DatabaseValue, from table: SyncedTable, whateverRefersToIt isForced: Bool
    ) throws -> Bool {
        var isGone = false
        do {
            try db.inSavepoint {
                let last = try hasWaitingValues ? lastEntry() : nil
                try db.execute(
                    sql: "DELETE FROM \(table.qualifiedName) WHERE \(table.keyMatch("?1"))", arguments: [key])
                isGone = isForced || !db.hasPendingForeignKeyViolations
                if let last, try concernsWaitingValues(after: last) { isGone = false }
                return isGone ? .commit : .rollback
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            // Something here refers to it.
            return false
        }
        return isGone
    }

    // MARK: Values that wait

    /// Of parked values `s`, those that have a column here, as SQL.
    private static let isPresent = """
        JOIN _sync_column AS c ON c.tbl = s.tbl AND c.col = s.col AND c.present = 1
        JOIN _sync_table AS t ON t.tbl = s.tbl AND t.tracked = 1
        """

    private func lastEntry() throws -> Int64 {
        try Int64.fetchOne(db, sql: "SELECT max(seq) FROM _sync_log") ?? 0
    }

    /// Whether what was logged concerns rows of which such values wait.
    private func concernsWaitingValues(after last: Int64) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS(
                    SELECT 1 FROM _sync_log AS l JOIN _sync_shadow AS s ON s.tbl = l.tbl AND s.pk = l.pk \(Self.isPresent)
                    WHERE l.seq > ?)
                """, arguments: [last]) == true
    }
}
