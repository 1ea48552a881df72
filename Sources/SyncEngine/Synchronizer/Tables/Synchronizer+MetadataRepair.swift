import CipherStore
import SyncWire

extension Synchronizer {
    /// Takes out what a peer planted before there were bounds on it: versions of the far future, lives and numbers that no
    /// replica reaches, and replicas, tables and columns that nobody uses. All rows and their values stay.
    ///
    /// Each replica that has such metadata needs it once; what it heals it tells the others as its own change.
    /// ``compact(_:isDryRun:)`` does it, too.
    ///
    /// - throws: ``SyncError``, ``DatabaseError``. Nothing is changed then.
    @discardableResult
    public func repairMetadata() throws -> MetadataRepairReport {
        try database.write { db in
            try TableTracking(db: db, environment: environment).refresh()
            return try MetadataRepair(db: db, environment: environment).run().report
        }
    }
}
