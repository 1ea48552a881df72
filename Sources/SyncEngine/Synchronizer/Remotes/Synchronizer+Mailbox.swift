import CipherStore
import SyncWire

extension Synchronizer {
    /// Brings changes here from a mailbox, and puts ours into it.
    ///
    /// - parameter direction: Whether changes come, go, or both.
    /// - parameter mailbox: The place that keeps the files.
    /// - parameter progress: Called with the direction, and how much was done of how much: bytes of a
    ///   bundle when pulling, rows when pushing. An error that it throws cancels.
    /// - throws: ``SyncError``: `otherStore`; `StoreError`: `wrongPassphrase`, `cannotWrite`, `full`, …;
    ///   ``MailboxError`` of code `unreachable`; `DatabaseError`. Bundles that were applied stay applied; each
    ///   is applied as a whole or not at all.
    public func run(
        _ direction: SyncDirection, _ mailbox: MailboxTransport,
        progress: ((SyncProgress) throws -> Void)? = nil
    ) throws -> FolderReport {
        try SyncObservation(synchronizer: self, direction: direction, remote: mailbox.name).run {
            try FolderSession(folder: mailbox, peer: peer, environment: environment, progress: progress)
                .run(direction)
        }
    }

    /// Puts an encrypted snapshot of the store into a mailbox, from which new replicas can begin. It
    /// holds the whole file, as ``clone(to:passphrase:progress:)`` does: tables that are not tracked too.
    /// Beside the store, there has to be room for an encrypted copy of it meanwhile.
    ///
    /// - throws: As ``run(_:_:progress:)-(_,MailboxTransport,_)``.
    public func publishSnapshot(
        in mailbox: MailboxTransport, progress: StoreProgressHandler? = nil
    ) throws {
        let greeting = try peer.greet()
        var contents = try FolderContents(mailbox, store: greeting.store)
        let own = FolderPaths(greeting.replica)
        let name = FolderPaths.snapshotName(environment.milliseconds(), environment.random())
        let byteCount = try mailbox.place.write(own.file(name), replacing: false) { sink in
            try archive(lock: mailbox.lock(greeting.store), progress: progress, to: sink)
        }
        // A head announces what can be had from the folder, which a snapshot alone does not give to all.
        var head = contents.heads[greeting.replica] ?? FolderHead(greeting, vector: VersionVector())
        let former = head.snapshot?.name
        head.snapshot = FolderHead.File(
            name: name, base: [:], target: FolderHead.encode(greeting.vector), byteCount: byteCount)
        try contents.write(&head, through: mailbox, environment)
        if let former { mailbox.place.remove(own.file(former)) }
    }

    /// Makes a replica of the snapshot that a mailbox holds. What came after the snapshot comes with
    /// the first ``run(_:_:progress:)-(_,MailboxTransport,_)``.
    ///
    /// - parameters:
    ///     - mailbox: The place that keeps the files.
    ///     - path: Where the new store goes; no file may be there.
    ///     - passphrase: The passphrase of the new store.
    ///     - environment: Where time and randomness come from.
    ///     - progress: Called with how far it is; an error that it throws ends the whole.
    /// - throws: ``SyncError``: `snapshotMissing`, `otherStore` when the mailbox serves several databases;
    ///   `StoreError`, `DatabaseError`; ``MailboxError`` of code `unreachable`. No file is left at `path`
    ///   then.
    public static func join(
        _ mailbox: MailboxTransport, at path: String, passphrase: borrowing Passphrase,
        environment: SyncEnvironment = .system, progress: StoreProgressHandler? = nil
    ) throws {
        let contents = try FolderContents(mailbox, store: nil)
        guard Set(contents.heads.values.map(\.store)).count <= 1 else {
            throw SyncError(.otherStore, "the folder holds several databases")
        }
        var problem: (any Error)?
        for snapshot in contents.snapshots {
            do {
                return try restore(
                    archive: mailbox.place.open(snapshot), name: mailbox.place.location(of: snapshot),
                    to: path, opening: mailbox.secret, passphrase: passphrase, environment: environment,
                    progress: progress)
            } catch let error as StoreError where error.code != .cancelled && error.code != .exists {
                problem = error
            }
        }
        throw problem
            ?? SyncError(.snapshotMissing, "the folder holds no snapshot that a replica could begin with")
    }
}
