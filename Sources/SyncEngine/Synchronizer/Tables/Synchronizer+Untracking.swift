import CipherStore
import SyncWire

extension Synchronizer {
    /// Takes tables out of the synchronization. Their rows stay; nothing that is written to them is sent any more,
    /// and nothing of other replicas is written into them.
    ///
    /// What other replicas change waits beside the table, with a copy of its rows, so that this replica goes on to serve
    /// others. ``track(_:policies:)`` merges all of it again: of a value that was changed on both sides, the other
    /// replicas' stands and the one of here is kept as a conflict; rows that were deleted here come back.
    ///
    /// - throws: ``SyncError``: `noSuchTable` for a table that is not tracked; `unsuitableScope` for one of which some
    ///   rows only are held. No table is taken out then. ``DatabaseError``.
    public func untrack(_ tables: [String]) throws {
        try database.write { db in
            try db.withoutReportingSchemaChanges {
                try TableTracking(db: db, environment: environment).untrack(tables)
            }
        }
    }
}
