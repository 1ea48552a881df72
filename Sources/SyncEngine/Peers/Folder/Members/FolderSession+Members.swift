import CipherStore
import SyncMembers
import SyncWire

/// What a session does because the database has members. Without any it does nothing of this.
extension FolderSession {
    /// Reads new statements, and opens the files of the epochs whose keys are here.
    mutating func meetMembers(_ replicas: [ReplicaID]) throws {
        guard try peer.hasMembers() else { return }
        var statements = try FolderStatements(folder, replicas)
        guard let record = try statements.pull(peer) else { return }
        self.statements = statements
        members = FolderMembers(record, statements)
        folder = folder.opening(record.filePassphrases())
    }

    /// Notes of whom it was told before that their member was removed, and of whom it is told now.
    func noteRemovals(_ report: inout FolderReport) throws {
        let removed = Set(report.refused.filter { $0.reason == .removed }.map(\.replica))
        guard !removed.isEmpty else { return }
        let told = try peer.database.read { try ToldRemovals.load($0) }
        report.toldRemovals = told
        let new = removed.subtracting(told)
        // What can't be noted is told again, and the exchange is done.
        if !new.isEmpty { try? peer.database.write { try ToldRemovals.add($0, new) } }
    }

    /// Says what has to be said before anything is written: who writes this replica, and with which key.
    ///
    /// - returns: Whether this store writes its head, and more if it may.
    mutating func prepareMembers(
        _ contents: FolderContents, _ greeting: Greeting, _ report: inout FolderReport
    ) throws -> Bool {
        guard var members else { return true }
        guard let device = members.record.device else {
            report.unsent = try unsent(.noDevice, contents.reachable(), greeting)
            return false
        }
        try recheckStatements(contents, greeting.replica, &report)
        guard members.role != nil else {
            // What it said before it knew may count, such as that somebody else is removed.
            try statements?.push(members.record, through: folder, of: greeting.replica, peer)
            let isLost = members.record.state.isLostToOtherRecovery(device.card.id)
            report.unsent = try unsent(isLost ? .otherRecovery : .removed, contents.reachable(), greeting)
            return false
        }
        if !members.isWritten(greeting.replica, by: device.card.id) || members.record.makesEpoch {
            do {
                members.record = try peer.speak(in: members.record.state.store) { record in
                    var said: [SignedStatement] = []
                    if !FolderMembers(record).isWritten(greeting.replica, by: device.card.id) {
                        said.append(try record.say(.bindReplica(greeting.replica)))
                    }
                    if record.makesEpoch { said += try record.sayEpochs() }
                    return said
                }
            } catch let error as MembershipError {
                // What was written before goes on to be read.
                report.remarks.append("nothing can be said about members: \(error.message)")
            }
            self.members = members
            folder = folder.opening(members.record.filePassphrases())
        }
        try statements?.push(members.record, through: folder, of: greeting.replica, peer)
        guard let current = members.record.current else {
            let state = members.record.state
            if members.record.makesEpoch, state.heads.count > MembershipLimits.parentCountMax,
                state.hasRoomBesideRemovals
            {
                report.remarks.append(
                    "so much was said of members at once that it takes another synchronization")
            }
            let reason = members.record.reasonOfMissingKey
            let waiting = try unsent(reason, contents.reachable(), greeting)
            // A key, which the head waits for, would not send a reader's own changes. Without any, it has nothing to send.
            let isForGood = reason == .noEpoch && members.role == .reader
            report.unsent = isForGood ? UnsentChanges(count: waiting.count, reason: .role(.reader)) : waiting
            if isForGood, waiting.count == 0 { report.unsent = nil }
            return false
        }
        folder = folder.writing(in: current.epoch)
        return true
    }

    /// Looks again at the files that should hold what other members don't find. What they don't hold is written again.
    private mutating func recheckStatements(
        _ contents: FolderContents, _ own: ReplicaID, _ report: inout FolderReport
    ) throws {
        guard let members, var statements else { return }
        let lacked = members.lacked(in: contents, but: own)
        guard !lacked.isEmpty else { return }
        let told = statements.remarks.count
        let complaining = contents.heads.filter { $0.key != own && !$0.value.lackedNames.isEmpty }
        let complaints = complaining.map { "\($0.key) \($0.value.generation)" }
        try statements.recheck(lacked, complaints, members.record.state, peer)
        report.remarks += statements.remarks.dropFirst(told)
        self.statements = statements
    }

    /// What a replica does that may only read: it says what it knows of others, and sends nothing.
    func keepToItself(
        _ head: inout FolderHead, _ reachable: VersionVector, _ greeting: Greeting,
        _ report: inout FolderReport
    ) throws {
        var vector = greeting.vector
        vector[greeting.replica] = min(vector[greeting.replica], reachable[greeting.replica])
        head.vector = FolderHead.encode(vector)
        head.bundles = []
        head.snapshot = nil
        head.points = []
        guard let role = members?.role else { return }
        let unsent = try unsent(.role(role), reachable, greeting)
        if unsent.count > 0 { report.unsent = unsent }
    }

    /// What this replica keeps, and why.
    func unsent(
        _ reason: UnsentChanges.Reason, _ reachable: VersionVector, _ greeting: Greeting
    ) throws -> UnsentChanges {
        var known = reachable[greeting.replica]
        // What whoever removed it knew counts, although the files here that show it do not any more.
        if let standing = members?.record.state.replicas[greeting.replica], standing.lastSequence < .max {
            known = max(known, standing.lastSequence)
        }
        return UnsentChanges(
            count: try peer.database.read { try ChangeLog.changeCount($0, after: known) }, reason: reason)
    }
}

extension FolderMembers {
    /// The mailbox as this store writes into it beside a session.
    ///
    /// - throws: ``SyncError`` of code `notMember` when it may not, or not yet.
    func writing(_ mailbox: MailboxTransport, of replica: ReplicaID) throws -> MailboxTransport {
        guard let device = record.device, let role, role >= .writer else {
            throw SyncError(
                .notMember,
                "this store may not write here: it is no device of a member who is writer or admin")
        }
        guard let current = record.current, isWritten(replica, by: device.card.id) else {
            throw SyncError(.notMember, "synchronize first: this store has not said yet what it writes")
        }
        return mailbox.writing(in: current.epoch)
    }
}

extension StorePeer {
    /// The members, with what the statements in a mailbox say that are new; nil when the store knows of none.
    ///
    /// - parameter mailbox: Opens the files of their epochs then.
    func meetMembers(_ replicas: [ReplicaID], _ mailbox: inout MailboxTransport) throws -> FolderMembers? {
        guard try hasMembers() else { return nil }
        var statements = try FolderStatements(mailbox, replicas)
        guard let record = try statements.pull(self) else { return nil }
        mailbox = mailbox.opening(record.filePassphrases())
        return FolderMembers(record, statements)
    }

    /// Whether the store knows of members of its database.
    func hasMembers() throws -> Bool { try database.read { try StatementLedger.founding($0) != nil } }

    /// Says something about members, and keeps it.
    ///
    /// - parameter body: Makes the statements, and adds them to what it is given.
    /// - returns: What is known then.
    func speak(
        in store: StoreID, _ body: (inout MembershipRecord) throws -> [SignedStatement]
    ) throws -> MembershipRecord {
        try database.write { db in
            guard var record = try MembershipRecord.load(db, store) else {
                throw SyncError(.notMember, "the store knows of no members")
            }
            let said = try body(&record)
            try record.save(db, said, at: environment.milliseconds())
            return record
        }
    }
}
