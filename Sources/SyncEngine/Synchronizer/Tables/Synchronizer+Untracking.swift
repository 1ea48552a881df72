import CipherStore
import SyncWire

extension Synchronizer {
    /// Takes tables out of the synchronization. Their rows stay. Local changes to them are no longer sent,
    /// and changes of other replicas are no longer written into them.
    ///
    /// Changes of other replicas wait beside the table, with a copy of its rows, so that this replica can
    /// still pass them on. ``track(_:policies:)`` merges all of it again. Of a value that was changed on both
    /// sides, the other replicas' version stands, and the local one is kept as a conflict. Rows that were
    /// deleted here come back.
    ///
    /// - throws: ``SyncError``: `noSuchTable` for a table that is not tracked; `unsuitableScope` for a table
    ///   that is held only in part. No table is taken out then. `DatabaseError`.
    public func untrack(_ tables: [String]) throws {
        try database.write { db in
            try db.withoutReportingSchemaChanges {
                try TableTracking(db: db, environment: environment).untrack(tables)
            }
        }
    }
}
