import CipherStore

extension Synchronizer {
    /// Brings changes here from a folder and puts ours into it. Blocks this thread until that is done.
    ///
    /// Cancelling the task stops `sync(through:)`, but not this method. An error thrown by `progress` stops
    /// it.
    ///
    /// - parameter direction: Whether changes come, go, or both.
    /// - parameter folder: The folder.
    /// - parameter progress: Called with the direction, and how much was done of how much: bytes of a
    ///   bundle when pulling, rows when pushing. An error that it throws cancels.
    /// - throws: ``SyncError``: `otherStore`; `StoreError`: `wrongPassphrase`, `cannotWrite`, `full`, …;
    ///   `DatabaseError`. Bundles that were applied stay applied; each is applied as a whole or not at all.
    public func run(
        _ direction: SyncDirection, _ folder: FolderTransport,
        progress: ((SyncProgress) throws -> Void)? = nil
    ) throws -> FolderReport {
        try run(direction, folder.transport, progress: progress)
    }

    /// Puts an encrypted snapshot of the store into a folder, from which new replicas can begin. It
    /// holds the whole file, as ``clone(to:passphrase:progress:)`` does: tables that are not tracked too.
    ///
    /// - throws: As ``run(_:_:progress:)-(_,FolderTransport,_)``; ``SyncError`` of code `scopeUnsupported` when it holds some
    ///   tables or rows only, or exchanges no others with the folder. Nothing is written then.
    public func publishSnapshot(
        in folder: FolderTransport, progress: StoreProgressHandler? = nil
    ) throws {
        try publishSnapshot(in: folder.transport, progress: progress)
    }

    /// Makes a replica of the snapshot that a folder holds. What came after the snapshot comes with
    /// the first ``run(_:_:progress:)-(_,FolderTransport,_)``.
    ///
    /// - parameters:
    ///     - folder: The folder.
    ///     - path: Where the new store goes; no file may be there.
    ///     - passphrase: The passphrase of the new store.
    ///     - environment: Where time and randomness come from.
    ///     - progress: Called with how far it is; an error that it throws ends the whole.
    /// - throws: ``SyncError``: `snapshotMissing`, `otherStore` when the folder serves several databases;
    ///   `StoreError`, `DatabaseError`. No file is left at `path` then.
    public static func join(
        _ folder: FolderTransport, at path: String, passphrase: borrowing Passphrase,
        environment: SyncEnvironment = .system, progress: StoreProgressHandler? = nil
    ) throws {
        try join(
            folder.transport, at: path, passphrase: passphrase, environment: environment,
            progress: progress)
    }

    /// Says what a synchronization with a folder would exchange now, and exchanges nothing. Only the heads
    /// are read.
    ///
    /// - throws: As ``preview(_:with:)-(_,Transport)``; `StoreError` of code `wrongPassphrase`.
    public func preview(
        _ direction: SyncDirection = .both, with folder: FolderTransport
    ) throws -> SyncPreview {
        try preview(direction, with: folder.transport)
    }
}

extension FolderReport: ObservedReport {
    /// What was not exchanged because of who wrote it, or of what this store has, for the status of the store.
    var refusal: SyncError? {
        let words = (unsent.map { [$0.description] } ?? []) + refused.prefix(5).map(\.description)
        let code: SyncError.Code = unsent?.reason == .someTables ? .scopeUnsupported : .notMember
        return words.isEmpty ? nil : SyncError(code, words.joined(separator: "; "))
    }

    var renewedReplicas: [ReplicaID] { renewedReplica.map { [$0] } ?? [] }
}
