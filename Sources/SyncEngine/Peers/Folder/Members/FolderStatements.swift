import CipherStore
import Foundation
import SyncMembers
import SyncWire

/// The statements about members in a mailbox: what of them is new, and what is missing there.
struct FolderStatements {
    /// How much is read. The rest is read the next time, if there is one.
    private struct Bounds {
        let fileCount: Int
        let byteCount: Int

        /// In one synchronization.
        static let session = Bounds(fileCount: 2048, byteCount: 256 << 20)
        /// By somebody who comes, and has to find what lets it in.
        static let newcomer = Bounds(fileCount: 16_384, byteCount: 1 << 30)
    }

    /// How much is read before it is looked at what of it counts.
    private static let (fileCountMax, byteCountMax, statementCountMax) = (256, 128 << 20, 20_000)
    /// How many files are read again for nothing but the time that has gone by, and how long that takes.
    private static let (retryCountMax, retryMilliseconds) = (64, Int64(3_600_000))
    /// How many files are named that are too long.
    private static let toldCountMax = 16

    /// A file that is there.
    struct Listed {
        let path: MailboxPath
        let byteCount: Int
        let replica: ReplicaID
        /// How many others of its folder come before.
        let rank: Int
        /// What the place calls this version of the file; nil where that is not known.
        let version: String?

        var isTooLong: Bool { byteCount > StatementFile.byteCountMax }
    }

    /// The way to the mailbox, whose passphrase opens the files: a newcomer has no other.
    let folder: MailboxTransport
    let listed: [Listed]
    /// What files of this mailbox held that were read, now or before.
    var entries: [String: StatementFiles.Entry] = [:]
    /// The files that were read now.
    private(set) var readNow: Set<MailboxPath> = []
    /// Whether the passphrase has opened a file now.
    var isOpened = false
    /// The files that the place did not give now.
    var withheld: Set<MailboxPath> = []
    /// What could not be used, and why.
    var remarks: [String] = []
    /// What other members were founded by that files of this mailbox hold, read now or before.
    private var otherFoundings: [String: OtherFounding] = [:]
    /// The database, as far as a newcomer has been told. Files of others are left unread.
    private var expected: StoreID?

    /// Lists the files.
    init(_ folder: MailboxTransport, _ replicas: [ReplicaID]) throws {
        self.folder = folder
        listed = try replicas.flatMap { replica in
            let paths = FolderPaths(replica)
            return try folder.place.files(in: paths.folder).filter { StatementFile.isName($0.name) }
                .enumerated().map { rank, file in
                    Listed(
                        path: paths.file(file.name), byteCount: file.byteCount, replica: replica, rank: rank,
                        version: file.version)
                }
        }
        remarks = listed.filter(\.isTooLong).prefix(Self.toldCountMax).map { file in
            "\(folder.place.location(of: file.path)): longer than statements of members can be"
        }
    }

    // MARK: Reading

    /// Reads the files that are new to a store, and keeps what they say.
    ///
    /// - returns: The members as they are known then; nil when the store has none.
    mutating func pull(_ peer: StorePeer) throws -> MembershipRecord? {
        let (mailbox, now) = (folder.mailbox.name, peer.environment.milliseconds())
        let (loaded, known, kept) = try peer.database.read { db in
            let record = try MembershipRecord.load(db, StoreMetadata.require(db).store)
            return (
                record, try record.map { _ in try StatementFiles.load(db, mailbox: mailbox) } ?? [:],
                try record.map { _ in try OtherFounding.load(db, mailbox: mailbox) } ?? [:]
            )
        }
        guard var record = loaded else { return nil }
        let store = record.state.store
        // What others leave under other salts may not use up what can be derived.
        folder.expectFiles(of: store)
        let sizes = Dictionary(
            listed.map { ($0.path.description, $0.byteCount) }, uniquingKeysWith: { one, _ in one })
        // Files never change: one of another size is another one, and holds nothing until it is read.
        entries = known.filter { sizes[$0.key] == $0.value.byteCount }
        let gone = known.keys.filter { entries[$0] == nil }
        var reading = StatementReading()
        while try read(&reading, record.state, .session, at: now) { take(&reading, &record) }
        readNow = Set(reading.files.map(\.path))
        otherFoundings = kept.filter { entries[$0.key] != nil }
        for path in readNow { otherFoundings[path.description] = reading.otherFoundings[path.description] }
        let isNew = !reading.files.isEmpty || !gone.isEmpty
        guard isNew && peer.canWrite else {
            if isNew { note(reading, record.state, at: now) }
            try peer.database.read { try remarkOtherFoundings($0, record.state) }
            return record
        }
        reading.takeAgain()
        return try peer.database.write { db in
            guard var current = try MembershipRecord.load(db, store) else { return nil }
            for path in gone { try StatementFiles.remove(db, mailbox: mailbox, path) }
            take(&reading, &current)
            note(reading, current.state, at: now)
            try remarkOtherFoundings(db, current.state)
            try current.save(db, reading.fresh, at: now)
            for file in reading.files {
                guard let entry = entries[file.path.description] else { continue }
                try StatementFiles.note(db, mailbox: mailbox, entry)
            }
            for path in Set(kept.keys).union(reading.otherFoundings.keys)
            where kept[path] != otherFoundings[path] {
                try OtherFounding.note(db, mailbox: mailbox, path, otherFoundings[path])
            }
            return current
        }
    }

    /// Reads all files, for a store that is not there yet, or knows of no members.
    ///
    /// - parameters:
    ///     - founding: The statement that founded the membership, as the invitation names it.
    ///     - device: The keys of the device that the invitation is for.
    ///     - store: The database; nil when that is not known yet. Then others can leave files under so many salts that the
    ///       right one is not tried.
    /// - returns: What all statements together say.
    mutating func pull(
        founding: StatementID, device: MemberDeviceKeys, of store: StoreID? = nil
    ) throws -> MembershipRecord {
        if let store { folder.expectFiles(of: store) }
        expected = store
        var (reading, isAgain) = (StatementReading(), false)
        var found: MembershipRecord?
        while true {
            let state = found?.state
            guard try read(&reading, state, .newcomer, at: 0) else {
                // Who belongs to the database is known by now, and whose files are read first.
                guard reading.hasDropped, found != nil, !isAgain else { break }
                isAgain = true
                reading.readAgain()
                continue
            }
            reading.forgetFiles()
            if found == nil, let statement = reading.waiting[founding] {
                found = try begin(statement, device)
                folder.expectFiles(of: statement.statement.store)
            }
            guard var record = found else {
                reading.bound()
                continue
            }
            take(&reading, &record)
            found = record
        }
        guard let found else {
            throw SyncError(
                .notMember,
                "\(folder.mailbox.location): there are no statements of the members who invited this device; whoever did has to synchronize with this place first, so try again then, or ask for a new invitation"
            )
        }
        return found
    }

    private func begin(_ founding: SignedStatement, _ device: MemberDeviceKeys) throws -> MembershipRecord {
        do throws(MembershipError) {
            let state = try MembershipState(
                store: founding.statement.store, founding: founding.id, statements: [founding])
            return MembershipRecord(state, device: device)
        } catch {
            throw SyncError(.notMember, "\(folder.mailbox.location): \(error.message)")
        }
    }

    /// Reads files that were not read in this synchronization.
    ///
    /// - returns: Whether there was one.
    private mutating func read(
        _ reading: inout StatementReading, _ state: MembershipState?, _ bounds: Bounds, at now: Int64
    ) throws -> Bool {
        let queue = unread(reading, state, at: now)
        var (byteCount, count, hasRead) = (0, 0, false)
        for file in queue.prefix(min(Self.fileCountMax, bounds.fileCount - reading.triedCount)) {
            guard count < Self.statementCountMax, byteCount <= Self.byteCountMax - file.byteCount,
                reading.triedByteCount <= bounds.byteCount - file.byteCount
            else { break }
            reading.begin(file.path, byteCount: file.byteCount)
            hasRead = true
            guard let content = try self.content(of: file, state?.store ?? expected) else { continue }
            byteCount += file.byteCount
            count += content.statements.count
            let read = StatementReading.File(
                path: file.path, byteCount: file.byteCount, names: Set(content.statements.map(\.id)),
                isDamaged: content.isDamaged, isOpened: content.isOpened)
            reading.add(read, content.statements, to: state)
        }
        return hasRead
    }

    /// What is to be read next: files of members first, and one of each folder before the second of any, so that nobody
    /// keeps others from being heard by many files.
    private func unread(_ reading: StatementReading, _ state: MembershipState?, at now: Int64) -> [Listed] {
        var (ofMembers, ofOthers, waiting): ([Listed], [Listed], [Listed]) = ([], [], [])
        for file in listed where !file.isTooLong && !reading.hasTried(file.path) {
            if let entry = entries[file.path.description], entry.byteCount == file.byteCount {
                if entry.waits { waiting.append(file) }
            } else if let device = state?.replicas[file.replica]?.device, state?.role(of: device) != nil {
                ofMembers.append(file)
            } else {
                ofOthers.append(file)
            }
        }
        let isBefore = { (one: Listed, other: Listed) in
            (one.rank, one.path.folder) < (other.rank, other.path.folder)
        }
        return ofMembers.sorted(by: isBefore) + ofOthers.sorted(by: isBefore) + due(waiting, reading, at: now)
    }

    /// Those of the files that wait which are read again: all when something was taken in, as they may wait for that, and
    /// otherwise some that were not read for long.
    private func due(_ waiting: [Listed], _ reading: StatementReading, at now: Int64) -> [Listed] {
        let tried = { (file: Listed) in entries[file.path.description]?.triedMilliseconds ?? 0 }
        let sorted = waiting.sorted { (tried($0), $0.byteCount) < (tried($1), $1.byteCount) }
        guard reading.fresh.isEmpty else { return sorted }
        guard reading.triedCount == 0 else { return [] }
        // A clock that was set back says nothing.
        return Array(
            sorted.filter { now < tried($0) || now - tried($0) >= Self.retryMilliseconds }
                .prefix(Self.retryCountMax))
    }

    /// Takes in what was read.
    private mutating func take(_ reading: inout StatementReading, _ record: inout MembershipRecord) {
        do throws(MembershipError) {
            try reading.take(&record)
        } catch {
            let remark =
                "\(folder.mailbox.location): there are more statements about members than a database may have; no new ones are taken"
            if !remarks.contains(remark) { remarks.append(remark) }
        }
    }

    /// Says who founded other members, in each session as long as that is so: who was told may have dropped it.
    private mutating func remarkOtherFoundings(_ db: Database, _ state: MembershipState) throws {
        guard !otherFoundings.isEmpty else { return }
        remarks += try OtherFounding.remarks(
            otherFoundings, state, StoreMetadata.require(db).replicaID())
    }

    /// Notes what each file holds of what is known.
    private mutating func note(_ reading: StatementReading, _ state: MembershipState, at now: Int64) {
        for file in reading.files {
            let held = file.names.filter { state.statements[$0] != nil }
            let strangeCount = file.names.intersection(reading.strange).count
            // What is of other members never counts here.
            let isOfOthers = held.isEmpty && reading.otherFoundings[file.path.description] != nil
            let isWaiting = !isOfOthers && held.count < file.names.count - strangeCount
            let waits = file.isDamaged || isWaiting
            entries[file.path.description] = StatementFiles.Entry(
                path: file.path.description, byteCount: file.byteCount,
                triedMilliseconds: waits ? max(1, now) : 0, held: held.sorted(), isOpened: file.isOpened)
        }
    }
}
