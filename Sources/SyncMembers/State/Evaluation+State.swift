import SyncWire

extension Evaluation {
    func id(_ node: Int) -> StatementID { graph.nodes[node].id }

    private func counts(_ node: Int) -> Bool { counts(node, in: whole) }

    /// The additions that count, the one with the smallest name first.
    private func additions(_ nodes: [Int]) -> [StatementID] {
        nodes.filter { counts($0) }.map { id($0) }.sorted()
    }

    /// What removed a member that is none any more: it took an addition that counts.
    private func removals(of member: MemberID) -> [Int] {
        guard let entry = members[member], !has(member, .reader, in: whole) else { return [] }
        let denied = entry.additions.filter { counts($0.node) }.map { $0.denied(.reader) }
        return entry.limits.filter { limit in
            counts(limit.node) && denied.contains { $0.contains(limit.number) }
        }.map(\.node)
    }

    /// The members whose addition counts.
    func memberList() -> [MemberID: Member] {
        var owned: [MemberID: [DeviceID]] = [:]
        for device in devices.keys {
            if let home = home(of: device, in: whole) { owned[home.member, default: []].append(device) }
        }
        var list: [MemberID: Member] = [:]
        for (member, entry) in zip(members.keys, members.entries) {
            let additions = entry.additions.map(\.node).filter { counts($0) }
            guard let addition = additions.min(by: { id($0) < id($1) }),
                let name = name(in: graph.nodes[addition].statement.kind)
            else { continue }
            list[member] = Member(
                id: member, name: name, role: role(of: member, in: whole),
                devices: (owned[member] ?? []).sorted(), addedBy: id(addition),
                removedBy: removals(of: member).map { id($0) }.sorted())
        }
        return list
    }

    private func name(in kind: StatementKind) -> MemberName? {
        switch kind {
        case .found(let founding): founding.name
        case .addMember(let new): new.name
        case .recover(let recovery): recovery.name
        default: nil
        }
    }

    func card(in kind: StatementKind) -> DeviceCard? {
        switch kind {
        case .found(let founding): founding.device
        case .addMember(let new): new.device
        case .recover(let recovery): recovery.device
        case .addDevice(let new): new.device
        default: nil
        }
    }

    /// The devices whose addition counts.
    func deviceList() -> [DeviceID: MemberDevice] {
        var list: [DeviceID: MemberDevice] = [:]
        for (device, entry) in zip(devices.keys, devices.entries) {
            guard let home = home(of: device, in: whole),
                let card = card(in: graph.nodes[home.node].statement.kind)
            else { continue }
            let own = entry.limits.filter { counts($0.node) && home.removed.contains($0.number) }.map(\.node)
            list[device] = MemberDevice(
                card: card, member: home.member, isActive: isActive(device, in: whole),
                addedBy: id(home.node),
                removedBy: (own + removals(of: home.member)).map { id($0) }.sorted())
        }
        return list
    }

    /// The replicas that devices claim in statements that count. Of several claims, that with the smallest
    /// name stands.
    func replicaList() -> [ReplicaID: MemberReplica] {
        var list: [ReplicaID: MemberReplica] = [:]
        var limits: [MemberID: [[RoleLimit]]] = [:]
        for (replica, nodes) in claims {
            let claims = nodes.filter { counts($0) }.sorted { id($0) < id($1) }
            guard let first = claims.first else { continue }
            let device = graph.nodes[first].statement.issuer.card.id
            guard let home = home(of: device, in: whole) else { continue }
            let others = Set(claims.dropFirst().map { graph.nodes[$0].statement.issuer.card.id })
            let ofRole = limits[home.member] ?? writingLimits(of: home.member)
            limits[home.member] = ofRole
            list[replica] = MemberReplica(
                device: device, member: home.member,
                lastSequence: lastSequence(of: replica, device, home, ofRole),
                otherClaimants: others.subtracting([device]).sorted())
        }
        return list
    }

    /// For each grant that lets a member write, what took that again and did not come before it.
    ///
    /// A grant that came before another one of the same addition is left out: what took the later one took it, too.
    private func writingLimits(of member: MemberID) -> [[RoleLimit]] {
        guard let entry = members[member] else { return [] }
        let limits = entry.limits.filter { $0.denies(.writer) && counts($0.node) }
        var last: [RoleGrant] = []
        for grant in entry.grants.reversed() where grant.role >= .writer && counts(grant.node) {
            guard counts(entry.additions[grant.addition].node) else { continue }
            let isCovered = last.contains {
                $0.addition == grant.addition && pasts[$0.node].statements.contains(grant.node)
            }
            if !isCovered { last.append(grant) }
        }
        return last.map { grant in
            let denied = entry.additions[grant.addition].denied(.writer)
            return limits.filter {
                denied.contains($0.number) && !pasts[grant.node].statements.contains($0.node)
            }
        }
    }

    /// The last change that counts: the smallest that a removal of the device names, and the largest that
    /// is left of a grant that lets the member write.
    private func lastSequence(
        of replica: ReplicaID, _ device: DeviceID, _ home: DeviceAddition, _ ofRole: [[RoleLimit]]
    ) -> Int64 {
        let ofDevice = (devices[device]?.limits ?? [])
            .filter { counts($0.node) && home.removed.contains($0.number) }
            .reduce(Int64.max) { min($0, $1.cutOffs[replica] ?? 0) }
        return ofRole.reduce(Int64(0)) { most, limits in
            max(most, limits.reduce(ofDevice) { min($0, $1.cutOffs[replica] ?? 0) })
        }
    }

    /// All epochs, in the order of their generations, then names.
    func epochList() -> [MemberEpoch] {
        epochs.compactMap { node in
            epoch(node).map { MemberEpoch(id: id(node), generation: $0.generation, counts: counts(node)) }
        }.sorted { ($0.generation, $0.id) < ($1.generation, $1.id) }
    }

    /// The epoch whose key is used: of those that count, know all removals and are wrapped for nobody who
    /// does not take part, the one with the largest generation, then name.
    func currentEpoch() -> Int? {
        let recovery = recoveryCard(in: whole)?.id
        let order = epochs.filter { counts($0) && whole.removals.isSubset(of: pasts[$0].removals) }
            .sorted { (epoch($1)?.generation ?? 0, id($1)) < (epoch($0)?.generation ?? 0, id($0)) }
        return order.first { node in
            guard let epoch = epoch(node), epoch.recovery.recipient == recovery else { return false }
            return epoch.recipients.recipients.allSatisfy { isActive($0, in: whole) }
        }
    }

    /// What does not count, and why.
    func uncounted() -> [StatementID: UncountedReason] {
        var reasons: [StatementID: UncountedReason] = [:]
        for node in graph.nodes.indices {
            if let refusal = verdicts[node].refusal {
                reasons[id(node)] = refusal
            } else if whole.void.contains(node) {
                reasons[id(node)] = reasonOfVoid(node)
            }
        }
        return reasons
    }

    private func reasonOfVoid(_ node: Int) -> UncountedReason {
        let verdict = verdicts[node]
        let killers = verdict.killers.numbers.filter { whole.removals.contains($0) }
        if let first = killers.map({ id(removals[$0]) }).min() { return .issuerRemoved(by: first) }
        if case .recover = graph.nodes[node].statement.kind, let recovery = whole.recovery {
            return .otherRecovery(id(recovery))
        }
        let own = [verdict.deviceGround, verdict.memberGround].compactMap { $0 }
        let grounds = (own + verdict.roleGrounds.map(Int.init)).filter { !counts($0) }
        return grounds.map { id($0) }.min().map { .authorityLost(through: $0) } ?? .issuerUnknown
    }
}
