import CipherStore

/// Keeps the tracking of a store in step with its schema, in the transaction of
/// each change.
///
/// Its class is looked up by name (see `Database.schemaObservers()`), so that it is
/// there for an app that migrates its store before it makes a ``Synchronizer``.
///
/// What a migration writes to rows that exist is no edit by a user: each replica
/// runs the migration, sooner or later, on what it has. Such a write is stamped just
/// above the one that it replaces, and not with the present time. So an edit that a
/// user made elsewhere meanwhile wins over it, whichever replica migrates last.
package final class TrackedSchema: StoreSchemaTracker {
    private let environment: SyncEnvironment

    /// The last log entry before the migration that runs.
    private var migrationStart: Int64?

    /// The tables that were dropped in the open transaction.
    private var droppedTables: Set<Int64> = []

    /// Makes a tracker that uses the system's clock.
    package convenience init() { self.init(environment: .system) }

    init(environment: SyncEnvironment) { self.environment = environment }

    private func tracking(_ db: Database) throws -> TableTracking? {
        guard try StoreMetadata.load(db) != nil else { return nil }
        return TableTracking(db: db, environment: environment, droppedTables: droppedTables)
    }

    /// Brings the tracking up to the schema, unless a table can't be tracked as it
    /// is: the change that is about to be made may be the cure. The end of the
    /// migration, or of the change, insists.
    ///
    /// - returns: Whether anything had changed, or nil when a table stands against it.
    private func refreshIfPossible(_ tracking: TableTracking) throws -> Bool? {
        do {
            return try tracking.refresh()
        } catch let error as SyncError where [.unsuitableKey, .unsuitableTable].contains(error.code) {
            return nil
        }
    }

    // MARK: Migrations

    package func databaseWillMigrate(_ db: Database, identifier: String) throws {
        guard let tracking = try tracking(db) else { return }
        if try refreshIfPossible(tracking) == true { try tracking.unpark() }
        try FoldedStore.fold(db, environment)
        migrationStart = try Int64.fetchOne(db, sql: "SELECT coalesce(max(seq), 0) FROM _sync_log")
        forgetAtTheEnd(of: db)
    }

    package func databaseDidMigrate(_ db: Database, identifier: String) throws {
        guard try tracking(db) != nil else { return }
        try markRewrites(db)
        try FoldedStore.refresh(db, environment, droppedTables: droppedTables)
        // The transaction ends here: what was not rebuilt is gone for good.
        try TableTracking(db: db, environment: environment).unpark()
        migrationStart = nil
    }

    /// Marks what the migration has written so far.
    private func markRewrites(_ db: Database) throws {
        guard let migrationStart else { return }
        try ChangeLog(db).markRewrites(after: migrationStart)
    }

    /// The next transaction is another one, also after an error.
    private func forgetAtTheEnd(of db: Database) {
        let forget = { (_: Database) in
            self.migrationStart = nil
            self.droppedTables = []
        }
        db.afterNextTransaction(onCommit: forget, onRollback: forget)
    }

    // MARK: Tables

    package func database(_ db: Database, willAlter table: String, by change: TableChange) throws {
        guard change != .addTrigger, !MetadataSchema.isReserved(table), let tracking = try tracking(db)
        else { return }
        try markRewrites(db)
        guard try refreshIfPossible(tracking) != nil else { return }
        let known = try SyncedTable.loadAll(db).first {
            $0.isTracked && $0.name.isSameIdentifier(as: table)
        }
        guard let known else { return }
        switch change {
        case .drop:
            try FoldedStore.fold(db, environment)
            try tracking.keepRows(of: known)
            droppedTables.insert(known.number)
            forgetAtTheEnd(of: db)
        case .dropColumn(let name):
            guard
                let column = known.presentColumns.first(where: { $0.name.isSameIdentifier(as: name) })
            else { return }
            try FoldedStore.fold(db, environment)
            try tracking.keepValues(of: column, in: known)
        case .renameColumn, .rename:
            // What was written under the old names gets its versions by them.
            try FoldedStore.fold(db, environment)
        case .addColumn, .addTrigger:
            break
        }
    }

    package func database(_ db: Database, didAlter table: String, by change: TableChange) throws {
        guard !MetadataSchema.isReserved(table) else { return }
        // The new one must not keep those that log from running. Nothing else depends on it.
        guard change != .addTrigger else { return try CaptureOrder(db: db).restore() }
        guard let tracking = try tracking(db) else { return }
        guard migrationStart == nil else {
            _ = try refreshIfPossible(tracking)
            return
        }
        // A migration may still fill a new column, which must not hide what is parked.
        if try tracking.refresh() { try tracking.unpark() }
    }
}
