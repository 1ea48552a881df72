extension Evaluation {
    /// The heads that the next statement of an issuer names: all, or 64 of them.
    ///
    /// Of more, the issuer's last statement goes first, then what brings removals that the others lack, then what brings
    /// devices, recoveries or epochs. An epoch that did not know a removal could not be used, and one that did not know an
    /// addition would leave somebody out. Each new statement takes some of the heads together.
    func nextParents(of issuer: DeviceID) -> [Int] {
        let bound = MembershipLimits.parentCountMax
        guard graph.heads.count > bound else { return graph.heads }
        // Those with the longest paths first, which bring most.
        let heads = graph.heads.reversed().map { (node: $0, past: past(afterOnly: $0)) }
        let grounds = epochGrounds
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
        choose { _, past in !past.removals.isSubset(of: removals) }
        choose { _, past in past.statements.intersects(grounds, outside: statements) }
        choose { _, _ in true }
        return chosen.sorted()
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
