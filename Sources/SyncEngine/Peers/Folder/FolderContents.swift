import CipherStore
import Foundation
import SyncMembers
import SyncWire

/// What a folder holds at the moment, as far as it can be read.
struct FolderContents {
    let folder: MailboxTransport
    /// The members of the database; nil when it has none, or this store knows of none.
    private(set) var members: FolderMembers?
    /// The heads that could be read, by replica. Of a database with members, those of members only.
    private(set) var heads: [ReplicaID: FolderHead] = [:]
    /// The bundles of this database, in the order of their numbers.
    private(set) var bundles: [Bundle] = []
    /// Those that a replica complained about, and that are broken here too. They are not among the bundles.
    private(set) var unreadable: [(bundle: Bundle, error: (any Error)?)] = []
    /// The snapshots, with the number of changes that they know.
    private var found: [(file: MailboxPath, digest: String?, weight: Int64)] = []
    /// The snapshots, the one that knows most first.
    var snapshots: [(file: MailboxPath, digest: String?)] {
        found.sorted { $0.weight > $1.weight }.map { ($0.file, $0.digest) }
    }
    /// What the place calls the versions of the snapshots that it has, by replica, where it says that.
    private(set) var snapshotVersions: [ReplicaID: String] = [:]
    /// The snapshots that are not as their heads say, by replica.
    private(set) var damagedSnapshots: [ReplicaID: DamagedSnapshot] = [:]
    /// The names of all files, by replica.
    private(set) var names: [ReplicaID: Set<String>] = [:]
    /// The replicas whose files are not taken in.
    private(set) var refused: [RefusedFiles] = []
    /// The salts of heads that no key here opens, which tell their epochs.
    private(set) var closed: [ReplicaID: [UInt8]] = [:]
    /// Whether there are statements about members.
    private(set) var hasStatements = false
    /// What is wrong with files that no key here opens, and that members may have written of whom this store knows nothing.
    private(set) var closedRemarks: [(replica: ReplicaID, text: String)] = []
    /// What could not be used, and why.
    private(set) var remarks: [String] = []
    /// The bundles that somebody complains about and that were read because of that.
    private(set) var checked: CheckedFiles
    /// What the bundles say that no head lists.
    private(set) var headers: KnownHeaders

    /// Reads a folder.
    ///
    /// - parameters:
    ///     - store: The database; nil to take whichever there is.
    ///     - replicas: The folders, when they were listed already.
    ///     - members: The members of the database, whose files are the only ones to be taken in.
    ///     - checked: What was found before in bundles that somebody complains about.
    ///     - headers: What bundles said before that no head lists.
    /// - throws: ``StoreError`` of code `wrongPassphrase`, which names a head, when none can be opened; ``SyncError`` of code
    ///   `otherStore` when nothing there is of this database, and something of another one, or when too many heads are, `notMember` when
    ///   members have written them and this store knows of none, `metadataTooNew`; ``MailboxError`` of code `unreachable`; what the
    ///   mailbox throws that is no ``MailboxError``.
    init(
        _ folder: MailboxTransport, store: StoreID?, replicas: [ReplicaID]? = nil,
        members: FolderMembers? = nil, checked: CheckedFiles = CheckedFiles(),
        headers: KnownHeaders = KnownHeaders()
    ) throws {
        self.folder = folder
        self.members = members
        self.checked = checked
        self.headers = headers
        if let store { folder.expectFiles(of: store) }
        let replicas = try replicas ?? Self.replicas(in: folder)
        try readHeads(replicas, store)
        for replica in replicas { try readFiles(of: replica, store) }
        bundles.sort { ($0.number, $0.replica) < ($1.number, $1.replica) }
        try excludeUnreadable()
        remarks += try remarksOfClosed(replicas, store)
    }

    /// The replicas that have a folder.
    static func replicas(in folder: MailboxTransport) throws -> [ReplicaID] {
        try folder.place.folders().compactMap { Identifier128(hexadecimal: $0) }
    }

    private mutating func readHeads(_ replicas: [ReplicaID], _ store: StoreID?) throws {
        var problem: StoreError?
        var (strangers, isOpened) = (0, false)
        var untriedCount = 0
        for replica in try store == nil ? Self.inOrderOfTrial(replicas, in: folder) : replicas {
            let file = FolderPaths(replica).file(FolderPaths.headName)
            let path = folder.place.location(of: file)
            do {
                let head = try FolderHead.open(file, folder)
                guard head.replica == replica else {
                    remarks.append("\(path): belongs to another replica")
                    continue
                }
                guard store == nil || head.store == store else {
                    strangers += 1
                    remarks.append("\(path): belongs to another database")
                    continue
                }
                isOpened = true
                if let refusal = members?.refusal(of: head, replica) {
                    refused.append(refusal)
                } else {
                    heads[replica] = head
                }
            } catch let error as StoreError where error.code == .missing {
                continue
            } catch let head as FolderHead.Closed {
                if let members, let store, !folder.isOwn(head.salt, store) {
                    refused.append(members.refusal(ofClosedHeadOf: replica))
                    closed[replica] = head.salt
                    continue
                }
                problem = problem ?? head.error
                closedRemarks.append((replica, head.error.description))
            } catch let newer as FolderHead.Newer {
                try note(newer, replica)
            } catch let error as StoreError {
                // One that asks for too much memory by itself says nothing about the others.
                if error.code == .costOutOfRange && folder.triesNoOthers { untriedCount += 1 }
                remarks.append(error.description)
            } catch let error as SyncError {
                remarks.append(error.description)
            }
        }
        // One that was refused shows, too, that the passphrase and the database are the right ones.
        guard heads.isEmpty, !isOpened, strangers > 0 || problem != nil || !closed.isEmpty else { return }
        if let store, members != nil, try opensStatements(of: replicas, store) { return }
        // Writing under another passphrase, or beside another database, would make two folders of one.
        if strangers > 0 { throw otherStore }
        if let problem { throw try failure(replicas, store, untriedCount: untriedCount, problem) }
        guard let store else { return }
        let owners = try statementOwners(of: replicas, store)
        if let error = try strangerError(replicas, store, owners) { throw error }
    }

    /// Takes note of a head of a format that is not known here. In a database with members it keeps this store from the
    /// folder only when somebody who may write has signed it: whoever has some key to the folder can leave one.
    private mutating func note(_ newer: FolderHead.Newer, _ replica: ReplicaID) throws {
        guard let members else { throw newer.error }
        if let refusal = members.refusal(of: newer.head, replica) {
            refused.append(refusal)
        } else if members.isWriters(newer.head) {
            throw newer.error
        } else {
            remarks.append(newer.error.description)
        }
    }

    private mutating func note(
        _ snapshot: FolderHead.File, of replica: ReplicaID, _ file: MailboxPath, _ entry: MailboxFile?
    ) {
        if members != nil, snapshot.sha256.flatMap(FileDigest.bytes) == nil { return }
        guard FolderPaths.isSnapshot(snapshot.name), entry?.byteCount == snapshot.byteCount else {
            let remark = "\(folder.place.location(of: file)): not complete yet"
            remarks.append(remark)
            damagedSnapshots[replica] = DamagedSnapshot(
                name: snapshot.name, isThere: entry != nil, remark: remark)
            return
        }
        snapshotVersions[replica] = entry?.version
        found.append((file, snapshot.sha256, snapshot.target.values.reduce(0) { $0 &+ $1 }))
    }

    private mutating func readFiles(of replica: ReplicaID, _ store: StoreID?) throws {
        let paths = FolderPaths(replica)
        let listed = Dictionary(
            (heads[replica]?.bundles ?? []).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let entries = try folder.place.files(in: paths.folder)
        names[replica] = Set(entries.map(\.name))
        if let snapshot = heads[replica]?.snapshot {
            note(
                snapshot, of: replica, paths.file(snapshot.name),
                entries.first { $0.name == snapshot.name })
        }
        for entry in entries {
            let (name, size) = (entry.name, entry.byteCount)
            if StatementFile.isName(name) { hasStatements = true }
            guard let number = FolderPaths.number(ofBundle: name) else { continue }
            let place = paths.file(name)
            let path = folder.place.location(of: place)
            if let file = listed[name] {
                guard file.byteCount == size else {
                    remarks.append("\(path): not complete yet")
                    continue
                }
                // Without a digest it could be anybody's.
                if members != nil, file.sha256.flatMap(FileDigest.bytes) == nil { continue }
                bundles.append(
                    Bundle(
                        replica: replica, name: name, number: number, file: place, path: path,
                        base: file.baseVector, target: file.targetVector, byteCount: size, isListed: true,
                        digest: members == nil ? nil : file.sha256, version: entry.version))
            } else if members == nil, let bundle = try unlisted(replica, number, place, entry, store) {
                bundles.append(bundle)
            }
        }
    }

    /// A bundle whose head came here before it, or after a newer one, says itself what it is.
    private mutating func unlisted(
        _ replica: ReplicaID, _ number: Int64, _ file: MailboxPath, _ entry: MailboxFile, _ store: StoreID?
    ) throws -> Bundle? {
        let path = folder.place.location(of: file)
        do {
            let header =
                try headers.header(of: file, version: entry.version)
                ?? KnownHeaders.Header(BundleFile.header(of: folder.open(file)))
            guard header.isOf(replica, in: store) else {
                remarks.append("\(path): belongs to another database or replica")
                return nil
            }
            headers.note(header, of: file, byteCount: entry.byteCount, version: entry.version)
            return Bundle(
                replica: replica, name: file.name, number: number, file: file, path: path,
                base: header.base, target: header.target, byteCount: entry.byteCount, isListed: false)
        } catch let error as StoreError where error.code == .wrongPassphrase {
            closedRemarks.append((replica, "\(path): \(error.message)"))
            return nil
        } catch let error where Self.isOfFile(error) {
            remarks.append("\(path): \((error as? StoreError)?.message ?? "\(error)")")
            return nil
        }
    }

    /// Leaves out bundles that a replica complained about, if they are broken here too: their
    /// contents count as missing then, and are written again.
    private mutating func excludeUnreadable() throws {
        let complaints = complaints()
        guard !complaints.isEmpty else { return }
        let (folder, members) = (folder, members)
        let epochs = (members?.record.shared ?? []).map(\.description).sorted()
        for bundle in bundles {
            guard let complaint = complaints[bundle.identity] else { continue }
            let question = CheckedFiles.question(
                bundle.identity, version: bundle.version, epochs + bundle.claims, complaints: complaint)
            if let outcome = checked.answer(question) {
                if outcome != .sound { unreadable.append((bundle, bundle.fault(outcome))) }
                continue
            }
            do {
                if let members,
                    try !members.isShared(SealedFileReader.salt(of: folder.place.open(bundle.file)))
                {
                    unreadable.append((bundle, nil))
                    checked.note(question, .unshared)
                    continue
                }
                let (reader, source) = try folder.open(bundle.file, digest: bundle.digest)
                let found = try BundleFile.inspect(reader, path: bundle.path)
                try source.check()
                try bundle.require(sender: found.sender, base: found.base, target: found.target)
                checked.note(question, .sound)
            } catch let error where Self.isOfFile(error) {
                unreadable.append((bundle, error))
                if let outcome = Self.outcome(of: error) { checked.note(question, outcome) }
            }
        }
        bundles.removeAll { bundle in unreadable.contains { $0.bundle.identity == bundle.identity } }
    }

    /// Takes what is known of the members by now, for the head that is written.
    mutating func adopt(_ members: FolderMembers?) { self.members = members }

    /// Reads the head of this replica again: another process of its file may have written one meanwhile.
    ///
    /// - returns: Whether there is a later one. One that nobody would take in is none.
    @discardableResult
    mutating func readAgain(_ replica: ReplicaID, of store: StoreID) -> Bool {
        let file = FolderPaths(replica).file(FolderPaths.headName)
        guard let head = try? FolderHead.read(file, folder), head.replica == replica, head.store == store,
            head.generation > heads[replica]?.generation ?? .min,
            members?.refusal(of: head, replica) == nil
        else { return false }
        heads[replica] = head
        return true
    }

    /// Writes the head of this replica.
    ///
    /// - parameter folder: The folder, or one where changes wait.
    mutating func write(
        _ head: inout FolderHead, through folder: MailboxTransport, _ environment: SyncEnvironment
    ) throws {
        guard let replica = head.replica, let store = head.store else { return }
        head.generation = head.generation.addingSaturated(1)
        try head.write(
            FolderPaths(replica).file(FolderPaths.headName), folder, store: store, by: members?.record.device,
            now: environment.milliseconds())
        heads[replica] = head
    }
}
