import CipherStore
import SyncMembers
import SyncWire

/// Who takes part in a database that replicas carry through folders, buckets and relays.
///
/// ```swift
/// let recovery = try synchronizer.membership.found(Membership.Name("anna"))
/// let invitation = try synchronizer.membership.invite(Membership.Name("ben"), as: .writer)
/// _ = try synchronizer.run(.both, folder)     // the statements and the key go there
/// …
/// try synchronizer.membership.remove(ben)     // from the next synchronization on, ben reads and writes nothing new
/// ```
///
/// What is said here is kept in the store, and travels with the next synchronization through a mailbox.
/// `Schemas/membership/v1.md` has the rule, and `Schemas/folder/v1.md` what it means for files.
public struct Membership: Sendable {
    /// What a member is called.
    public typealias Name = MemberName
    /// What a member may do.
    public typealias Role = MemberRole
    /// What follows from all statements about members.
    public typealias State = MembershipState
    /// The key on paper that puts in a new admin.
    public typealias RecoveryKey = MembershipRecoveryKey

    let synchronizer: Synchronizer

    /// Founds the membership: this store is the device of its first admin from now on, and only files of members are taken
    /// in. Other replicas of the database need an invitation each.
    ///
    /// - parameter name: What the first member is called.
    /// - returns: The key that puts in a new admin when none is left. It is kept nowhere: print it. Where a program can end
    ///   before that, make the key first: ``found(_:recoveryKey:)``.
    /// - throws: ``SyncError`` of code `notMember` when there is a membership already.
    public func found(_ name: MemberName) throws -> MembershipRecoveryKey {
        let recovery = try MembershipRecoveryKey()
        try found(name, recoveryKey: recovery)
        return recovery
    }

    /// Founds the membership with a recovery key that its owner has already, so that no end of the program can lose it.
    ///
    /// - parameters:
    ///     - name: What the first member is called.
    ///     - recovery: The key that puts in a new admin when none is left. It is kept nowhere: print it first.
    /// - throws: ``SyncError`` of code `notMember` when there is a membership already.
    public func found(_ name: MemberName, recoveryKey recovery: MembershipRecoveryKey) throws {
        try found(name, recovery, replaces: false)
    }

    /// Founds another membership in the place of the one that the store knows: nothing that was said before counts here any more.
    ///
    /// It is for when nothing can be said any more: those who belong to a database, or did, can use up its statements, so that
    /// nobody can be removed. Synchronize first. This store keeps what it has, takes in files of the new members only, and can't open
    /// those from before. Other stores stay with the former members until they accept an invitation of the new ones:
    /// ``acceptAnew(_:through:)``.
    ///
    /// - parameters:
    ///     - name: What the first member is called.
    ///     - recovery: The key that puts in a new admin when none is left. It is kept nowhere: print it first.
    /// - throws: ``SyncError``, `DatabaseError`.
    public func foundAnew(_ name: MemberName, recoveryKey recovery: MembershipRecoveryKey) throws {
        try found(name, recovery, replaces: true)
    }

    private func found(_ name: MemberName, _ recovery: MembershipRecoveryKey, replaces: Bool) throws {
        let keys = try MemberDeviceKeys()
        let environment = synchronizer.environment
        try synchronizer.database.write { db in
            try MetadataSchema.upgrade(db)
            let store = try StoreMetadata.require(db).store
            guard try replaces || StatementLedger.founding(db) == nil else {
                throw SyncError(.notMember, "the database has members already")
            }
            // Of members from before, too: a content key that is here would go into the next epoch.
            try MemberSecrets.removeAll(db)
            try StatementFiles.removeAll(db)
            let founding = try MembershipState.found(
                store, member: environment.identifier(), name: name, keys: keys, recovery: recovery.card)
            try StatementLedger.setFounding(db, founding.id)
            try MemberSecrets.setDevice(db, keys)
            var record = MembershipRecord(
                try MembershipState(store: store, founding: founding.id, statements: [founding]), device: keys
            )
            let epoch = try record.sayEpoch()
            try record.save(db, [founding, epoch], at: environment.milliseconds())
        }
    }

    /// Who takes part, as far as it is known here; nil for a database without members.
    public func state() throws -> MembershipState? { try record()?.state }

    /// How far this store is in what was said about members, which is quickly asked; nil for a database without members.
    package func position() throws -> MembershipPosition? {
        try synchronizer.database.read { try StatementLedger.position($0) }
    }

    func record() throws -> MembershipRecord? {
        try synchronizer.database.read { try MembershipRecord.load($0, StoreMetadata.require($0).store) }
    }

    // MARK: Invitations

    /// Adds a member, and makes an invitation for one store. It can be used once the next synchronization has brought it
    /// to the mailbox; this store need not be there then.
    ///
    /// - throws: ``SyncError`` of code `notMember`; a `MembershipError` of code `notAllowed` when this store is no admin's, or of
    ///   code `tooLarge` when so much was said that the rest is for removals and recoveries.
    public func invite(_ name: MemberName, as role: MemberRole) throws -> MembershipInvitation {
        let keys = try MemberDeviceKeys()
        let record = try speak { record, environment in
            try record.requireRoomForMember()
            let member = NewMember(
                member: environment.identifier(), name: name, role: role, device: keys.card)
            return try [record.say(.addMember(member))] + record.sayEpochs()
        }
        return MembershipInvitation(
            founding: record.state.founding, keys: keys, store: record.state.store)
    }

    /// Makes this store, which is a replica of the database already, a device of the member who is invited.
    ///
    /// - parameters:
    ///     - invitation: What ``invite(_:as:)`` made, of which nobody else has made use.
    ///     - mailbox: Where the statements are that the invitation rests upon.
    /// - throws: ``SyncError`` of code `notMember` when the invitation does not count, or the store is a member's device already.
    public func accept(_ invitation: MembershipInvitation, through mailbox: MailboxTransport) throws {
        try accept(invitation, through: mailbox, replaces: false)
    }

    /// Makes this store a device of a member who was invited to another membership of the database than the one that it knows:
    /// ``foundAnew(_:recoveryKey:)``. Nothing that was said before counts here any more.
    ///
    /// - parameters:
    ///     - invitation: What ``invite(_:as:)`` made, of which nobody else has made use. Be sure by whom it is: whoever made it
    ///       says from now on whose files this store takes in.
    ///     - mailbox: Where the statements are that the invitation rests upon.
    /// - throws: As ``accept(_:through:)``; ``SyncError`` of code `notMember` when the store is a member's device of the same
    ///   membership already.
    public func acceptAnew(_ invitation: MembershipInvitation, through mailbox: MailboxTransport) throws {
        try accept(invitation, through: mailbox, replaces: true)
    }

    private func accept(
        _ invitation: MembershipInvitation, through mailbox: MailboxTransport, replaces: Bool
    ) throws {
        let store = try requireStore(of: invitation)
        _ = try synchronizer.database.read { try Self.known($0, invitation, replaces: replaces) }
        var statements = try FolderStatements(mailbox, FolderContents.replicas(in: mailbox))
        let record = try statements.pull(
            founding: invitation.founding, device: invitation.keys, of: store)
        let environment = synchronizer.environment
        try synchronizer.database.write { db in
            try MetadataSchema.upgrade(db)
            guard try StoreMetadata.require(db).store == record.state.store else {
                throw Self.otherStore
            }
            // Another process may have accepted one meanwhile, and two acceptances would void each other.
            let known = try Self.known(db, invitation, replaces: replaces)
            try invitation.accept(record, beside: known, in: db, environment)
        }
    }

    /// What a store knows of the members that an invitation is of, which it may accept.
    ///
    /// - returns: nil when it knows nothing of them.
    /// - throws: ``SyncError`` of code `notMember` when it is a member's device already.
    private static func known(
        _ db: Database, _ invitation: MembershipInvitation, replaces: Bool
    ) throws -> MembershipRecord? {
        let isSame = try StatementLedger.founding(db) == invitation.founding
        // What is replaced may be damaged.
        guard isSame || !replaces else { return nil }
        let record = try MembershipRecord.load(db, StoreMetadata.require(db).store)
        guard record?.role == nil else {
            throw SyncError(.notMember, "this store is a device of a member already")
        }
        return isSame ? record : nil
    }

    // MARK: Statements

    /// Says something as this store's device.
    @discardableResult
    func speak(
        _ body: (inout MembershipRecord, SyncEnvironment) throws -> [SignedStatement]
    ) throws -> MembershipRecord {
        try synchronizer.upgradeMetadata()
        let peer = synchronizer.peer
        return try peer.speak(in: peer.store()) { try body(&$0, synchronizer.environment) }
    }
}

extension Synchronizer {
    /// The members of the database.
    public var membership: Membership { Membership(synchronizer: self) }
}
