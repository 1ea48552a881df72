import CipherStore
import SyncMembers
import SyncWire

extension Synchronizer {
    /// Puts an encrypted snapshot of the store into a mailbox, from which new replicas can begin. It
    /// holds the whole file, as ``clone(to:passphrase:progress:)`` does: tables that are not tracked too.
    /// Beside the store, there has to be room for an encrypted copy of it meanwhile.
    ///
    /// In a database with members, it is for those who take part now. Synchronize first, so that it says who they are.
    ///
    /// - throws: As ``run(_:_:progress:)-(_,MailboxTransport,_)``; ``SyncError``: `notMember` when this store may not write;
    ///   `scopeUnsupported` when it holds some tables or rows only, or exchanges no others with the mailbox. Nothing is
    ///   written then.
    public func publishSnapshot(
        in mailbox: MailboxTransport, progress: StoreProgressHandler? = nil
    ) throws {
        try UnnamedRemote.requireOther(mailbox.name)
        let greeting = try peer.greet()
        // Whoever begins from it believes that it has everything.
        try peer.requireAllTables(greeting, with: mailbox.name)
        var mailbox = mailbox
        let replicas = try FolderContents.replicas(in: mailbox)
        let members = try peer.meetMembers(replicas, &mailbox)
        var contents = try FolderContents(
            mailbox, store: greeting.store, replicas: replicas, members: members,
            checked: peer.checkedFiles(.bundles, in: mailbox.name))
        if let members { mailbox = try members.writing(mailbox, of: greeting.replica) }
        let own = FolderPaths(greeting.replica)
        let name = FolderPaths.snapshotName(environment.milliseconds(), environment.random())
        var digest: DigestingSink?
        let byteCount = try mailbox.place.write(own.file(name), replacing: false) { sink in
            let digesting = DigestingSink(sink)
            digest = digesting
            try archive(lock: mailbox.lock(greeting.store), progress: progress, to: digesting.write)
        }
        // That took long: what another process of this file has listed meanwhile stays.
        _ = try FolderContents.replicas(in: mailbox)
        contents.readAgain(greeting.replica, of: greeting.store)
        // A head announces what can be had from the folder, which a snapshot alone does not give to all.
        var head = contents.heads[greeting.replica] ?? FolderHead(greeting, vector: VersionVector())
        head.prepare(for: members?.record.device?.card.id)
        let former = head.snapshot?.name
        head.snapshot = FolderHead.File(
            name: name, base: [:], target: FolderHead.encode(greeting.vector), byteCount: byteCount,
            sha256: members == nil ? nil : digest?.text)
        try contents.write(&head, through: mailbox, environment)
        if let digest {
            let entry = try? mailbox.place.files(in: own.folder).first { $0.name == name }
            let record = SnapshotRecord(
                name: name, sha256: digest.text, checkedMilliseconds: environment.milliseconds(),
                version: SnapshotRecord.usable(entry?.version))
            // It is published: without this, its size alone tells later that it was damaged.
            try? database.write { try record.save($0, mailbox: mailbox.name) }
        }
        if let former { mailbox.place.remove(own.file(former)) }
    }

    /// Whether a mailbox holds a snapshot that a new replica could begin with.
    ///
    /// - throws: As ``run(_:_:progress:)-(_,MailboxTransport,_)``.
    package func hasSnapshot(in mailbox: MailboxTransport) throws -> Bool {
        var mailbox = mailbox
        let replicas = try FolderContents.replicas(in: mailbox)
        let members = try peer.meetMembers(replicas, &mailbox)
        let contents = try FolderContents(mailbox, store: peer.store(), replicas: replicas, members: members)
        return !contents.snapshots.isEmpty
    }

    /// Makes a replica of the snapshot that a mailbox holds. What came after the snapshot comes with
    /// the first ``run(_:_:progress:)-(_,MailboxTransport,_)``.
    ///
    /// - parameters:
    ///     - mailbox: The place that keeps the files.
    ///     - path: Where the new store goes; no file may be there.
    ///     - passphrase: The passphrase of the new store.
    ///     - invitation: What makes it a device of a member, in a database that has members.
    ///     - environment: Where time and randomness come from.
    ///     - progress: Called with how far it is; an error that it throws ends the whole.
    /// - throws: ``SyncError``: `snapshotMissing`, `otherStore` when the mailbox serves several databases, or holds so many
    ///   files of others that not all are tried, `notMember` when it
    ///   has members and the invitation is missing or does not count any more, `unsafeSchema` when the snapshots have
    ///   triggers, views or others that reach into what synchronization keeps for itself; `StoreError`, `DatabaseError`;
    ///   ``MailboxError`` of code `unreachable`. No file is left at `path` then.
    public static func join(
        _ mailbox: MailboxTransport, at path: String, passphrase: borrowing Passphrase,
        invitation: MembershipInvitation? = nil, environment: SyncEnvironment = .system,
        progress: StoreProgressHandler? = nil
    ) throws {
        var (mailbox, members): (MailboxTransport, FolderMembers?) = (mailbox, nil)
        let replicas = try FolderContents.replicas(in: mailbox)
        if let invitation {
            var statements = try FolderStatements(mailbox, replicas)
            let record = try statements.pull(
                founding: invitation.founding, device: invitation.keys, of: invitation.store)
            try invitation.requireActive(record)
            members = FolderMembers(record, statements)
            mailbox = mailbox.opening(record.filePassphrases())
        }
        let contents = try FolderContents(
            mailbox, store: members?.record.state.store, replicas: replicas, members: members)
        guard Set(contents.heads.values.map(\.store)).count <= 1 else {
            throw SyncError(.otherStore, "the folder holds several databases")
        }
        let store = members?.record.state.store ?? contents.heads.values.lazy.compactMap(\.store).first
        var problem: (any Error)?
        for snapshot in contents.snapshots {
            let location = mailbox.place.location(of: snapshot.file)
            do {
                let source = DigestedSource(
                    try mailbox.place.open(snapshot.file), expected: snapshot.digest)
                return try restore(
                    archive: source, name: location, to: path, opening: mailbox.secret,
                    passphrase: passphrase, environment: environment, progress: progress,
                    checking: { copy in
                        try source.check()
                        try requireReplica(copy, of: store, location)
                    },
                    finishing: { copy in
                        guard let invitation, let members else { return }
                        // Those of the mailbox count, which were read one by one, and none that only its writer has.
                        try StatementLedger.removeAll(copy)
                        try invitation.accept(members.record, in: copy, environment)
                    })
            } catch is DigestedSource.Mismatch {
                problem = StoreError(
                    .archiveDamaged, "the snapshot is not the one that its member has signed", path: location)
            } catch let error as StoreError where error.code != .cancelled && error.code != .exists {
                problem = error
            } catch let error as SyncError where snapshotCodes.contains(error.code) {
                // A writer must not keep newcomers out by a snapshot that nobody can begin with.
                problem = error
            } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
                problem = error
            }
        }
        throw problem ?? snapshotMissing(in: mailbox, replicas.isEmpty, contents.remarks)
    }

    private static func snapshotMissing(
        in mailbox: MailboxTransport, _ isEmpty: Bool, _ remarks: [String]
    ) -> SyncError {
        // What could not be read may have announced one.
        let more = remarks.prefix(remarkCountMax).map { "; " + $0 }.joined()
        let lack = isEmpty ? "no files of replicas" : "no snapshot that a replica could begin with"
        return SyncError(.snapshotMissing, "\(mailbox.place.mailbox.location) holds \(lack)\(more)")
    }

    /// Checks that what a snapshot holds is a replica of the database, so that nothing else is taken for one.
    ///
    /// - throws: `StoreError` of code `archiveDamaged`; ``SyncError``, `DatabaseError`.
    private static func requireReplica(_ copy: Database, of store: StoreID?, _ location: String) throws {
        guard try copy.tableExists(SyncNames.state, in: "main") else {
            throw StoreError(.archiveDamaged, "the snapshot holds no replica", path: location)
        }
        guard try store == nil || StoreMetadata.require(copy).store == store else {
            throw StoreError(
                .archiveDamaged, "the snapshot holds a replica of another database", path: location)
        }
    }

    /// What can be wrong with a single snapshot.
    private static let snapshotCodes: Set<SyncError.Code> = [
        .unsafeSchema, .damagedMetadata, .metadataTooNew,
    ]

    /// So many files of a mailbox are named in one error.
    private static let remarkCountMax = 3
}
