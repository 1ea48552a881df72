import CipherStore
import SyncMembers
import SyncWire

/// A member, as a store knows it.
public struct KnownMember: Sendable, Equatable {
    /// What became of a member. New cases may be added.
    public enum Standing: String, Sendable {
        /// It was invited, and no store has used the invitation yet, as far as is known here.
        case invited
        /// It takes part.
        case active
        /// It was removed.
        case removed
    }

    /// Who it is.
    public let member: Member
    /// What became of it.
    public let standing: Standing
    /// Its devices that take part.
    public let activeDevices: [DeviceID]
    /// The replicas that its devices write.
    public let replicas: [ReplicaID]
    /// Whether this store is one of its devices.
    public let isOwn: Bool
    /// Since when this store knows of it, in milliseconds of Unix time.
    public let knownSinceMilliseconds: Int64
}

extension Membership {
    /// Those who are or were members, by their names; nil for a database without members.
    public func members() throws -> [KnownMember]? {
        try synchronizer.database.read { try Self.members($0) }
    }

    /// Those who are or were members, as a connection sees them.
    static func members(_ db: Database) throws -> [KnownMember]? {
        guard let record = try MembershipRecord.load(db, StoreMetadata.require(db).store) else { return nil }
        let times = try StatementLedger.times(db)
        let own = record.member?.id
        let written = Dictionary(grouping: record.state.replicas.keys) { record.state.replicas[$0]?.member }
        return record.state.members.values.map { member in
            let active = member.devices.filter { record.state.devices[$0]?.isActive == true }
            let replicas = (written[member.id] ?? []).sorted()
            return KnownMember(
                member: member, standing: standing(of: member, active, replicas, record.state),
                activeDevices: active, replicas: replicas, isOwn: member.id == own,
                knownSinceMilliseconds: times[member.addedBy] ?? 0)
        }.sorted {
            ($0.member.name.text, $0.member.id) < ($1.member.name.text, $1.member.id)
        }
    }

    private static func standing(
        of member: Member, _ active: [DeviceID], _ replicas: [ReplicaID], _ state: MembershipState
    ) -> KnownMember.Standing {
        guard member.role != nil else { return .removed }
        // Who accepts an invitation puts a device of its own in the place of the one for one use.
        guard case .addMember(let new) = state.statements[member.addedBy]?.statement.kind,
            member.devices == [new.device.id], active == [new.device.id], replicas.isEmpty
        else { return .active }
        return .invited
    }

    /// What this store may do: nil when it is no member's device any more, or the database has no members.
    public func role() throws -> MemberRole? { try record()?.role }
}
