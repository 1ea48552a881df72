extension Evaluation {
    /// The heads that the next statement of an issuer names: all, or 64 of them.
    ///
    /// Of more, the issuer's last statement goes first, then what brings that which the statement rests upon, then what brings
    /// removals that the others lack, then what brings devices, recoveries or epochs. An epoch that did not know a removal
    /// could not be used, and one that did not know an addition would leave somebody out. Each new statement takes some of
    /// the heads together.
    ///
    /// - parameter kind: What the statement says; nil for an epoch.
    func nextParents(of issuer: DeviceID, saying kind: StatementKind? = nil) -> [Int] {
        let bound = MembershipLimits.parentCountMax
        guard graph.heads.count > bound else { return graph.heads }
        // Those with the longest paths first, which bring most.
        let heads = graph.heads.reversed().map { (node: $0, past: past(afterOnly: $0)) }
        let (needs, grounds) = (needs(of: issuer, saying: kind), epochGrounds)
        var chosen: Set<Int> = []
        var (statements, removals) = (BitRow(), BitRow())
        func choose(_ isMeant: (Int, Past) -> Bool) {
            for head in heads where chosen.count < bound && !chosen.contains(head.node) {
                guard isMeant(head.node, head.past) else { continue }
                chosen.insert(head.node)
                statements.formUnion(head.past.statements)
                removals.formUnion(head.past.removals)
            }
        }
        let own = heads.first { graph.nodes[$0.node].statement.issuer.card.id == issuer }?.node
        choose { node, _ in node == own }
        choose { _, past in past.statements.intersects(needs, outside: statements) }
        choose { _, past in !past.removals.isSubset(of: removals) }
        choose { _, past in past.statements.intersects(grounds, outside: statements) }
        choose { _, _ in true }
        return chosen.sorted()
    }

    /// What makes an issuer a device with its role, and whom a statement is about. Without these it would not count.
    ///
    /// Only admins can say more than one of them about a member, so nobody else can fill the places with them.
    private func needs(of issuer: DeviceID, saying kind: StatementKind?) -> BitRow {
        var needs = BitRow()
        func need(_ member: MemberID) {
            guard let entry = members[member] else { return }
            let nodes = entry.additions.map(\.node) + entry.grants.map(\.node)
            for node in nodes where counts(node, in: whole) { needs.insert(node) }
        }
        // Any member can name the card of any device, so only the addition that stands is meant.
        func need(device: DeviceID) {
            guard let home = home(of: device, in: whole) else { return }
            needs.insert(home.node)
            need(home.member)
        }
        if let recovery = whole.recovery { needs.insert(recovery) }
        need(device: issuer)
        switch kind {
        case .setRole(let change): need(change.member)
        case .removeMember(let removal): need(removal.member)
        case .addDevice(let new): need(new.member)
        case .removeDevice(let removal): need(device: removal.device)
        case .found, .addMember, .recover, .bindReplica, .epoch, nil: break
        }
        return needs
    }

    /// The statements that count for the next epoch, but for removals.
    private var epochGrounds: BitRow {
        var grounds = BitRow()
        for node in graph.nodes.indices where verdicts[node].refusal == nil {
            switch graph.nodes[node].statement.kind {
            case .found, .addMember, .addDevice, .recover, .epoch: grounds.insert(node)
            case .setRole, .removeMember, .removeDevice, .bindReplica: break
            }
        }
        return grounds
    }
}
