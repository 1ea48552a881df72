import CipherStore
import Foundation
import SyncMembers
import SyncWire

extension FolderContents {
    /// A snapshot that is not as its head says.
    struct DamagedSnapshot {
        let name: String
        /// Whether the folder has a file of its name.
        let isThere: Bool
        /// What is told of it.
        let remark: String
    }
}

/// What a replica finds out about its own snapshot. Nobody else writes it again.
extension FolderSession {
    /// So long may a listing lack a file that was written.
    private static var listingMillisecondsMax: Int64 { 600_000 }
    /// The content is read when so much time has passed since it was known to be right.
    private static var contentMillisecondsMax: Int64 { 86_400_000 }

    /// Finds out whether the snapshot of this replica has to be written again.
    ///
    /// Its size is compared each time, its content once a day: where reading costs something, only when the place has said in
    /// its listing that it is another version, or where none is known.
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
        guard let snapshot = contents.heads[own]?.snapshot,
            let record = try peer.database.read({ try SnapshotRecord.load($0, mailbox: folder.name) }),
            record.name == snapshot.name
        else { return nil }
        let version = SnapshotRecord.usable(contents.snapshotVersions[own])
        // None is known where an older program has written the snapshot, or the listing was out of date then: what it is called
        // now may be another file already.
        let isOther = version != nil && version != record.version
        guard folder.acknowledgementMilliseconds == 0 || isOther,
            isPast(record.checkedMilliseconds, by: Self.contentMillisecondsMax)
        else { return nil }
        return try contentRemark(FolderPaths(own).file(snapshot.name), version, record)
    }

    /// Reads the snapshot. One that can't be read now is read the next time.
    private func contentRemark(
        _ file: MailboxPath, _ version: String?, _ record: SnapshotRecord
    ) throws -> String? {
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
        note(record, environment.milliseconds(), version)
        return nil
    }

    /// Notes when the snapshot was known to be right, and what the place called it then.
    private func note(_ record: SnapshotRecord, _ milliseconds: Int64, _ version: String?) {
        let checked = SnapshotRecord(
            name: record.name, sha256: record.sha256, checkedMilliseconds: milliseconds, version: version)
        // The changes are exchanged: what can't be noted now is looked at again the next time.
        try? peer.database.write { try checked.save($0, mailbox: folder.name) }
    }

    /// Whether a time is so long ago. One of the future was noted before the clock was set back.
    private func isPast(_ milliseconds: Int64, by age: Int64) -> Bool {
        let (difference, overflows) = environment.milliseconds().subtractingReportingOverflow(milliseconds)
        return overflows || difference < 0 || difference >= age
    }
}
