import CipherStore
import SyncWire

extension Synchronizer {
    /// Brings changes here from a mailbox, and puts ours into it. A snapshot of this replica that is damaged there is
    /// written again, unless changes only come.
    ///
    /// - parameter direction: Whether changes come, go, or both.
    /// - parameter mailbox: The place that keeps the files.
    /// - parameter progress: Called with the direction, and how much was done of how much: bytes of a
    ///   bundle when pulling, rows when pushing. An error that it throws cancels.
    /// - throws: ``SyncError``: `otherStore`, `reservedName` for a mailbox called `/`; `StoreError`: `wrongPassphrase`, `cannotWrite`, `full`, …;
    ///   ``MailboxError`` of code `unreachable`; `DatabaseError`. Bundles that were applied stay applied; each
    ///   is applied as a whole or not at all.
    public func run(
        _ direction: SyncDirection, _ mailbox: MailboxTransport,
        progress: ((SyncProgress) throws -> Void)? = nil
    ) throws -> FolderReport {
        let observation = SyncObservation(synchronizer: self, direction: direction, remote: mailbox.name)
        return try observation.run { () throws -> FolderReport in
            var report = try FolderSession(
                folder: mailbox, peer: peer, environment: environment, progress: progress
            ).run(direction)
            if direction != .pull { try renewSnapshot(in: mailbox, &report) }
            return report
        }
    }

    /// Writes the snapshot of this replica again when it lies damaged in a mailbox: no other replica does, and new ones could
    /// not begin from it.
    private func renewSnapshot(in mailbox: MailboxTransport, _ report: inout FolderReport) throws {
        guard let remark = report.snapshotRemark else { return }
        try environment.cancellation?.check()
        do {
            try publishSnapshot(in: mailbox)
            report.remarks.removeAll { $0 == remark }
            report.isSnapshotRenewed = true
        } catch let error as SyncError where error.code == .cancelled {
            throw error
        } catch let error as StoreError where error.code == .cancelled {
            throw error
        } catch {
            // The changes are exchanged: that must not read as a failure.
            report.remarks.append("the snapshot of this store could not be written again: \(error)")
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
