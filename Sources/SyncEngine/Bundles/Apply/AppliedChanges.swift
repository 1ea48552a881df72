import CipherStore

extension BundleApplier {
    /// Tells observers of this connection about tables without rowids. SQLite
    /// tells them about the rows of all others while these are written.
    static func notifyUntoldChanges(_ db: Database) throws {
        for table in try SyncedTable.loadAll(db) where table.isTracked {
            if try !db.primaryKey(table.name).tableHasRowID { try db.notifyChanges(in: Table(table.name)) }
        }
    }
}
