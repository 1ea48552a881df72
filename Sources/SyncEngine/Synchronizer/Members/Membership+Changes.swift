import CipherStore
import SyncMembers
import SyncWire

extension Membership {
    /// Removes a member: what it writes from now on nobody takes in, and what others write it can't read.
    ///
    /// What is known here of its changes stays, and so do changes of it that others take in before they know of the removal.
    ///
    /// - throws: ``SyncError`` of code `notMember`; a `MembershipError` of code `notAllowed` when this store is no admin's, or
    ///   there is no such member.
    public func remove(_ member: MemberID) throws {
        try removing { record, vector in
            let cutOffs = record.state.cutOffs(ofMember: member, knowing: vector)
            return .removeMember(MemberRemoval(member: member, cutOffs: cutOffs))
        }
    }

    /// Removes a device: of this store's own member, or as an admin.
    ///
    /// - throws: As ``remove(_:)``.
    public func removeDevice(_ device: DeviceID) throws {
        try removing { record, vector in
            let cutOffs = record.state.cutOffs(ofDevice: device, knowing: vector)
            return .removeDevice(DeviceRemoval(device: device, cutOffs: cutOffs))
        }
    }

    /// Gives a member another role. A writer who becomes a reader reads on, and what it writes nobody takes in.
    ///
    /// - throws: As ``remove(_:)``.
    public func setRole(_ role: MemberRole, of member: MemberID) throws {
        try removing { record, vector in
            let cutOffs = role >= .writer ? [:] : record.state.cutOffs(ofMember: member, knowing: vector)
            return .setRole(RoleChange(member: member, role: role, cutOffs: cutOffs))
        }
    }

    private func removing(_ body: (MembershipRecord, VersionVector) throws -> StatementKind) throws {
        let vector = try synchronizer.peer.greet().vector
        try speak { record, _ in
            var said = [try record.say(try body(record, vector))]
            if record.makesEpoch { said += try record.sayEpochWhereThereIsRoom() }
            return said
        }
    }

    /// Makes this store the device of a new admin, by the key that the founding printed.
    ///
    /// Synchronize first, with `.pull` at least, and at once afterwards: of two recoveries that did not know each other one counts, and
    /// whom the other one let in is out, its admin too.
    ///
    /// Another key keeps stores that know of it from taking this one. It does not end what somebody can do who has this one and reaches
    /// the place: that one can sign recoveries as if before, any number of them, and the other key does not count any more. Against
    /// that, begin anew in another place: ``foundAnew(_:recoveryKey:)``.
    ///
    /// - parameters:
    ///     - key: The recovery key.
    ///     - name: What the new admin is called.
    ///     - successor: Whether another recovery key counts from now on.
    /// - returns: The recovery key that counts from now on, when it is another one. It is kept nowhere: print it.
    /// - throws: ``SyncError`` of code `notMember` when the database has no members; a `MembershipError` of code
    ///   `notAllowed` when another key counts.
    @discardableResult
    public func recover(
        by key: MembershipRecoveryKey, as name: MemberName, renewingKey successor: Bool = false
    ) throws -> MembershipRecoveryKey? {
        let next = successor ? try MembershipRecoveryKey() : nil
        try recover(by: key, as: name, successor: next)
        return next
    }

    /// Makes this store the device of a new admin, and another recovery key count, which its owner has already: so no end of
    /// the program can lose it. Synchronize first, and at once afterwards: ``recover(by:as:renewingKey:)``.
    ///
    /// - parameters:
    ///     - key: The recovery key.
    ///     - name: What the new admin is called.
    ///     - next: The recovery key that counts from now on; nil when it stays the same. It is kept nowhere: print it first.
    /// - throws: ``SyncError`` of code `notMember` when the database has no members; a `MembershipError` of code
    ///   `notAllowed` when another key counts.
    public func recover(
        by key: MembershipRecoveryKey, as name: MemberName, successor next: MembershipRecoveryKey?
    ) throws {
        let device = try MemberDeviceKeys()
        let environment = synchronizer.environment
        try synchronizer.upgradeMetadata()
        try synchronizer.database.write { db in
            let store = try StoreMetadata.require(db).store
            guard var record = try MembershipRecord.load(db, store) else {
                throw SyncError(.notMember, "the store knows of no members")
            }
            let recovery = Recovery(
                member: environment.identifier(), name: name, device: device.card, successor: next?.card)
            let statement = try record.state.recovering(recovery, by: key)
            try record.add(statement)
            // The recovery key opens what the new device would wait for.
            record.open(with: key)
            record.use(device)
            let epoch = try record.sayEpochWhereThereIsRoom()
            try MemberSecrets.setDevice(db, device)
            try record.save(db, [statement] + epoch, at: environment.milliseconds())
        }
    }
}
