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

    /// How the files are padded that this store writes into folders, buckets and relays.
    ///
    /// - throws: ``SyncError``, `DatabaseError`.
    public func filePadding() throws -> SealedFilePadding {
        try upgradeIfNeeded()
        return try database.read { try SyncSetting.padding($0) }
    }

    /// Sets how the files are padded that this store writes into folders, buckets and relays from now on.
    ///
    /// Whoever keeps the files sees their sizes, and that of a small change says how much somebody typed. With
    /// `SealedFilePadding.padme` the sizes say little; a file gets at most 256 bytes, or a sixteenth, longer. Snapshots have the size of the
    /// store. All replicas read files with padding, whatever they write themselves; versions without this method do not.
    ///
    /// ```swift
    /// try synchronizer.setFilePadding(.padme)
    /// ```
    ///
    /// - throws: ``SyncError``, `DatabaseError`.
    public func setFilePadding(_ padding: SealedFilePadding) throws {
        try upgradeIfNeeded()
        try database.write { try SyncSetting.setPadding($0, padding) }
    }
}
