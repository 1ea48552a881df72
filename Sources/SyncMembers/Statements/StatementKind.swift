import SyncWire

/// What a statement says.
public enum StatementKind: Hashable, Sendable {
    /// There is a membership, with a first admin.
    case found(Founding)
    /// Somebody is a member from now on.
    case addMember(NewMember)
    /// A member has another role from now on.
    case setRole(RoleChange)
    /// A member is none any more, and none of its devices is one.
    case removeMember(MemberRemoval)
    /// A member has another device from now on.
    case addDevice(NewDevice)
    /// A device is none any more.
    case removeDevice(DeviceRemoval)
    /// The issuer writes a replica.
    case bindReplica(ReplicaID)
    /// There is a new content key.
    case epoch(Epoch)
    /// The holder of the recovery key puts a device in as an admin.
    case recover(Recovery)

    /// The byte that stands for the kind.
    var code: UInt8 {
        switch self {
        case .found: 1
        case .addMember: 2
        case .setRole: 3
        case .removeMember: 4
        case .addDevice: 5
        case .removeDevice: 6
        case .bindReplica: 7
        case .epoch: 8
        case .recover: 9
        }
    }
}

/// The first member, its first device, and the recovery key.
public struct Founding: Hashable, Sendable {
    /// The member.
    public let member: MemberID
    /// What it is called.
    public let name: MemberName
    /// Its device, which issues the statement.
    public let device: DeviceCard
    /// The public halves of the recovery key.
    public let recovery: RecoveryCard

    /// Makes the content of a founding statement.
    public init(member: MemberID, name: MemberName, device: DeviceCard, recovery: RecoveryCard) {
        self.member = member
        self.name = name
        self.device = device
        self.recovery = recovery
    }
}

/// A member, with its role and its first device.
public struct NewMember: Hashable, Sendable {
    /// The member. It was none before.
    public let member: MemberID
    /// What it is called.
    public let name: MemberName
    /// What it may do.
    public let role: MemberRole
    /// Its first device, which was none before.
    public let device: DeviceCard

    /// Makes the content of a statement that adds a member.
    public init(member: MemberID, name: MemberName, role: MemberRole, device: DeviceCard) {
        self.member = member
        self.name = name
        self.role = role
        self.device = device
    }
}

/// A member and its new role.
public struct RoleChange: Hashable, Sendable {
    /// The member.
    public let member: MemberID
    /// What it may do from now on: not what it may do already.
    public let role: MemberRole
    /// For a writer or admin who becomes a reader, the last change of each of its replicas that still counts.
    public let cutOffs: [ReplicaID: Int64]

    /// Makes the content of a statement that changes a role.
    public init(member: MemberID, role: MemberRole, cutOffs: [ReplicaID: Int64] = [:]) {
        self.member = member
        self.role = role
        self.cutOffs = cutOffs
    }
}

/// A member that is removed.
public struct MemberRemoval: Hashable, Sendable {
    /// The member.
    public let member: MemberID
    /// The last change of each of its replicas that still counts. Of a replica that is not named, none does.
    public let cutOffs: [ReplicaID: Int64]

    /// Makes the content of a statement that removes a member.
    public init(member: MemberID, cutOffs: [ReplicaID: Int64] = [:]) {
        self.member = member
        self.cutOffs = cutOffs
    }
}

/// A further device of a member.
public struct NewDevice: Hashable, Sendable {
    /// The member.
    public let member: MemberID
    /// The device, which was none before.
    public let device: DeviceCard

    /// Makes the content of a statement that adds a device.
    public init(member: MemberID, device: DeviceCard) {
        self.member = member
        self.device = device
    }
}

/// A device that is removed.
public struct DeviceRemoval: Hashable, Sendable {
    /// The device.
    public let device: DeviceID
    /// The last change of each of its replicas that still counts. Of a replica that is not named, none does.
    public let cutOffs: [ReplicaID: Int64]

    /// Makes the content of a statement that removes a device.
    public init(device: DeviceID, cutOffs: [ReplicaID: Int64] = [:]) {
        self.device = device
        self.cutOffs = cutOffs
    }
}

/// A new admin that the holder of the recovery key puts in.
public struct Recovery: Hashable, Sendable {
    /// The member. It was none before.
    public let member: MemberID
    /// What it is called.
    public let name: MemberName
    /// Its first device, which was none before.
    public let device: DeviceCard
    /// The public halves of the recovery key that counts from now on, if it is another one.
    public let successor: RecoveryCard?

    /// Makes the content of a statement that recovers.
    public init(member: MemberID, name: MemberName, device: DeviceCard, successor: RecoveryCard? = nil) {
        self.member = member
        self.name = name
        self.device = device
        self.successor = successor
    }
}
