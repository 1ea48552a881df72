import SyncEngine

/// What must hold at the end of a run.
extension WitnessedRun {
    /// Whether all stores know the same, of all tables.
    func isAtRest() throws -> Bool { try Set(stores.map { try $0.knowledge() }).count == 1 }

    /// All users see the same rows.
    func requireEqual() throws {
        guard try isAtRest() else {
            let texts = try stores.map { "\($0.name): \(try $0.knowledge())" }
            throw SimulationViolation(
                .progress, "after ten rounds, stores know different things: \(texts.joined(separator: "; "))")
        }
        let rows = try stores[0].rows()
        for store in stores.dropFirst() {
            let found = try store.rows()
            guard found != rows else { continue }
            for table in WitnessedStore.tables {
                let keys = Set(rows[table]?.keys ?? [:].keys).union(found[table]?.keys ?? [:].keys)
                for key in keys.sorted() where rows[table]?[key] != found[table]?[key] {
                    throw SimulationViolation(
                        .convergence,
                        "\(table) \(key) is \(rows[table]?[key] ?? [:]) in store 0, and \(found[table]?[key] ?? [:]) in store \(store.name)"
                    )
                }
            }
        }
    }

    /// Each value is visible, was replaced by somebody who saw it, or is in a journal.
    ///
    /// - parameter abandoned: The journals of files that are gone.
    func requireNothingLost(_ abandoned: Set<String>) throws {
        var journal = abandoned
        for store in stores { journal.formUnion(try store.journal()) }
        let visible = WitnessedStore.values(of: try stores[0].rows())
        guard let (cell, value) = history.lostValue(visible: visible, journal: journal) else { return }
        throw SimulationViolation(.lostValue, "\(cell) was \(value), and it is gone without a trace")
    }

    func requireSound() throws {
        for store in stores {
            let problems = try store.problems()
            guard problems.isEmpty else {
                throw SimulationViolation(
                    .integrity, "store \(store.name): \(problems.map(\.message).joined(separator: "; "))")
            }
        }
    }
}
