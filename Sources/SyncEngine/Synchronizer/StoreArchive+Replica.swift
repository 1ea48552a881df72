import CipherStore
import Foundation

extension Synchronizer {
    /// Writes an archive of the store, for backups and new replicas: without the keys, devices and remotes of this file.
    ///
    /// A restoration makes a replica of its own, which has no use for them. Whoever else opens the archive could pose as this device.
    ///
    /// - parameters:
    ///     - path: Where the archive goes; no file may be there.
    ///     - lock: Who can open it.
    ///     - progress: Called with how far it is; an error that it throws ends the whole.
    /// - throws: `StoreError`, `DatabaseError`. No file is left at `path` then.
    public func archive(
        to path: String, lock: ArchiveLock, progress: StoreProgressHandler? = nil
    ) throws {
        try database.writeWithoutTransaction { db in
            try StoreArchive.write(
                of: db, to: path, lock: lock, preparation: FoldedStore.preparation(environment), now: now,
                progress: progress, finishing: Self.forgetSecrets)
        }
    }

    /// Writes an archive for new replicas, to where a function brings the bytes: without the keys, devices and remotes of
    /// this file, which whoever opens it could read otherwise, and without claims of changes of which nothing is in it.
    func archive(
        lock: ArchiveLock, progress: StoreProgressHandler?, to output: @escaping (Data) throws -> Void
    ) throws {
        try database.writeWithoutTransaction { db in
            try StoreArchive.write(
                of: db, lock: lock, preparation: FoldedStore.preparation(environment),
                finishing: Self.prepareForOthers, now: now, progress: progress, to: output)
        }
    }

    /// Removes from a copy of the file what new replicas must not have of it.
    private static func prepareForOthers(_ copy: Database) throws {
        try forgetSecrets(in: copy)
        try copy.inTransaction {
            try Coverage.removeBareClaims(copy)
            return .commit
        }
    }

    /// Removes what belongs to one file only from a copy of it.
    ///
    /// What says where the file is stays, so that the copy is known for one: ``StoreFence``.
    static func forgetSecrets(in copy: Database) throws {
        try copy.inTransaction {
            try RemoteSchema.forget(copy)
            // It may be restored by an older program, and is made anew by this one.
            try ConstraintSchema.removeIndex(copy)
            return .commit
        }
    }

    private var now: Date { Date(timeIntervalSince1970: Double(environment.milliseconds()) / 1000) }

    /// Makes a store of an archive. A synchronized store becomes a replica of its own, so that its changes
    /// are not mistaken for changes that the archived replica has made since.
    ///
    /// - parameters:
    ///     - archive: The path of the archive.
    ///     - path: Where the store goes; no file may be there.
    ///     - secret: What opens the archive.
    ///     - passphrase: The passphrase of the store.
    ///     - environment: Where time and randomness come from.
    ///     - progress: Called with how far it is; an error that it throws ends the whole.
    /// - throws: ``SyncError`` of code `unsafeSchema` when a trigger, a view or anything else in the archive reaches into what
    ///   synchronization keeps for itself; `StoreError`, `DatabaseError`. No file is left at `path` then.
    public static func restore(
        archive: String, to path: String, opening secret: ArchiveSecret, passphrase: borrowing Passphrase,
        environment: SyncEnvironment = .system, progress: StoreProgressHandler? = nil
    ) throws {
        try StoreArchive.restore(
            archive, to: path, opening: secret, passphrase: passphrase, progress: progress,
            finishing: { try mintIdentity(of: $0, environment, archive) })
    }

    /// The same of an archive whose bytes come from elsewhere, which has to be that of a replica.
    ///
    /// - parameters:
    ///     - name: How errors name the archive.
    ///     - check: Looks at what was read, before anything is made of it.
    ///     - finish: What is done in the new store at last, in the transaction that makes it a replica.
    /// - throws: As ``restore(archive:to:opening:passphrase:environment:progress:)``; ``SyncError`` of code `notSynchronized`;
    ///   what the functions throw.
    static func restore(
        archive: any ByteSource, name: String, to path: String, opening secret: ArchiveSecret,
        passphrase: borrowing Passphrase, environment: SyncEnvironment, progress: StoreProgressHandler?,
        checking check: @escaping (Database) throws -> Void,
        finishing finish: @escaping (Database) throws -> Void
    ) throws {
        try StoreArchive.restore(
            archive, path: name, to: path, opening: secret, passphrase: passphrase, progress: progress,
            finishing: { copy in
                try check(copy)
                try mintReplica(of: copy, environment, name, finishing: finish)
            })
    }

    /// Checks the schema of a new store that was made of a file by somebody else, before it gets any key.
    ///
    /// - parameters:
    ///     - database: The new store.
    ///     - original: What errors call the file.
    /// - throws: ``SyncError`` of code `unsafeSchema` when a trigger, a view or anything else in it reaches into what
    ///   synchronization keeps for itself; `DatabaseError`.
    package static func checkSchema(of database: any DatabaseWriter, from original: String) throws {
        try database.write { db throws in
            try MetadataSchema.upgrade(db)
            try ForeignSchema.check(db, of: original)
        }
    }

    /// Makes a store a replica of its own, if it is one at all.
    private static func mintIdentity(
        of copy: Database, _ environment: SyncEnvironment, _ original: String
    ) throws {
        guard try copy.tableExists(SyncNames.state, in: "main") else {
            // It may become a store later.
            return try ForeignSchema.check(copy, of: original)
        }
        try mintReplica(of: copy, environment, original, finishing: { _ in })
    }

    private static func mintReplica(
        of copy: Database, _ environment: SyncEnvironment, _ original: String,
        finishing finish: (Database) throws -> Void
    ) throws {
        try copy.inTransaction {
            try ReplicaIdentity.mintForClone(copy, environment, of: original)
            try finish(copy)
            return .commit
        }
    }
}
