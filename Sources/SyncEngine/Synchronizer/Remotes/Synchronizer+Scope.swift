import CipherStore
import SyncWire

extension Synchronizer {
    /// Chooses what is exchanged with a remote, from the next synchronization on.
    ///
    /// Tables that are added come with it: what is missing of them and nothing else. Tables that
    /// are left out keep their rows, which are no longer brought up to date.
    ///
    /// Rows of a table are chosen once for the store, whichever remote it synchronizes with. Rows that
    /// are not wanted are taken out of the table once the remote has the changes that were made to them here.
    ///
    /// - parameters:
    ///     - scope: All tables, or some, and of some of them some rows.
    ///     - remote: The remote, by the name of its transport.
    /// - returns: Tables that were not chosen and that chosen ones refer to by foreign keys. Rows whose
    ///   parents are missing there are kept and stay hidden.
    /// - throws: ``SyncError`` of code `noSuchTable` for a table that is not known or not tracked,
    ///   `unsuitableScope` for a column or values that rows can't be chosen by, or rows of a table of
    ///   which others were chosen for another remote; nothing changes then.
    @discardableResult
    public func setScope(_ scope: SyncScope, ofRemote remote: String) throws -> [String] {
        try database.write { db in
            try MetadataSchema.upgrade(db)
            try TableTracking(db: db, environment: environment).refresh()
            let store = ScopeStore(db: db)
            try store.set(scope, of: remote)
            return try store.missingParents(of: scope)
        }
    }

    /// What is exchanged with a remote.
    public func scope(ofRemote remote: String) throws -> SyncScope {
        try database.read { try ScopeStore(db: $0).scope(of: remote) }
    }
}
