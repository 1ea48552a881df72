import SyncWire

/// A member, as all statements together say.
public struct Member: Hashable, Sendable {
    /// The member.
    public let id: MemberID
    /// What it is called.
    public let name: MemberName
    /// What it may do; nil when it was removed.
    public let role: MemberRole?
    /// Its devices in ascending order, removed ones too.
    public let devices: [DeviceID]
    /// The statement that added it.
    public let addedBy: StatementID
    /// The statements that removed it, in ascending order.
    public let removedBy: [StatementID]
}

/// A device, as all statements together say.
public struct MemberDevice: Hashable, Sendable {
    /// The public halves of its keys.
    public let card: DeviceCard
    /// The member that it belongs to.
    public let member: MemberID
    /// Whether it takes part: neither it nor its member was removed.
    public let isActive: Bool
    /// The statement that added it.
    public let addedBy: StatementID
    /// The statements that removed it or its member, in ascending order.
    public let removedBy: [StatementID]
}

/// A replica that a device writes, as all statements together say.
public struct MemberReplica: Hashable, Sendable {
    /// The device that writes it.
    public let device: DeviceID
    /// The member that the device belongs to.
    public let member: MemberID
    /// The last of its changes that counts: 0 when none does, the largest number when all do.
    public let lastSequence: Int64
    /// Other devices that claim it, in ascending order. A device that has claimed in good faith what
    /// another one has takes a new replica identifier.
    public let otherClaimants: [DeviceID]
}

/// An epoch, as all statements together say.
public struct MemberEpoch: Hashable, Sendable {
    /// The statement.
    public let id: StatementID
    /// Its number.
    public let generation: Int64
    /// Whether it counts.
    public let counts: Bool
}
