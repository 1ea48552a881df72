import CipherStore
import SyncWire

/// How a store that doesn't know its database yet finds it among files of others.
extension FolderContents {
    /// Heads that one derived key opens, or none of them.
    private struct Group {
        var headCount = 0
        var newestMilliseconds = Int64.min

        mutating func add(_ head: MailboxFile?) {
            headCount += 1
            newestMilliseconds = max(newestMilliseconds, head?.modifiedMilliseconds ?? .min)
        }
    }

    /// The replicas in the order in which their heads are tried while the database is not known.
    ///
    /// Anybody who may write there can leave heads under salts of their own, and a key is derived for few salts only. The
    /// replicas of one database share a salt, so what most heads have comes first, and then what was written last.
    static func inOrderOfTrial(
        _ replicas: [ReplicaID], in folder: MailboxTransport
    ) throws -> [ReplicaID] {
        var derivations: [ReplicaID: [UInt8]] = [:]
        var groups: [[UInt8]: Group] = [:]
        for replica in replicas {
            let head = FolderPaths(replica).file(FolderPaths.headName)
            guard let derivation = try derivation(of: head, in: folder) else { continue }
            derivations[replica] = derivation
            let entry = try folder.place.files(in: head.folder).first { $0.name == head.name }
            groups[derivation, default: Group()].add(entry)
        }
        guard groups.count > 1 else { return replicas }
        let ranked = replicas.enumerated().map { offset, replica in
            (replica: replica, offset: offset, group: derivations[replica].flatMap { groups[$0] } ?? Group())
        }
        return ranked.sorted { one, other in
            if one.group.headCount != other.group.headCount {
                return one.group.headCount > other.group.headCount
            }
            if one.group.newestMilliseconds != other.group.newestMilliseconds {
                return one.group.newestMilliseconds > other.group.newestMilliseconds
            }
            return one.offset < other.offset
        }.map { $0.replica }
    }

    /// What the key of a file depends on beside the passphrase: its cost first, and the salt; nil where none opens it.
    static func derivation(of file: MailboxPath, in folder: MailboxTransport) throws -> [UInt8]? {
        do {
            return try SealedFileReader.derivation(of: folder.place.open(file))
        } catch let error as StoreError where error.code != .cancelled {
            // That of a head is told when it is read.
            return nil
        }
    }

    /// So many files of statements are tried.
    private static var trialCountMax: Int { 16 }

    /// So many files named like some are looked at, most of which may be anything.
    private static var lookCountMax: Int { 64 }

    /// The files that are named like statements and may be some, as far as they are looked at: those first that the passphrase has
    /// opened before.
    func statementFiles(of replicas: [ReplicaID]) throws -> [MailboxPath] {
        let known = members?.knownFiles ?? []
        let files = try replicas.flatMap { replica -> [(path: MailboxPath, byteCount: Int)] in
            let paths = FolderPaths(replica)
            return try folder.place.files(in: paths.folder)
                .filter { StatementFile.isName($0.name) && $0.byteCount <= StatementFile.byteCountMax }
                .map { (path: paths.file($0.name), byteCount: $0.byteCount) }
        }
        // Anybody who may write there can leave small ones.
        let ranked = files.sorted { one, other in
            let isKnown = known.contains(one.path.description)
            guard isKnown == known.contains(other.path.description) else { return isKnown }
            return one.byteCount < other.byteCount
        }
        return ranked.prefix(Self.lookCountMax).map(\.path)
    }

    func holdsStatements(_ replicas: [ReplicaID]) throws -> Bool {
        try replicas.contains { replica in
            try folder.place.files(in: FolderPaths(replica).folder).contains { StatementFile.isName($0.name) }
        }
    }

    /// Whether the passphrase opens a file of statements of the database. That shows that both are the right ones, whatever heads
    /// somebody has left: those of members from before can't be opened after a membership was founded anew.
    func opensStatements(of replicas: [ReplicaID], _ store: StoreID) throws -> Bool {
        if members?.hasOpenedStatements == true { return true }
        var trialCount = 0
        for path in try statementFiles(of: replicas) where trialCount < Self.trialCountMax {
            do {
                let source = try folder.place.open(path)
                // One without a salt is no file that a passphrase opens.
                guard let salt = try SealedFileReader.salt(of: source), folder.isOwn(salt, store) else {
                    continue
                }
                trialCount += 1
                _ = try StatementFile.read(
                    source, path: folder.place.location(of: path), opening: folder.secret)
                return true
            } catch is StoreError {
                continue
            } catch is SyncError {
                continue
            }
        }
        return false
    }

    /// What is wrong when no head could be opened.
    ///
    /// - parameters:
    ///     - untriedCount: How many heads no key was derived for.
    ///     - problem: What is wrong with the first of those that were tried.
    func failure(
        _ replicas: [ReplicaID], _ store: StoreID?, untriedCount: Int, _ problem: StoreError
    ) throws -> any Error {
        if members == nil, try holdsStatements(replicas) {
            guard let store else { return SyncError(.notMember, strangerRemark) }
            let owners = try statementOwners(of: replicas, store)
            guard !owners.hasOwn else { return SyncError(.notMember, strangerRemark) }
            return try strangerError(replicas, store, owners) ?? problem
        }
        guard store == nil, untriedCount > 0 else { return problem }
        return SyncError(
            .otherStore,
            """
            \(folder.mailbox.location) holds files of other databases, or such that look like them: the passphrase opens none \
            of those that were tried, and \(untriedCount) were not tried, as that takes long. Remove the folders that don't \
            belong to the database, or use a place of its own; if there are none, the passphrase is wrong
            """)
    }
}
