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
}
