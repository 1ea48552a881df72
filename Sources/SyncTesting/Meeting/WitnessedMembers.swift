import SyncEngine
import SyncMembers

/// What a run knows of the members of its database.
struct WitnessedMembers {
    /// What puts in an admin when none is left.
    let recovery: Membership.RecoveryKey
    /// Those that were sent, some of which were used or taken back.
    var invitations: [MembershipInvitation] = []
    /// How many members were named.
    private var nameCount = 0
    /// What was written by stores that knew of the removal of a store's member, by the number of that store.
    private var secrets: [Int: Set<String>] = [:]

    init(recovery: Membership.RecoveryKey) { self.recovery = recovery }

    /// A name that no member has.
    mutating func newName() throws -> Membership.Name {
        nameCount += 1
        return try Membership.Name("member \(nameCount)")
    }

    /// Values must not come to a store.
    mutating func keep(_ values: Set<String>, from store: Int) {
        secrets[store, default: []].formUnion(values)
    }

    /// The values that must not be in a store, and are.
    func leaked(_ values: Set<String>, to store: Int) -> Set<String> {
        secrets[store].map(values.intersection) ?? []
    }

    /// A store takes part again, and may read everything.
    mutating func trust(_ store: Int) { secrets[store] = nil }
}

extension WitnessedStore {
    var membership: Membership { synchronizer.membership }

    /// What it believes that it may do; nil when it is no member's device.
    func role() throws -> Membership.Role? { try membership.role() }

    /// Notes whose device it is now.
    func identify() throws {
        member = try membership.members()?.first { $0.isOwn }?.member.id ?? member
    }

    /// The members that it knows to be removed.
    func removedMembers() throws -> Set<MemberID> {
        Set((try membership.members() ?? []).filter { $0.standing == .removed }.map(\.member.id))
    }
}
