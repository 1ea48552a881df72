import SyncWire

/// The rule of membership: which statements count.
///
/// Each statement is judged once, in its own past, in the order of the graph. Along a line of statements a
/// past is that of the parent and the parent, and what counts does not change. Where lines meet, what one
/// brings may void statements of another one (`Evaluation+Meeting`). So the work is at most a sweep over
/// all statements for each meeting, whatever the graph is like.
struct Evaluation: Sendable {
    let graph: StatementGraph
    let founding: StatementID

    var verdicts: [Verdict] = []
    var pasts: [Past] = []
    var members: [MemberID: MemberEntry] = [:]
    var devices: [DeviceID: DeviceEntry] = [:]
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
        for node in graph.nodes.indices {
            let past = past(after: graph.parents[node])
            var verdict = judge(graph.nodes[node], in: past)
            if verdict.refusal == nil { enter(node, &verdict, past) }
            pasts.append(past)
            verdicts.append(verdict)
        }
        whole = past(after: graph.heads)
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
            devices[new.device.id, default: DeviceEntry()].additions.append((node, new.member))
        case .setRole(let change) where !verdict.isRemoval:
            members[change.member, default: MemberEntry()].grants.append(
                RoleGrant(node: node, role: change.role))
        case .setRole(let change):
            let number = number(node, &verdict)
            limit(change.member, RoleLimit(node, number, role: change.role, change.cutOffs), past)
        case .removeMember(let removal):
            let number = number(node, &verdict)
            limit(removal.member, RoleLimit(node, number, role: nil, removal.cutOffs), past)
        case .removeDevice(let removal): remove(removal, node, number(node, &verdict), past)
        case .bindReplica(let replica): claims[replica, default: []].append(node)
        case .epoch(let epoch):
            epochs.append(node)
            epochNodes[graph.nodes[node].id] = node
            generations.append(epoch.generation)
        }
        if !verdict.isRemoval, case .device(let card) = statement.issuer, let member = verdict.member {
            expose(node, of: card.id, member, &verdict, past)
        }
    }

    private mutating func add(_ member: MemberID, _ role: MemberRole, _ device: DeviceID, _ node: Int) {
        members[member, default: MemberEntry()].additions.append(node)
        members[member, default: MemberEntry()].grants.append(RoleGrant(node: node, role: role))
        devices[device, default: DeviceEntry()].additions.append((node, member))
    }

    private mutating func number(_ node: Int, _ verdict: inout Verdict) -> Int {
        let number = removals.count
        removals.append(node)
        verdict.removalNumber = number
        return number
    }

    private mutating func limit(_ member: MemberID, _ limit: RoleLimit, _ past: Past) {
        members[member, default: MemberEntry()].limit(limit)
        kill(members[member]?.issued ?? [], by: limit.number, past) { limit.denies($0.need) }
    }

    private mutating func remove(_ removal: DeviceRemoval, _ node: Int, _ number: Int, _ past: Past) {
        devices[removal.device, default: DeviceEntry()].limits.append(
            DeviceLimit(node: node, number: number, cutOffs: removal.cutOffs))
        devices[removal.device, default: DeviceEntry()].removed.insert(number)
        kill(devices[removal.device]?.issued ?? [], by: number, past) { _ in true }
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
        for limit in devices[device]?.limits ?? [] where !past.statements.contains(limit.node) {
            verdict.killers.insert(limit.number)
        }
        for limit in members[member]?.limits ?? [] where !past.statements.contains(limit.node) {
            if limit.denies(verdict.need) { verdict.killers.insert(limit.number) }
        }
        if !verdict.killers.words.isEmpty { exposed.append(node) }
        grounded.append(node)
        devices[device, default: DeviceEntry()].issued.append(node)
        members[member, default: MemberEntry()].issued.append(node)
        // Mostly they are those of the member's last statement, whose memory is then shared.
        if let last = members[member]?.lastGrounds, last == verdict.roleGrounds {
            verdict.roleGrounds = last
        } else {
            members[member]?.lastGrounds = verdict.roleGrounds
        }
    }
}
