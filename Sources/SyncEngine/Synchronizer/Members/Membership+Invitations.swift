import CipherStore
import SyncMembers
import SyncWire

/// Invitations that nobody has used, and until when they can be.
///
/// Statements have no times, and a link has: so the store that made the link remembers its end. Nobody is removed for that the end
/// is over: whoever has used the link may have written ever since, and not have synchronized, or not where this store has looked.
extension Membership {
    /// Remembers until when an invitation can be used that this store has made. One of which that is not known waits for good.
    ///
    /// - parameters:
    ///     - invitation: What ``invite(_:as:)`` made.
    ///     - milliseconds: Until when, in milliseconds of Unix time.
    /// - throws: `SyncError` of code `damagedMetadata`; `DatabaseError`.
    package func note(endOf invitation: MembershipInvitation, _ milliseconds: Int64) throws {
        // All in one transaction: another process may be inviting somebody, whose end is to stay.
        try synchronizer.database.write { db in
            let invited = (try Self.members(db) ?? []).filter { $0.standing == .invited }
            let open = Set(invited.flatMap(\.activeDevices))
            // Of those who came or were removed nobody asks any more.
            for device in try InvitationTimes.load(db).keys where !open.contains(device) {
                try InvitationTimes.set(db, device, nil)
            }
            try InvitationTimes.set(db, invitation.keys.card.id, milliseconds)
        }
    }

    static var otherStore: SyncError { SyncError(.otherStore, "the invitation is for another database") }

    /// Checks that an invitation is for the database of this store. One by an older program does not say for which it is.
    ///
    /// - parameter invitation: What ``invite(_:as:)`` made.
    /// - returns: The database.
    /// - throws: `SyncError` of code `otherStore`, `damagedMetadata`; `DatabaseError`.
    @discardableResult
    package func requireStore(of invitation: MembershipInvitation) throws -> StoreID {
        let store = try synchronizer.peer.store()
        guard invitation.store == nil || invitation.store == store else { throw Self.otherStore }
        return store
    }

    /// Whether this store is a device of a member already, among others than those whom an invitation is by: members of its database
    /// who were founded apart from them. Neither takes in what the others write.
    ///
    /// - parameter invitation: What ``invite(_:as:)`` made.
    /// - throws: `SyncError` of code `damagedMetadata`; `DatabaseError`.
    package func isApart(from invitation: MembershipInvitation) throws -> Bool {
        try knowsOthers(than: invitation) && role() != nil
    }

    /// Whether this store knows members of its database who were founded apart from those whom an invitation is by. Nothing else of
    /// them is read: what is to be replaced may be damaged.
    ///
    /// - parameter invitation: What ``invite(_:as:)`` made.
    /// - throws: `SyncError` of code `damagedMetadata`; `DatabaseError`.
    package func knowsOthers(than invitation: MembershipInvitation) throws -> Bool {
        try position().map { $0.founding != invitation.founding } ?? false
    }

    /// Whether this store became a device of its member by an invitation.
    ///
    /// - parameter invitation: What ``invite(_:as:)`` made.
    /// - returns: False for stores that are no member's device any more, too.
    /// - throws: `SyncError` of code `damagedMetadata`; `DatabaseError`.
    package func hasAccepted(_ invitation: MembershipInvitation) throws -> Bool {
        guard let known = try record(), known.role != nil, let member = known.member,
            let device = known.state.devices[invitation.keys.card.id]
        else { return false }
        return device.member == member.id && !device.isActive
    }

    /// Removes the member whom an invitation was for that reaches nobody.
    ///
    /// - throws: As ``remove(_:)``.
    package func withdraw(_ invitation: MembershipInvitation) throws {
        guard let device = try state()?.devices[invitation.keys.card.id] else { return }
        try remove(device.member)
    }

    /// Those who were invited under a name, by something that can still be used as far as this store knows.
    ///
    /// - parameter name: The name.
    /// - returns: The members, of whom there is one at most unless several stores have invited.
    /// - throws: `SyncError` of code `damagedMetadata`; `DatabaseError`.
    package func openInvitations(of name: MemberName) throws -> [KnownMember] {
        let expired = Set(try expiredInvitations().map(\.member.id))
        return try invited().filter { $0.member.name == name && !expired.contains($0.member.id) }
    }

    /// Those who were invited by something that can't be used any more, if this store is an admin's and knows of nobody who
    /// has used it.
    ///
    /// - returns: The members, by their names.
    /// - throws: `SyncError` of code `damagedMetadata`; `DatabaseError`.
    package func expiredInvitations() throws -> [KnownMember] {
        guard try role() == .admin else { return [] }
        let (times, now) = (try ends(), synchronizer.environment.milliseconds())
        return try invited().filter { known in
            known.activeDevices.contains { device in times[device].map { $0 <= now } ?? false }
        }
    }

    /// The names of those who were invited and have not come as far as this store knows.
    ///
    /// - returns: The names, of invitations that can still be used and of others.
    /// - throws: `SyncError` of code `damagedMetadata`; `DatabaseError`.
    package func invitedNames() throws -> Set<MemberName> { Set(try invited().map(\.member.name)) }

    private func invited() throws -> [KnownMember] {
        (try members() ?? []).filter { $0.standing == .invited }
    }

    private func ends() throws -> [DeviceID: Int64] {
        try synchronizer.database.read { try InvitationTimes.load($0) }
    }
}

/// Until when invitations can be used that this store has made: settings of it, by their devices for one use.
private enum InvitationTimes {
    private static let prefix = "membership.invitation "

    static func load(_ db: Database) throws -> [DeviceID: Int64] {
        var times: [DeviceID: Int64] = [:]
        for (name, value) in try SyncSetting.texts(db, withPrefix: prefix) {
            // Other programs may write anything, and times are subtracted.
            guard let device = DeviceID(hexadecimal: name), let time = Int64(value), time > 0 else {
                continue
            }
            times[device] = time
        }
        return times
    }

    /// Notes the end of an invitation, or forgets it.
    static func set(_ db: Database, _ device: DeviceID, _ milliseconds: Int64?) throws {
        try SyncSetting.set(db, prefix + device.description, milliseconds.map { String($0) })
    }
}
