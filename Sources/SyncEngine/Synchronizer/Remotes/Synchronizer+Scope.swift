import CipherStore
import SyncWire

extension Synchronizer {
    /// Chooses what is exchanged with a remote, from the next synchronization on.
    ///
    /// The missing changes of tables that are added come with that synchronization, and nothing else comes
    /// again. Tables that are left out keep their rows, which are no longer brought up to date.
    ///
    /// The rows of a table are chosen once for the store, for all remotes. Rows outside the choice are taken
    /// out of the table as soon as the remote has the changes that were made to them here.
    ///
    /// - parameters:
    ///     - scope: All tables, or some of them, each whole or with some rows.
    ///     - remote: The remote, by the name of its transport.
    /// - returns: The tables that were not chosen although foreign keys of chosen tables refer to them. Rows
    ///   whose parents are in these tables are kept and stay hidden.
    /// - throws: ``SyncError`` of code `noSuchTable` for a table that is not known or not tracked,
    ///   `unsuitableScope` for a column or values that rows can't be chosen by, or when other rows of the
    ///   table were chosen for another remote, `reservedName` for a remote called `/`. Nothing changes then.
    @discardableResult
    public func setScope(_ scope: SyncScope, ofRemote remote: String) throws -> [String] {
        try UnnamedRemote.requireOther(remote)
        return try database.write { db in
            try MetadataSchema.upgrade(db)
            try TableTracking(db: db, environment: environment).refresh()
            let store = ScopeStore(db: db)
            try store.set(scope, of: remote)
            return try store.missingParents(of: scope)
        }
    }

    /// Chooses none of the rows of tables for a remote, until ``bringRowsBack(ofRemote:)``. They are taken out as all rows
    /// outside of a choice. Tables that are not exchanged with the remote keep theirs.
    ///
    /// - returns: Whether anything else was chosen before.
    /// - throws: As ``setScope(_:ofRemote:)``. Nothing changes then.
    package func setRowsAside(of tables: [String], ofRemote remote: String) throws -> Bool {
        try UnnamedRemote.requireOther(remote)
        return try database.write { db in
            try MetadataSchema.upgrade(db)
            try TableTracking(db: db, environment: environment).refresh()
            return try RowsSetAside(db: db, environment: environment, remote: remote).begin(tables)
        }
    }

    /// Chooses the rows again that were chosen before ``setRowsAside(of:ofRemote:)``, if that was called. What was
    /// chosen meanwhile stays.
    ///
    /// - throws: As ``setScope(_:ofRemote:)``. Nothing changes then.
    package func bringRowsBack(ofRemote remote: String) throws {
        // Each start asks, and most have nothing to write.
        let isNeeded = try database.read { db in
            try RowsSetAside(db: db, environment: environment, remote: remote).isKept
        }
        guard isNeeded else { return }
        try database.write { db in
            try MetadataSchema.upgrade(db)
            try TableTracking(db: db, environment: environment).refresh()
            try RowsSetAside(db: db, environment: environment, remote: remote).end()
        }
    }

    /// What is exchanged with a remote.
    public func scope(ofRemote remote: String) throws -> SyncScope {
        try database.read { try ScopeStore(db: $0).scope(of: remote) }
    }
}
