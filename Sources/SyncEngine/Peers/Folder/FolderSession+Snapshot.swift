import CipherStore
import Foundation
import SyncMembers
import SyncWire

/// What a replica finds out about its own snapshot. Nobody else writes it again.
extension FolderSession {
    /// So long may a listing lack a file that was written.
    private static var listingMillisecondsMax: Int64 { 600_000 }
    /// The content is read when so much time has passed since it was known to be right.
    private static var contentMillisecondsMax: Int64 { 86_400_000 }

    /// Finds out whether the snapshot of this replica has to be written again.
    ///
    /// Its size is compared each time, its content once a day, and only where reading costs nothing.
    func lookAtSnapshot(_ contents: FolderContents, _ report: inout FolderReport) throws {
        guard let remark = try snapshotRemark(contents, report.local) else { return }
        report.snapshotRemark = remark
        if !report.remarks.contains(remark) { report.remarks.append(remark) }
    }

    private func snapshotRemark(_ contents: FolderContents, _ own: ReplicaID) throws -> String? {
        guard members.map({ ($0.role ?? .reader) >= .writer }) ?? true else { return nil }
        if let damaged = contents.damagedSnapshots[own] {
            guard let written = FolderPaths.number(ofSnapshot: damaged.name) else { return nil }
            // A place may tell of a new file late.
            let isDue = damaged.isThere || isPast(written, by: Self.listingMillisecondsMax)
            return isDue ? damaged.remark : nil
        }
        guard let snapshot = contents.heads[own]?.snapshot, folder.acknowledgementMilliseconds == 0,
            let record = try peer.database.read({ try SnapshotRecord.load($0, mailbox: folder.name) }),
            record.name == snapshot.name,
            isPast(record.checkedMilliseconds, by: Self.contentMillisecondsMax)
        else { return nil }
        return try contentRemark(FolderPaths(own).file(snapshot.name), record)
    }

    /// Reads the snapshot. One that can't be read now is read the next time.
    private func contentRemark(_ file: MailboxPath, _ record: SnapshotRecord) throws -> String? {
        do {
            let source = DigestedSource(try folder.place.open(file), expected: record.sha256)
            while try !source.read(upToCount: MailboxPath.pieceByteCountMax).isEmpty {
                try environment.cancellation?.check()
            }
            try source.check()
        } catch is DigestedSource.Mismatch {
            return "\(folder.place.location(of: file)): is not what was written"
        } catch is StoreError {
            return nil
        } catch is MailboxError {
            return nil
        }
        let checked = SnapshotRecord(
            name: record.name, sha256: record.sha256, checkedMilliseconds: environment.milliseconds())
        // The changes are exchanged: what can't be noted now is read again the next time.
        try? peer.database.write { try checked.save($0, mailbox: folder.name) }
        return nil
    }

    /// Whether a time is so long ago. One of the future was noted before the clock was set back.
    private func isPast(_ milliseconds: Int64, by age: Int64) -> Bool {
        let (difference, overflows) = environment.milliseconds().subtractingReportingOverflow(milliseconds)
        return overflows || difference < 0 || difference >= age
    }
}
