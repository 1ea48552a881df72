import CipherStore
import SyncWire

extension Synchronizer {
    /// Takes out metadata that a peer planted with a program that had no bounds on it: versions of the far
    /// future, lives and numbers that no replica reaches, and replicas, tables and columns without any use.
    /// All rows and their values stay.
    ///
    /// Each replica that has such metadata needs this once. It sends the repaired rows to the others as its
    /// own changes. ``compact(_:isDryRun:)`` does it, too.
    ///
    /// - throws: ``SyncError``, `DatabaseError`. Nothing is changed then.
    @discardableResult
    public func repairMetadata() throws -> MetadataRepairReport {
        try database.write { db in
            try TableTracking(db: db, environment: environment).refreshAnyway()
            return try MetadataRepair(db: db, environment: environment).run().report
        }
    }
}
