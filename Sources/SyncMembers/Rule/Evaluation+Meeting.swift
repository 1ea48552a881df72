extension Evaluation {
    /// All that came before a statement with these parents, with themselves.
    func past(after parents: [Int]) -> Past {
        guard let first = parents.first else { return Past() }
        var past = past(afterOnly: first)
        guard parents.count > 1 else { return past }
        var isSettled = true
        for parent in parents.dropFirst() {
            let line = self.past(afterOnly: parent)
            isSettled = isSettled && line.void == past.void && line.recovery == past.recovery
            past.statements.formUnion(line.statements)
            past.removals.formUnion(line.removals)
            past.recovery = later(past.recovery, line.recovery)
        }
        if isSettled {
            isSettled = !exposed.contains { node in
                past.statements.contains(node) && !past.void.contains(node)
                    && verdicts[node].killers.intersects(past.removals)
            }
        }
        if !isSettled { settle(&past) }
        return past
    }

    /// Of two recoveries, the one of which more came before; of two with as many, the one with the greater
    /// name.
    private func later(_ left: Int?, _ right: Int?) -> Int? {
        guard let left else { return right }
        guard let right else { return left }
        let depths = (recoveryDepths[left] ?? 0, recoveryDepths[right] ?? 0)
        if depths.0 != depths.1 { return depths.0 > depths.1 ? left : right }
        return graph.nodes[left].id > graph.nodes[right].id ? left : right
    }

    /// The recoveries that count in a past: the last one, that of its past, and so on.
    private func countingRecoveries(in past: Past) -> BitRow {
        var counting = BitRow()
        var next = past.recovery
        while let node = next {
            counting.insert(node)
            next = pasts[node].recovery
        }
        return counting
    }

    /// Finds what does not count: what a removal voids, recoveries that others took the place of, and what has
    /// its authority from those. In the order of the graph, grounds come first.
    private func settle(_ past: inout Past) {
        var void = BitRow()
        for node in exposed
        where past.statements.contains(node) && verdicts[node].killers.intersects(past.removals) {
            void.insert(node)
        }
        let counting = countingRecoveries(in: past)
        for node in recoveries where past.statements.contains(node) && !counting.contains(node) {
            void.insert(node)
        }
        for node in grounded where past.statements.contains(node) && !void.contains(node) {
            if !isGrounded(node, void) { void.insert(node) }
        }
        past.void = void
    }

    /// Whether what a statement has its authority from counts.
    private func isGrounded(_ node: Int, _ void: BitRow) -> Bool {
        guard let device = verdicts[node].deviceGround, let member = verdicts[node].memberGround,
            !void.contains(device), !void.contains(member)
        else { return false }
        return verdicts[node].roleGrounds.contains { !void.contains(Int($0)) }
    }
}
