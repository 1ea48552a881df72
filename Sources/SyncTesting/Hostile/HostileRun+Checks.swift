import CipherStore
import Foundation
import SyncEngine
import SyncWire

/// What must hold when a hostile device was there.
extension HostileRun {
    /// The device says nothing any more. Everybody else goes on as if it had never been there.
    func end() throws {
        var random = SimulationRandom(seed: 0xE4D, part: 7)
        try meet()
        try requireExchange(&random)
        try requireWins()
        for store in stores { try check(store) }
    }

    /// All honest replicas meet, until nobody knows more.
    private func meet() throws {
        guard let hub = stores.first else { return }
        for _ in 0..<4 {
            for store in stores.dropFirst() { try exchange(store, hub) }
        }
    }

    /// Each honest replica inserts a row, and all get it.
    private func requireExchange(_ random: inout SimulationRandom) throws {
        let keys = try stores.map { try light($0, "after all", &random) }
        try meet()
        for store in stores {
            for (key, author) in zip(keys, stores) {
                let said = try store.queue.read {
                    try String.fetchOne(
                        $0, sql: "SELECT said FROM \(HonestStore.beacon) WHERE id = ?", arguments: [key])
                }
                guard said == "after all" else {
                    throw SimulationViolation(
                        .progress,
                        "a row that replica \(author.name) inserted is not at replica \(store.name)")
                }
            }
        }
    }

    /// What somebody writes who knows what the device wrote stands everywhere.
    private func requireWins() throws {
        var expected: [(key: DatabaseValue, said: String?)] = []
        var taken: Set<DatabaseValue> = []
        for store in stores {
            let keys = try store.queue.read {
                // The last life that there is has nothing above it.
                try DatabaseValue.fetchAll(
                    $0,
                    sql: """
                        SELECT b.id FROM \(HonestStore.beacon) AS b WHERE NOT EXISTS (
                            SELECT 1 FROM _sync_row AS r WHERE r.pk = b.id AND r.cl > \(AdmissionLimits.lifeMax - 3))
                        ORDER BY b.id
                        """)
            }
            let own = keys.filter { !taken.contains($0) }.prefix(4)
            taken.formUnion(own)
            try store.queue.write { db in
                for (index, key) in own.enumerated() {
                    let said = index == 3 ? nil : "replica \(store.name) has the last word"
                    try db.execute(
                        sql: said == nil
                            ? "DELETE FROM \(HonestStore.beacon) WHERE id = ?2"
                            : "UPDATE \(HonestStore.beacon) SET said = ?1 WHERE id = ?2",
                        arguments: [said, key])
                    expected.append((key, said))
                }
            }
        }
        try meet()
        // A column that counts, or is merged by a function, has no last word.
        let isMerged = try stores[0].queue.read {
            try Bool.fetchOne(
                $0,
                sql: """
                    SELECT EXISTS(SELECT 1 FROM _sync_policy AS p JOIN _sync_table AS t ON t.tbl = p.tbl
                    WHERE t.name = ?)
                    """, arguments: [HonestStore.beacon]) ?? false
        }
        guard !isMerged else { return }
        for store in stores {
            for (key, said) in expected {
                let found = try store.queue.read {
                    try DatabaseValue.fetchOne(
                        $0, sql: "SELECT said FROM \(HonestStore.beacon) WHERE id = ?", arguments: [key])
                }
                guard found != said?.databaseValue else { continue }
                throw SimulationViolation(
                    .lostValue,
                    "replica \(store.name) has \(found.map(String.init(describing:)) ?? "nothing") in row \(key), in which \(said ?? "nothing") was written last"
                )
            }
        }
    }

    /// A file is whole, and what it sends is within what others take.
    private func check(_ store: HonestStore) throws {
        let problems = try store.problems()
        guard problems.isEmpty else {
            throw SimulationViolation(
                .integrity,
                "replica \(store.name): \(problems.prefix(5).map(\.message).joined(separator: "; "))")
        }
        let frames = try store.everythingAsBundle()
        let header = try frames[0].withUnsafeBytes { try BundleParts.header(of: $0) }
        do {
            try Admission.check(header)
        } catch {
            throw SimulationViolation(
                .integrity, "replica \(store.name) sends what others refuse: \(error)")
        }
        guard frames[0].count < WireLimits().headerByteCountMax / 2 else {
            throw SimulationViolation(
                .integrity, "the header of replica \(store.name) has \(frames[0].count) bytes")
        }
    }
}
