import CipherStore

extension Synchronizer {
    /// How long the journal keeps conflicts.
    ///
    /// - throws: ``SyncError``, `DatabaseError`.
    public func conflictRetention() throws -> ConflictRetention {
        try upgradeIfNeeded()
        return try database.read { try ConflictRetention.load($0) }
    }

    /// Sets how long the journal keeps conflicts, and drops older ones at once.
    ///
    /// - throws: ``SyncError``, `DatabaseError`.
    public func setConflictRetention(_ retention: ConflictRetention) throws {
        try upgradeIfNeeded()
        try database.write { db in
            try retention.store(db)
            try retention.prune(db, now: environment.milliseconds())
        }
    }

    /// How many open conflicts were dropped, because bounds are set for them.
    ///
    /// - throws: ``SyncError``, `DatabaseError`.
    public func droppedConflictCount() throws -> Int64 {
        try upgradeIfNeeded()
        return try database.read { try ConflictRetention.droppedCount($0) }
    }
}
