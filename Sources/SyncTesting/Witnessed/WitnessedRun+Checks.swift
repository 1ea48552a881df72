import SyncEngine

/// What must hold at the end of a run.
extension WitnessedRun {
    /// All users see the same rows.
    func requireEqual(_ stores: [WitnessedStore]) throws {
        guard let first = stores.first else { return }
        let rows = try first.rows()
        for store in stores.dropFirst() {
            let found = try store.rows()
            guard try !store.holdsSomeRows() else {
                throw SimulationViolation(.progress, "store \(store.name) waits for rows that it chose")
            }
            for table in WitnessedStore.tables {
                let (expected, shown) = (rows[table] ?? [:], found[table] ?? [:])
                for key in Set(expected.keys).union(shown.keys).sorted()
                where expected[key] != shown[key] {
                    throw SimulationViolation(
                        .convergence,
                        "\(table) \(key) is \(Self.text(expected[key])) in store \(first.name), and \(Self.text(shown[key])) in store \(store.name)"
                    )
                }
            }
        }
    }

    private static func text(_ row: [String: String]?) -> String {
        guard let row else { return "not there" }
        return row.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }

    /// Each value is visible, was replaced by somebody who saw it, or is in a journal.
    ///
    /// - parameter stores: Those who show the same rows.
    func requireNothingLost(_ stores: [WitnessedStore]) throws {
        var journal = abandonedJournal
        for store in stores { journal.formUnion(try store.journal()) }
        let visible = try stores.first.map { WitnessedStore.values(of: try $0.rows()) } ?? []
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
