import CipherStore
import SyncWire

extension Synchronizer {
    /// Brings changes here from a folder, and puts ours into it, and blocks this thread until it is done.
    ///
    /// The cancellation of a task, which ``sync(through:)`` sees, does not stop it; an error of `progress` does.
    ///
    /// - parameter progress: Called with the direction, and how much was done of how much: bytes of a
    ///   bundle when pulling, rows when pushing. An error that it throws cancels.
    /// - throws: ``SyncError``: `otherStore`; ``StoreError``: `wrongPassphrase`, `cannotWrite`, `full`, …;
    ///   ``DatabaseError``. Bundles that were applied stay applied; each is applied as a whole or not at all.
    public func run(
        _ direction: SyncDirection, _ folder: FolderTransport,
        progress: ((SyncProgress) throws -> Void)? = nil
    ) throws -> FolderReport {
        try SyncObservation(synchronizer: self, direction: direction, remote: folder.name).run {
            try FolderSession(folder: folder, peer: peer, environment: environment, progress: progress)
                .run(direction)
        }
    }

    /// Puts an encrypted snapshot of the store into a folder, from which new replicas can begin. It
    /// holds the whole file, as ``clone(to:passphrase:progress:)`` does: tables that are not tracked too.
    ///
    /// - throws: As ``run(_:_:progress:)-(_,FolderTransport,_)``.
    public func publishSnapshot(
        in folder: FolderTransport, progress: StoreProgressHandler? = nil
    ) throws {
        let greeting = try peer.greet()
        var contents = try FolderContents(folder, store: greeting.store)
        let own = FolderPaths(folder.path, greeting.replica)
        try own.makeFolder()
        let name = FolderPaths.snapshotName(environment.milliseconds(), environment.random())
        try archive(
            to: own.file(name), lock: folder.lock(greeting.store), isShared: true, progress: progress)
        // A head announces what can be had from the folder, which a snapshot alone does not give to all.
        var head = contents.heads[greeting.replica] ?? FolderHead(greeting, vector: VersionVector())
        let former = head.snapshot?.name
        head.snapshot = FolderHead.File(
            name: name, base: [:], target: FolderHead.encode(greeting.vector),
            byteCount: try own.byteCount(name))
        try contents.write(&head, environment)
        if let former { own.remove(former) }
    }

    /// Makes a replica of the snapshot that a folder holds. What came after the snapshot comes with
    /// the first ``run(_:_:progress:)-(_,FolderTransport,_)``.
    ///
    /// - parameters:
    ///     - path: Where the new store goes; no file may be there.
    ///     - passphrase: The passphrase of the new store.
    /// - throws: ``SyncError``: `snapshotMissing`, `otherStore` when the folder serves several databases;
    ///   ``StoreError``, ``DatabaseError``. No file is left at `path` then.
    public static func join(
        _ folder: FolderTransport, at path: String, passphrase: borrowing Passphrase,
        environment: SyncEnvironment = .system, progress: StoreProgressHandler? = nil
    ) throws {
        let contents = try FolderContents(folder, store: nil)
        guard Set(contents.heads.values.map(\.store)).count <= 1 else {
            throw SyncError(.otherStore, "the folder holds several databases")
        }
        var problem: (any Error)?
        for snapshot in contents.snapshots {
            do {
                return try restore(
                    archive: snapshot, to: path, opening: ArchiveSecret(folder.passphrase),
                    passphrase: passphrase, environment: environment, progress: progress)
            } catch let error as StoreError where error.code != .cancelled && error.code != .exists {
                problem = error
            }
        }
        throw problem
            ?? SyncError(.snapshotMissing, "the folder holds no snapshot that a replica could begin with")
    }
}

extension FolderReport: ObservedReport {
    var renewedReplicas: [ReplicaID] { renewedReplica.map { [$0] } ?? [] }
}
