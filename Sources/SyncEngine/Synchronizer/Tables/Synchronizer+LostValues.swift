import CipherStore
import SyncWire

extension Synchronizer {
    /// Goes on without values that another program took away with their columns, and that no replica has any more.
    ///
    /// A table that another program rebuilt without a column waits for a replica that has all of its values, and nobody
    /// gets a row without them. Where all replicas lost them, none can give them to another one: each of them goes on without
    /// them by this function. Every row counts as written here, without a value in these columns, so that a replica which has
    /// one after all loses it.
    ///
    /// - returns: The names of the tables that lacked values.
    /// - throws: ``SyncError``, `DatabaseError`.
    @discardableResult
    public func abandonLostValues() throws -> [String] {
        try database.write { db in
            try FoldedStore.refresh(db, environment)
            return try TableTracking(db: db, environment: environment).abandonLostValues()
        }
    }
}
