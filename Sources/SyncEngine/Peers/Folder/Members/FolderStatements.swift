import CipherStore
import Foundation
import SyncMembers
import SyncWire

/// The statements about members in a mailbox: what of them is new, and what is missing there.
struct FolderStatements {
    /// The most files that are looked at in one session. Others are, the next time.
    private static let (fileCountMax, byteCountMax, statementCountMax) = (256, 128 << 20, 20_000)
    /// How many files that wait for others are read again when others came.
    private static let retryCountMax = 64
    /// A replica that has so many files of its own writes one in their place.
    private static let ownCountMax = 8

    /// A file that is there.
    private struct Listed {
        let path: MailboxPath
        let byteCount: Int
    }

    /// A file that was read now.
    private struct Read {
        let path: MailboxPath
        let byteCount: Int
        let statements: [SignedStatement]
        let isDamaged: Bool
    }

    /// The way to the mailbox, whose passphrase opens the files: a newcomer has no other.
    private let folder: MailboxTransport
    private let listed: [Listed]
    /// What files of this mailbox held that were read, now or before.
    private var entries: [String: StatementFiles.Entry] = [:]
    /// What could not be used, and why.
    private(set) var remarks: [String] = []

    /// Lists the files.
    init(_ folder: MailboxTransport, _ replicas: [ReplicaID]) throws {
        self.folder = folder
        listed = try replicas.flatMap { replica in
            let paths = FolderPaths(replica)
            return try folder.place.files(in: paths.folder).filter { StatementFile.isName($0.name) }
                .map { Listed(path: paths.file($0.name), byteCount: $0.byteCount) }
        }
    }

    // MARK: Reading

    /// Reads the files that are new to a store, and keeps what they say.
    ///
    /// - returns: The members as they are known then; nil when the store has none.
    mutating func pull(_ peer: StorePeer) throws -> MembershipRecord? {
        let mailbox = folder.mailbox.name
        let (record, known) = try peer.database.read { db in
            let record = try MembershipRecord.load(db, StoreMetadata.require(db).store)
            return (record, try record.map { _ in try StatementFiles.load(db, mailbox: mailbox) } ?? [:])
        }
        guard let record else { return nil }
        let present = Set(listed.map(\.path.description))
        entries = known.filter { present.contains($0.key) }
        let gone = known.keys.filter { !present.contains($0) }
        let files = try readNew()
        guard !files.isEmpty || !gone.isEmpty else { return record }
        guard peer.canWrite else {
            var record = record
            _ = take(files, &record)
            return record
        }
        return try peer.database.write { db in
            guard var record = try MembershipRecord.load(db, record.state.store) else { return nil }
            for path in gone { try StatementFiles.remove(db, mailbox: mailbox, path) }
            let fresh = take(files, &record)
            try record.save(db, fresh, at: peer.environment.milliseconds())
            for file in files {
                guard let entry = entries[file.path.description] else { continue }
                try StatementFiles.note(db, mailbox: mailbox, entry)
            }
            return record
        }
    }

    /// Reads all files, for a store that is not there yet.
    ///
    /// - parameter founding: The statement that founded the membership, as the invitation names it.
    /// - returns: What all statements together say.
    mutating func pull(founding: StatementID, device: MemberDeviceKeys) throws -> MembershipRecord {
        let files = try readNew()
        let statement = files.lazy.flatMap(\.statements).first { $0.id == founding }
        guard let statement else {
            throw SyncError(
                .notMember,
                "\(folder.mailbox.location): there are no statements of the members who invited this device; try again later, or ask for a new invitation"
            )
        }
        do {
            var record = MembershipRecord(
                try MembershipState(
                    store: statement.statement.store, founding: founding, statements: [statement]),
                device: device)
            _ = take(files, &record)
            return record
        } catch {
            throw SyncError(.notMember, "\(folder.mailbox.location): \(error.message)")
        }
    }

    private mutating func readNew() throws -> [Read] {
        let new = listed.filter { entries[$0.path.description]?.byteCount != $0.byteCount }
        guard !new.isEmpty else { return [] }
        // What came now may be what these wait for.
        let waiting = listed.filter {
            entries[$0.path.description].map { entry in entry.waits } == true
                && entries[$0.path.description]?.byteCount == $0.byteCount
        }.sorted { $0.byteCount < $1.byteCount }.prefix(Self.retryCountMax)
        var (files, byteCount, count): ([Read], Int, Int) = ([], 0, 0)
        for next in (new + waiting).prefix(Self.fileCountMax) {
            let (path, size) = (next.path, next.byteCount)
            let location = folder.place.location(of: path)
            guard size <= StatementFile.byteCountMax else {
                remarks.append("\(location): longer than statements of members can be")
                continue
            }
            guard count < Self.statementCountMax, byteCount <= Self.byteCountMax - size else { break }
            let isOpened = files.contains { !$0.isDamaged } || entries.values.contains { !$0.held.isEmpty }
            guard let file = try read(path, size, location, isPassphraseRight: isOpened) else { continue }
            (byteCount, count) = (byteCount + size, count + file.statements.count)
            files.append(file)
        }
        return files
    }

    private mutating func read(
        _ path: MailboxPath, _ size: Int, _ location: String, isPassphraseRight: Bool
    ) throws -> Read? {
        do {
            let (statements, leftOut) = try StatementFile.read(
                folder.place.open(path), path: location, opening: folder.secret)
            if leftOut > 0 {
                remarks.append("\(location): \(leftOut) statements can't be read; a newer program may")
            }
            return Read(path: path, byteCount: size, statements: statements, isDamaged: leftOut > 0)
        } catch let error as StoreError where error.code == .missing {
            return nil
        } catch let error as StoreError where error.code == .wrongPassphrase && !isPassphraseRight {
            remarks.append(error.description)
            return nil
        } catch let error as MailboxError {
            throw error
        } catch {
            remarks.append(error is SyncError || error is StoreError ? "\(error)" : "\(location): \(error)")
            return Read(path: path, byteCount: size, statements: [], isDamaged: true)
        }
    }

    /// Takes in what files say, and notes what each holds of it.
    private mutating func take(_ files: [Read], _ record: inout MembershipRecord) -> [SignedStatement] {
        var (fresh, strange): ([SignedStatement], Set<StatementID>) = ([], [])
        do {
            (fresh, strange) = try record.take(files.flatMap(\.statements))
        } catch {
            remarks.append(
                "\(folder.mailbox.location): there are more statements about members than a database may have; no new ones are taken"
            )
        }
        for file in files {
            let names = Set(file.statements.map(\.id))
            let held = names.filter { record.state.statements[$0] != nil }
            let waits = file.isDamaged || held.count < names.count - names.intersection(strange).count
            entries[file.path.description] = StatementFiles.Entry(
                path: file.path.description, byteCount: file.byteCount, waits: waits, held: held.sorted())
        }
        return fresh
    }

    // MARK: Writing

    /// Writes what is known here and in no file of the mailbox, as one file.
    ///
    /// - parameters:
    ///     - place: The mailbox, or one where changes wait.
    ///     - replica: This replica, in whose folder it goes.
    func push(
        _ record: MembershipRecord, through place: MailboxTransport, of replica: ReplicaID, _ peer: StorePeer
    ) throws {
        let held = Set(entries.values.flatMap(\.held))
        var missing = record.state.statements.values.filter { !held.contains($0.id) }
        guard !missing.isEmpty else { return }
        let paths = FolderPaths(replica)
        var replaced = listed.map(\.path).filter { $0.folder == paths.folder }
        if replaced.count < Self.ownCountMax { replaced = [] }
        if !replaced.isEmpty { missing = Array(record.state.statements.values) }
        missing.sort { $0.id < $1.id }
        let path = paths.file(StatementFile.name(peer.environment.identifier()))
        let now = Date(timeIntervalSince1970: Double(peer.environment.milliseconds()) / 1000)
        let byteCount = try place.place.write(path, replacing: false) { sink in
            try StatementFile.write(
                missing, lock: folder.lock(record.state.store), now: now, padding: place.padding, to: sink)
        }
        // Should the file not get there, no listing has it, and this counts for nothing.
        let entry = StatementFiles.Entry(
            path: path.description, byteCount: byteCount, waits: false, held: missing.map(\.id))
        let mailbox = folder.mailbox.name
        try peer.database.write { try StatementFiles.note($0, mailbox: mailbox, entry) }
        place.place.remove(replaced)
    }
}
