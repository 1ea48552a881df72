import CipherStore

/// Deletes rows that peers deleted while their tables were not tracked.
///
/// They are deleted as by a program: the actions of foreign keys run, and the triggers note what these take along as
/// changes of this replica. A row stays, and is there again for the peers, when something refers to it that does not go
/// itself. Rows that refer to each other in a circle by keys that are checked at the end of the transaction go if all of
/// the rows do.
struct RefusableDeletions {
    let db: Database
    let rows: [(table: SyncedTable, key: DatabaseValue)]

    func run() throws {
        guard !rows.isEmpty else { return }
        let triggers = try UserTriggers.suspend(db, tables: SyncedTable.loadAll(db))
        let wasPending = db.hasPendingForeignKeyViolations
        var isDone = false
        try db.inSavepoint {
            try deleteAll(whateverRefersToThem: true)
            isDone = wasPending || !db.hasPendingForeignKeyViolations
            return isDone ? .commit : .rollback
        }
        // A key that is checked at the end of the transaction would undo all of it there.
        if !isDone { try deleteAll(whateverRefersToThem: false) }
        try triggers.restore()
    }

    /// - parameter isForced: Whether keys do not count that are checked at the end of the transaction.
    private func deleteAll(whateverRefersToThem isForced: Bool) throws {
        var rest = rows
        var count: Int
        repeat {
            count = rest.count
            // What refers to a row can be one of those that come after it.
            rest = try rest.filter { try !delete($0.key, from: $0.table, whateverRefersToIt: isForced) }
        } while !rest.isEmpty && rest.count < count
    }

    /// - returns: Whether the row is gone.
    private func delete(
        _ key: DatabaseValue, from table: SyncedTable, whateverRefersToIt isForced: Bool
    ) throws -> Bool {
        var isGone = false
        do {
            try db.inSavepoint {
                try db.execute(
                    sql: "DELETE FROM \(table.qualifiedName) WHERE \(table.keyMatch("?1"))", arguments: [key])
                isGone = isForced || !db.hasPendingForeignKeyViolations
                return isGone ? .commit : .rollback
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            // Something here refers to it.
            return false
        }
        return isGone
    }
}
