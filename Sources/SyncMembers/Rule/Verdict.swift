import SyncWire

/// What is known of a statement from its own past.
struct Verdict: Sendable {
    /// Why it was not allowed where it was made; nil when it was.
    var refusal: UncountedReason?
    /// Whether it removes a device or member, or lowers a role: then no other statement can void it.
    var isRemoval = false
    /// What its issuer has to be for it.
    var need = MemberRole.reader
    /// The member to which the issuer belonged.
    var member: MemberID?
    /// The statement that has to count, so that the issuer is a device of its member.
    var deviceGround: Int?
    /// The statement that has to count, so that the member is one.
    var memberGround: Int?
    /// The statements of which one has to count, so that this member has the role that is needed.
    var roleGrounds: [Int32] = []
    /// The removals that void it wherever they count, by their numbers among the removals.
    var killers = BitRow()
    /// Its own number among the removals that count.
    var removalNumber: Int?
}

/// Something that gives a member a role.
struct RoleGrant: Sendable {
    let node: Int
    let role: MemberRole
    /// The place, among the additions of the member, of the one whose role it is: of the grant itself when it adds
    /// the member.
    let addition: Int
}

/// Something that takes a role, or all of them.
struct RoleLimit: Sendable {
    let node: Int
    let number: Int
    /// What is left; nil when the member is none any more.
    let role: MemberRole?
    let cutOffs: [ReplicaID: Int64]

    init(_ node: Int, _ number: Int, role: MemberRole?, _ cutOffs: [ReplicaID: Int64]) {
        self.node = node
        self.number = number
        self.role = role
        self.cutOffs = cutOffs
    }

    /// Whether somebody with just that role is left without what is needed.
    func denies(_ need: MemberRole) -> Bool {
        guard let role else { return true }
        return role < need
    }
}

/// Something that removes a device.
struct DeviceLimit: Sendable {
    let node: Int
    let number: Int
    let cutOffs: [ReplicaID: Int64]
}

/// Something that adds a member, and what was taken from it.
///
/// A removal takes from the additions that it knew. So nobody can name a member that was added after they were
/// removed, by adding it once more as if before.
struct MemberAddition: Sendable {
    let node: Int
    /// The numbers of the removals that leave less than a reader, a writer, an admin.
    private var denials = [BitRow(), BitRow(), BitRow()]

    init(node: Int) { self.node = node }

    func denied(_ need: MemberRole) -> BitRow { denials[Int(need.rawValue) - 1] }

    mutating func limit(_ limit: RoleLimit) {
        for need in MemberRole.allCases where limit.denies(need) {
            denials[Int(need.rawValue) - 1].insert(limit.number)
        }
    }
}

/// Something that adds a device to a member, what took that again, and what the device said upon it.
struct DeviceAddition: Sendable {
    let node: Int
    let member: MemberID
    /// The number of the member's entry.
    let memberNumber: Int
    /// Whether it adds the member, too, which takes an admin.
    let addsMember: Bool
    /// The numbers of the removals that knew it, and that were allowed to take it.
    var removed = BitRow()
    /// The statements that the device itself made as this member's.
    var acknowledged = BitRow()
}

/// What the statements so far say of a member, whether they count or not.
struct MemberEntry: Sendable {
    var additions: [MemberAddition] = []
    var grants: [RoleGrant] = []
    var limits: [RoleLimit] = []
    /// The statements of its devices.
    var issued: [Int] = []
    /// What the last of these had its role from.
    var lastGrounds: [Int32] = []
}

/// What the statements so far say of a device.
struct DeviceEntry: Sendable {
    var additions: [DeviceAddition] = []
    var limits: [DeviceLimit] = []
    /// The statements that it issued.
    var issued: [Int] = []
}
