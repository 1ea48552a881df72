import CipherStore

/// Deletes rows that peers deleted while their tables were not tracked.
///
/// They are deleted as by a program: the actions of foreign keys run, and the triggers note what these take along as
/// changes of this replica. A row stays, and is there again for the peers, when something refers to it that does not go
/// itself, or when the actions would delete or change a row that peers wrote (``ProtectedRows``). Rows that refer to each
/// other in a circle by keys that are checked at the end of the transaction go if all of the rows do.
struct RefusableDeletions {
    typealias Row = (table: SyncedTable, key: DatabaseValue)

    let db: Database
    let rows: [Row]
    let protected: ProtectedRows

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
                let spares = try protected.areSpared {
                    try db.execute(
                        sql: "DELETE FROM \(table.qualifiedName) WHERE \(table.keyMatch("?1"))",
                        arguments: [key])
                }
                isGone = spares && (isForced || !db.hasPendingForeignKeyViolations)
                return isGone ? .commit : .rollback
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            // Something here refers to it.
            return false
        }
        return isGone
    }
}
