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
        guard mayWrite else { return nil }
        if let head, head.snapshot == nil { return try lostRemark(contents) }
        if let damaged = contents.damagedSnapshots[own] {
            // Another process of this file has replaced it.
            if let head, head.snapshot?.name != damaged.name { return nil }
            guard let written = FolderPaths.number(ofSnapshot: damaged.name) else { return nil }
            // A place may tell of a new file late.
            let isDue = damaged.isThere || isPast(written, by: Self.listingMillisecondsMax)
            return isDue ? damaged.remark : nil
        }
        guard let snapshot = contents.heads[own]?.snapshot, let record = try snapshotRecord(),
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

    /// What this store knows of its snapshot in the mailbox; nil when it has written none.
    func snapshotRecord() throws -> SnapshotRecord? {
        try peer.database.read { try SnapshotRecord.load($0, mailbox: folder.name) }
    }

    /// Whether this store may write bundles and snapshots.
    var mayWrite: Bool { members.map { ($0.role ?? .reader) >= .writer } ?? true }

    /// The snapshot of this replica that its head does not name, because somebody has put another head in the place of that
    /// one; nil when it does not lie there as it was written.
    func lostSnapshot(of own: ReplicaID) throws -> FolderHead.File? {
        let paths = FolderPaths(own)
        guard mayWrite, let record = try snapshotRecord(),
            let entry = try folder.place.files(in: paths.folder).first(where: { $0.name == record.name })
        else { return nil }
        let version = SnapshotRecord.usable(entry.version)
        let isKnown = version != nil && version == record.version
        guard try isKnown || isAsWritten(paths.file(record.name), version, record) else { return nil }
        // What it knows, the head has said that is gone.
        return FolderHead.File(
            name: record.name, base: [:], target: [:], byteCount: entry.byteCount,
            sha256: members == nil ? nil : record.sha256)
    }

    /// Whether a file is the snapshot that this store has written.
    ///
    /// What was found in a version is remembered: until another snapshot is published, which may fail for long, each synchronization
    /// would read all of it again. Where the place tells no versions it is read each time, as the file may be put back.
    private func isAsWritten(
        _ file: MailboxPath, _ version: String?, _ record: SnapshotRecord
    ) throws -> Bool {
        let question = CheckedFiles.question(
            file.description, version: version, [record.sha256], complaints: [])
        var checked = try peer.checkedFiles(.snapshots, in: folder.name)
        if let outcome = checked.answer(question) { return outcome == .sound }
        var outcome = CheckedFiles.Outcome.sound
        do {
            try readSnapshot(file, record)
        } catch is DigestedSource.Mismatch {
            outcome = .otherDigest
        } catch let error as StoreError where error.code != .cancelled {
            return false
        }
        checked.note(question, outcome)
        // What can't be noted is read again the next time.
        try? peer.keep(checked, in: folder.name)
        return outcome == .sound
    }

    /// What is told of a snapshot that this store has written, and no head names; nil when there was none.
    private func lostRemark(_ contents: FolderContents) throws -> String? {
        guard let record = try snapshotRecord(),
            let written = FolderPaths.number(ofSnapshot: record.name),
            isPast(written, by: Self.listingMillisecondsMax)
        else { return nil }
        // It may be listed under an identity that this file had.
        let isListed = contents.snapshots.contains { snapshot in
            snapshot.file.name == record.name && snapshot.file.folder != abandoned?.replica.description
                && (snapshot.digest == nil || snapshot.digest == record.sha256)
        }
        return isListed ? nil : "\(folder.mailbox.location): the snapshot of this store is gone"
    }

    private func readSnapshot(_ file: MailboxPath, _ record: SnapshotRecord) throws {
        let source = DigestedSource(try folder.place.open(file), expected: record.sha256)
        while try !source.read(upToCount: MailboxPath.pieceByteCountMax).isEmpty {
            try environment.cancellation?.check()
        }
        try source.check()
    }

    /// Reads the snapshot. One that can't be read now is read the next time.
    private func contentRemark(
        _ file: MailboxPath, _ version: String?, _ record: SnapshotRecord
    ) throws -> String? {
        do {
            try readSnapshot(file, record)
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
    func isPast(_ milliseconds: Int64, by age: Int64) -> Bool {
        let (difference, overflows) = environment.milliseconds().subtractingReportingOverflow(milliseconds)
        return overflows || difference < 0 || difference >= age
    }
}
