import CipherStore
import Foundation

extension Synchronizer {
    /// Writes an archive of the store, for backups.
    ///
    /// - parameters:
    ///     - path: Where the archive goes; no file may be there.
    ///     - lock: Who can open it.
    /// - throws: ``StoreError``, ``DatabaseError``. No file is left at `path` then.
    public func archive(
        to path: String, lock: ArchiveLock, progress: StoreProgressHandler? = nil
    ) throws {
        try archive(to: path, lock: lock, isShared: false, progress: progress)
    }

    /// The same, with a mode that lets other users of the machine read the file, if it is in a shared folder.
    func archive(
        to path: String, lock: ArchiveLock, isShared: Bool, progress: StoreProgressHandler?
    ) throws {
        try database.writeWithoutTransaction { db in
            try StoreArchive.write(
                of: db, to: path, lock: lock, preparation: Fold.preparation(environment),
                now: Date(timeIntervalSince1970: Double(environment.milliseconds()) / 1000),
                isShared: isShared, progress: progress)
        }
    }

    /// Makes a store of an archive. A store that is synchronized becomes a replica of its own, so
    /// that what the archived one has written since is not taken for this one's.
    ///
    /// - parameters:
    ///     - archive: The path of the archive.
    ///     - path: Where the store goes; no file may be there.
    ///     - secret: What opens the archive.
    ///     - passphrase: The passphrase of the store.
    /// - throws: ``StoreError``, ``DatabaseError``. No file is left at `path` then.
    public static func restore(
        archive: String, to path: String, opening secret: ArchiveSecret, passphrase: borrowing Passphrase,
        environment: SyncEnvironment = .system, progress: StoreProgressHandler? = nil
    ) throws {
        try StoreArchive.restore(
            archive, to: path, opening: secret, passphrase: passphrase, progress: progress
        ) { copy in
            guard try copy.tableExists("_sync_state") else { return }
            try copy.inTransaction {
                try ReplicaIdentity.mintForClone(copy, environment)
                return .commit
            }
        }
    }
}
