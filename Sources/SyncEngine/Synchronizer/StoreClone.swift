import CipherStore
import SyncWire

extension Synchronizer {
    /// Makes a new replica: an encrypted snapshot under a passphrase of its own,
    /// with a replica id of its own.
    ///
    /// - parameters:
    ///     - path: Where the new store goes; no file may be there.
    ///     - passphrase: The passphrase of the new store.
    ///     - progress: Called with how far it is; an error that it throws ends the whole.
    /// - throws: ``SyncError`` of code `unsafeSchema` when a trigger, a view or anything else of the store reaches into what
    ///   synchronization keeps for itself; `StoreError`, `DatabaseError`. No file is left at `path` then.
    public func clone(
        to path: String, passphrase: borrowing Passphrase, progress: StoreProgressHandler? = nil
    ) throws {
        let passphrase = passphrase.copy()
        let environment = environment
        let original = database.path
        try database.writeWithoutTransaction { db in
            try StoreCopy.make(
                of: db, at: path, passphrase: passphrase, preparation: FoldedStore.preparation(environment),
                progress: progress
            ) { copy in
                try copy.inTransaction {
                    try ReplicaIdentity.mintForClone(copy, environment, of: original)
                    return .commit
                }
            }
        }
    }

    /// Writes the user's tables into a plain SQLite file, without the sync metadata.
    ///
    /// - throws: `StoreError`, `DatabaseError`. No file is left at `path` then.
    public func exportPlaintext(to path: String) throws {
        try database.writeWithoutTransaction { db in
            try PlaintextExport.writePlaintext(of: db, at: path) { copy in
                try copy.inTransaction {
                    try MetadataSchema.remove(copy)
                    return .commit
                }
                // The metadata's pages would stay in the file, empty.
                try copy.vacuum()
            }
        }
    }
}
