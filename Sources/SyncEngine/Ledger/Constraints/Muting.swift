import CipherStore

/// The time in which the engine writes the user's tables for a peer, or to show and hide rows.
///
/// The triggers that log changes are mute then, because these are no changes of this replica; and the user's triggers
/// that write to tracked tables are out of the way (``UserTriggers``). It begins and ends in one transaction.
struct Muting {
    private let db: Database
    private let triggers: UserTriggers
    /// SQLite's number of the schema before triggers of the user's were put out of the way.
    let schemaVersion: Int64

    /// Mutes the triggers.
    init(_ db: Database) throws {
        self.db = db
        assert(db.isInsideTransaction, "others would see the triggers mute")
        try StoreMetadata.beginApplying(db)
        try debugAssert(StoreMetadata.isApplying(db))
        schemaVersion = try SettlementMark.schemaVersion(db)
        triggers = try UserTriggers.suspend(db, tables: SyncedTable.loadAll(db))
    }

    /// Lets the triggers run again, and tells observers of this connection what SQLite did not tell them.
    ///
    /// - parameters:
    ///     - clock: What the clock is at least, because of what was written.
    ///     - hasChanges: Whether rows were written.
    ///     - mark: Called when the schema is what it was before, to note its version.
    func end(clock: Int64 = 0, hasChanges: Bool, mark: () throws -> Void = {}) throws {
        assert(db.isInsideTransaction, "the transaction that was begun muted is over")
        try triggers.restore()
        try mark()
        try StoreMetadata.endApplying(db, clock: clock)
        try debugAssert(!StoreMetadata.isApplying(db))
        guard hasChanges else { return }
        // SQLite reports the rows of all other tables while these are written.
        for table in try SyncedTable.loadAll(db) where table.isTracked {
            if try !db.primaryKey(table.name).tableHasRowID { try db.notifyChanges(in: Table(table.name)) }
        }
    }
}
