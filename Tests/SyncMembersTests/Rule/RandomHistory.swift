import SyncMembers
import SyncWire

/// Statements of a few devices that know of each other late, some of which lie about what they knew.
///
/// Everything follows from the seed. Most statements are allowed, and some are not.
struct RandomHistory {
    private(set) var all: [SignedStatement]
    private(set) var club: Club
    private var random: SplitMix64
    private var people: [Person]
    private var replicas: [ReplicaID] = []
    private var recoveryKeys: [MembershipRecoveryKey]
    /// What each device has heard of, as places in `all`.
    private var known: [Set<Int>] = []
    private var parents: [[Int]] = [[]]

    init(seed: UInt64, count: Int) throws {
        club = try Club(seed: seed)
        random = SplitMix64(seed: seed ^ 0x5EED)
        all = [club.found]
        people = [club.founder]
        recoveryKeys = [club.recovery]
        // Three admins to begin with: a history of one is soon over.
        for _ in 0..<2 {
            let admin = try club.person()
            all.append(try club.adds(admin, .admin, by: club.founder, after: all[all.count - 1]))
            parents.append([all.count - 2])
            people.append(admin)
        }
        for _ in people { known.append(Set(all.indices)) }
        while all.count < count { try step() }
    }

    private mutating func step() throws {
        let speaker = random.below(people.count)
        if random.oneIn(3) {
            known[speaker].formUnion(known[random.below(people.count)])
            return
        }
        let place = all.count
        let heads = heads(of: speaker)
        let statement: SignedStatement
        if random.oneIn(12) {
            let rescued = try club.person()
            let key = recoveryKeys[random.below(recoveryKeys.count)]
            var successor: MembershipRecoveryKey?
            if random.oneIn(3) { successor = try club.recoveryKey() }
            let content = Recovery(
                member: rescued.member, name: try MemberName("r"), device: rescued.keys.card,
                successor: successor?.card)
            statement = try SignedStatement(
                Statement(
                    store: Club.store, issuer: .recovery(key.card), parents: heads.map { all[$0].id },
                    kind: .recover(content)), by: key)
            if let successor { recoveryKeys.append(successor) }
            join(rescued, knowing: place)
        } else {
            let kind = try kind(by: people[speaker], at: place)
            statement = try SignedStatement(
                Statement(
                    store: Club.store, issuer: .device(people[speaker].keys.card),
                    parents: heads.map { all[$0].id }, kind: kind), by: people[speaker].keys)
        }
        // To say the same twice is to say it once.
        guard !all.contains(statement) else { return }
        all.append(statement)
        parents.append(heads)
        known[speaker].insert(place)
    }

    private mutating func join(_ person: Person, knowing place: Int) {
        people.append(person)
        known.append(Set(0...place))
    }

    /// The last statements that a device has heard of; now and then, those of an earlier time.
    private mutating func heads(of speaker: Int) -> [Int] {
        var known = known[speaker]
        if random.oneIn(4) {
            let last = random.below(all.count)
            known = known.filter { $0 <= last }.union([0])
        }
        // What is known without what came before it is heard of with it.
        var closed: Set<Int> = []
        var open = Array(known)
        while let next = open.popLast() {
            if closed.insert(next).inserted { open += parents[next] }
        }
        let inner = Set(closed.flatMap { parents[$0] })
        return closed.subtracting(inner).sorted()
    }

    private mutating func kind(by speaker: Person, at place: Int) throws -> StatementKind {
        let target = people[random.below(people.count)]
        switch random.below(12) {
        case 0, 1:
            var person = try club.person()
            // Some name a member that somebody else has added.
            if random.oneIn(8) { person = Person(member: target.member, keys: person.keys) }
            let role = MemberRole.allCases[random.below(3)]
            join(person, knowing: place)
            return .addMember(
                NewMember(
                    member: person.member, name: try MemberName("n"), role: role, device: person.keys.card))
        case 2, 3, 4:
            let role = MemberRole.allCases[random.below(3)]
            return .setRole(
                RoleChange(member: target.member, role: role, cutOffs: role == .reader ? cutOffs() : [:]))
        case 5: return .removeMember(MemberRemoval(member: target.member, cutOffs: cutOffs()))
        case 6: return .removeDevice(DeviceRemoval(device: target.device, cutOffs: cutOffs()))
        case 7, 8:
            let owner = random.oneIn(2) ? speaker : target
            // Some name a device that somebody else has added.
            if random.oneIn(4) {
                return .addDevice(
                    NewDevice(member: owner.member, device: people[random.below(people.count)].keys.card))
            }
            let device = Person(member: owner.member, keys: try club.person().keys)
            join(device, knowing: place)
            return .addDevice(NewDevice(member: owner.member, device: device.keys.card))
        default:
            if replicas.isEmpty || !random.oneIn(3) { replicas.append(club.identifier()) }
            return .bindReplica(replicas[random.below(replicas.count)])
        }
    }

    private mutating func cutOffs() -> [ReplicaID: Int64] {
        var cutOffs: [ReplicaID: Int64] = [:]
        for replica in replicas where random.oneIn(2) { cutOffs[replica] = Int64(1 + random.below(9)) }
        return cutOffs
    }
}
