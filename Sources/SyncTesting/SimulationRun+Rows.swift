import SyncEngine
import SyncWire

/// Replicas that hold some rows of a table. The first one always holds all.
extension SimulationRun {
    /// A replica chooses other rows than it has, or all.
    func chooseRows(_ replica: SimulatedReplica, _ random: inout SimulationRandom) throws {
        guard let scope = world.app.rowScope, let first = replicas.first, replica !== first else { return }
        let chosen = scope.values.filter { _ in random.oneIn(2) }
        let values = chosen.isEmpty || random.oneIn(5) ? nil : chosen
        note(
            "replica \(replica.name) chooses \(values.map { "\($0.map(ModelValue.init))" } ?? "all rows") of \(scope.table)"
        )
        let choice =
            values.map { SyncScope.rows(of: scope.table, where: scope.column, in: $0) } ?? .everything
        try replica.synchronizer.setScope(choice, ofRemote: first.name)
        try replica.noteChoice(values)
        try replica.observe(now: world.clock.now(replica.number))
        try replica.markCommitted()
        try replica.checkAgainstModel()
    }

    /// Everybody meets the first replica, and holds the rows afterwards that it chose; then all choose
    /// everything.
    func endRowScopes() throws {
        guard let first = replicas.first, world.app.rowScope != nil else { return }
        for _ in 0..<3 {
            for replica in replicas.dropFirst() { try exchange(replica, first, .both, SyncFaults()) }
        }
        for replica in replicas.dropFirst() { try requireChosenRows(replica, first) }
        for replica in replicas.dropFirst() {
            try replica.synchronizer.setScope(.everything, ofRemote: first.name)
            try replica.noteChoice(nil)
        }
        for _ in 0..<2 {
            for replica in replicas.dropFirst() { try exchange(replica, first, .both, SyncFaults()) }
        }
    }

    /// The rows that a replica holds are those that it chose of what another one has.
    private func requireChosenRows(_ replica: SimulatedReplica, _ other: SimulatedReplica) throws {
        guard let table = replica.partialTable else { return }
        let held = replica.state().rows.filter { $0.key.table == table && $0.value.isAlive }
        let wanted = other.state().rows.filter {
            $0.key.table == table && $0.value.isAlive && replica.isWanted($0.value)
        }
        guard held != wanted else { return }
        let keys = Set(held.keys).union(wanted.keys).filter { held[$0] != wanted[$0] }.sorted()
        throw SimulationViolation(
            .shownRows,
            "replica \(replica.name) met replica \(other.name), and does not hold what it chose of \(keys.map(\.description).joined(separator: ", "))"
        )
    }
}
