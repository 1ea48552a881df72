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
    /// The statements of which one has to count, so that the issuer is a device.
    var deviceGrounds: [Int32] = []
    /// The statements of which one has to count, so that the member has the role that is needed.
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

/// What the statements so far say of a member, whether they count or not.
struct MemberEntry: Sendable {
    var additions: [Int] = []
    var grants: [RoleGrant] = []
    var limits: [RoleLimit] = []
    /// The numbers of the removals that leave less than a reader, a writer, an admin.
    var denials = [BitRow(), BitRow(), BitRow()]
    /// The statements of its devices.
    var issued: [Int] = []
    /// What the last of these had its role from.
    var lastGrounds: [Int32] = []

    func denied(_ need: MemberRole) -> BitRow { denials[Int(need.rawValue) - 1] }

    mutating func limit(_ limit: RoleLimit) {
        limits.append(limit)
        for need in MemberRole.allCases where limit.denies(need) {
            denials[Int(need.rawValue) - 1].insert(limit.number)
        }
    }
}

/// What the statements so far say of a device.
struct DeviceEntry: Sendable {
    /// The statements that add it, and to which member.
    var additions: [(node: Int, member: MemberID)] = []
    var limits: [DeviceLimit] = []
    var removed = BitRow()
    /// The statements that it issued.
    var issued: [Int] = []
}
