import SyncWire

/// The rule of membership: which statements count.
///
/// Each statement is judged once, in its own past, in the order of the graph. Along a line of statements a
/// past is that of the parent and the parent, and what counts does not change. Where lines meet, what one
/// brings may void statements of another one (`Evaluation+Meeting`). So the work is at most a sweep over
/// all statements for each meeting, whatever the graph is like.
struct Evaluation: Sendable {
    private(set) var graph: StatementGraph
    let founding: StatementID

    var verdicts: [Verdict] = []
    var pasts: [Past] = []
    var members = KeyedEntries<MemberID, MemberEntry>()
    var devices = KeyedEntries<DeviceID, DeviceEntry>()
    /// The statements that claim a replica.
    var claims: [ReplicaID: [Int]] = [:]
    var epochs: [Int] = []
    /// The same by their names, and their generations in the same order.
    var epochNodes: [StatementID: Int] = [:]
    var generations: [Int64] = []
    /// The removals that were allowed where they were made, by their numbers.
    var removals: [Int] = []
    var foundingNode: Int?
    var recoveries: [Int] = []
    /// The recovery key that counts after a recovery.
    var recoveryCards: [Int: RecoveryCard] = [:]
    var recoveryDepths: [Int: Int] = [:]
    /// The allowed statements of devices that are no removals.
    var grounded: [Int] = []
    /// Those of them that some removal voids.
    var exposed: [Int] = []
    /// What the graph as a whole says.
    private(set) var whole = Past()

    init(_ graph: StatementGraph, founding: StatementID) {
        self.graph = graph
        self.founding = founding
        verdicts.reserveCapacity(graph.nodes.count)
        pasts.reserveCapacity(graph.nodes.count)
        for node in graph.nodes.indices { judge(node) }
        whole = past(after: graph.heads)
    }

    /// Judges one more statement, which ends the order (``StatementGraph/ends(with:)``).
    mutating func add(_ statement: SignedStatement) {
        graph.append(statement)
        judge(graph.nodes.count - 1)
        whole = past(after: graph.heads)
    }

    private mutating func judge(_ node: Int) {
        let past = past(after: graph.parents[node])
        var verdict = judge(graph.nodes[node], in: past)
        if verdict.refusal == nil { enter(node, &verdict, past) }
        pasts.append(past)
        verdicts.append(verdict)
    }

    /// Whether a statement of a past counts in it.
    func counts(_ node: Int, in past: Past) -> Bool {
        past.statements.contains(node) && verdicts[node].refusal == nil && !past.void.contains(node)
    }

    /// The past of a statement with one parent: the parent's and the parent.
    func past(afterOnly parent: Int) -> Past {
        var past = pasts[parent]
        past.statements.insert(parent)
        guard verdicts[parent].refusal == nil else { return past }
        if let number = verdicts[parent].removalNumber { past.removals.insert(number) }
        if case .recover = graph.nodes[parent].statement.kind { past.recovery = parent }
        return past
    }

    /// Notes what an allowed statement says, for those that come later in the order.
    private mutating func enter(_ node: Int, _ verdict: inout Verdict, _ past: Past) {
        let statement = graph.nodes[node].statement
        switch statement.kind {
        case .found(let founding):
            foundingNode = node
            add(founding.member, .admin, founding.device.id, node)
        case .addMember(let new): add(new.member, new.role, new.device.id, node)
        case .recover(let recovery):
            add(recovery.member, .admin, recovery.device.id, node)
            recoveries.append(node)
            recoveryDepths[node] = (past.recovery.flatMap { recoveryDepths[$0] } ?? 0) + 1
            recoveryCards[node] = recovery.successor ?? recoveryCard(in: past)
        case .addDevice(let new):
            add(new.device.id, to: new.member, addsMember: false, node)
        case .setRole(let change) where !verdict.isRemoval:
            guard let addition = grounds(of: change.member, .reader, in: past)?.addition else { break }
            members[change.member, default: MemberEntry()].grants.append(
                RoleGrant(node: node, role: change.role, addition: addition))
        case .setRole(let change):
            let number = number(node, &verdict)
            limit(change.member, RoleLimit(node, number, role: change.role, change.cutOffs), past)
        case .removeMember(let removal):
            let number = number(node, &verdict)
            limit(removal.member, RoleLimit(node, number, role: nil, removal.cutOffs), past)
        case .removeDevice(let removal):
            remove(removal, node, number(node, &verdict), by: verdict.member, past)
        case .bindReplica(let replica): claims[replica, default: []].append(node)
        case .epoch(let epoch):
            epochs.append(node)
            epochNodes[graph.nodes[node].id] = node
            generations.append(epoch.generation)
        }
        if case .device(let card) = statement.issuer, let member = verdict.member {
            acknowledge(node, by: card.id, verdict)
            if !verdict.isRemoval { expose(node, of: card.id, member, &verdict, past) }
        }
    }

    private mutating func add(_ member: MemberID, _ role: MemberRole, _ device: DeviceID, _ node: Int) {
        let place = members[member]?.additions.count ?? 0
        members[member, default: MemberEntry()].additions.append(MemberAddition(node: node))
        members[member, default: MemberEntry()].grants.append(
            RoleGrant(node: node, role: role, addition: place))
        add(device, to: member, addsMember: true, node)
    }

    private mutating func add(_ device: DeviceID, to member: MemberID, addsMember: Bool, _ node: Int) {
        // Whoever adds a device to a member knows of it.
        guard let number = members.number(of: member) else { return }
        devices[device, default: DeviceEntry()].additions.append(
            DeviceAddition(node: node, member: member, memberNumber: number, addsMember: addsMember))
    }

    /// Notes that a device has spoken as what an addition made it.
    private mutating func acknowledge(_ node: Int, by device: DeviceID, _ verdict: Verdict) {
        guard let place = devices[device]?.additions.firstIndex(where: { $0.node == verdict.deviceGround })
        else { return }
        devices[device, default: DeviceEntry()].additions[place].acknowledged.insert(node)
    }

    private mutating func number(_ node: Int, _ verdict: inout Verdict) -> Int {
        let number = removals.count
        removals.append(node)
        verdict.removalNumber = number
        return number
    }

    /// A removal of a member, or of some of its role, takes from the additions that count in its past.
    private mutating func limit(_ member: MemberID, _ limit: RoleLimit, _ past: Past) {
        var taken = BitRow()
        for (place, node) in (members[member]?.additions.map(\.node) ?? []).enumerated()
        where counts(node, in: past) {
            taken.insert(node)
            members[member, default: MemberEntry()].additions[place].limit(limit)
        }
        members[member, default: MemberEntry()].limits.append(limit)
        kill(members[member]?.issued ?? [], by: limit.number, past) { verdict in
            guard let ground = verdict.memberGround else { return false }
            return limit.denies(verdict.need) && taken.contains(ground)
        }
    }

    /// A removal of a device takes the additions that count in its past: an admin's all, another member's those to
    /// the member itself.
    private mutating func remove(
        _ removal: DeviceRemoval, _ node: Int, _ number: Int, by issuer: MemberID?, _ past: Past
    ) {
        let isAdmin = issuer.map { has($0, .admin, in: past) } ?? false
        let additions = devices[removal.device]?.additions.map { (node: $0.node, member: $0.member) } ?? []
        var taken = BitRow()
        for (place, addition) in additions.enumerated()
        where counts(addition.node, in: past) && (isAdmin || addition.member == issuer) {
            taken.insert(addition.node)
            devices[removal.device, default: DeviceEntry()].additions[place].removed.insert(number)
        }
        devices[removal.device, default: DeviceEntry()].limits.append(
            DeviceLimit(node: node, number: number, cutOffs: removal.cutOffs))
        kill(devices[removal.device]?.issued ?? [], by: number, past) { verdict in
            guard let ground = verdict.deviceGround else { return false }
            return taken.contains(ground)
        }
    }

    /// Notes which earlier statements of the order a removal voids: those that it does not know.
    private mutating func kill(
        _ issued: [Int], by number: Int, _ past: Past, where concerns: (Verdict) -> Bool
    ) {
        for other in issued where !past.statements.contains(other) && concerns(verdicts[other]) {
            if verdicts[other].killers.words.isEmpty { exposed.append(other) }
            verdicts[other].killers.insert(number)
        }
    }

    /// Notes which earlier removals of the order void a statement: those that it does not know.
    private mutating func expose(
        _ node: Int, of device: DeviceID, _ member: MemberID, _ verdict: inout Verdict, _ past: Past
    ) {
        let (deviceGround, memberGround) = (verdict.deviceGround, verdict.memberGround)
        let removed = devices[device]?.additions.first { $0.node == deviceGround }?.removed ?? BitRow()
        for limit in devices[device]?.limits ?? [] where removed.contains(limit.number) {
            if !past.statements.contains(limit.node) { verdict.killers.insert(limit.number) }
        }
        let denied = members[member]?.additions.first { $0.node == memberGround }?.denied(verdict.need)
        for limit in members[member]?.limits ?? [] where denied?.contains(limit.number) == true {
            if !past.statements.contains(limit.node) { verdict.killers.insert(limit.number) }
        }
        if !verdict.killers.words.isEmpty { exposed.append(node) }
        grounded.append(node)
        devices[device, default: DeviceEntry()].issued.append(node)
        members[member, default: MemberEntry()].issued.append(node)
        // Mostly they are those of the member's last statement, whose memory is then shared.
        if let last = members[member]?.lastGrounds, last == verdict.roleGrounds {
            verdict.roleGrounds = last
        } else {
            members[member, default: MemberEntry()].lastGrounds = verdict.roleGrounds
        }
    }
}
