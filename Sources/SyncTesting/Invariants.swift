import CipherStore
import SyncEngine
import SyncWire

extension SimulatedReplica {
    /// Compares versions and rows with what the changes say that the vector covers.
    func checkAgainstModel() throws {
        // What was not folded has no versions yet.
        guard model.pending.isEmpty else { return }
        let state = state()
        try checkVersions(state)
        for (key, row) in state.rows.sorted(by: { $0.key < $1.key }) {
            for stamp in row.stamps
            where key.table != partialTable && !model.vector(of: key.table).contains(stamp) {
                throw SimulationViolation(
                    .progress,
                    "replica \(name) holds \(text(stamp)) of \(key), which its vector does not cover")
            }
        }
        if world.hasScopes { try checkVectors() }
        try checkHiddenValues(state)
        let expected = try oracle.shownRows(of: state)
        // A crash can come between a fold and the settlement that follows it.
        guard expected != rows, try !queue.read({ try SettlementMark.isDue($0) }) else { return }
        for key in Set(expected.keys).union(rows.keys).sorted() where expected[key] != rows[key] {
            throw SimulationViolation(
                .shownRows,
                "replica \(name) shows \(key) as \(text(rows[key])), and it is \(text(expected[key]))")
        }
    }

    /// The vectors cover what is known and nothing else.
    private func checkVectors() throws {
        for (number, change) in world.changes.enumerated()
        where change.key.table != partialTable
            && model.vector(of: change.key.table).contains(change.stamp) != model.known.contains(number)
        {
            throw SimulationViolation(
                .progress,
                "replica \(name) \(model.known.contains(number) ? "has" : "lacks") change \(text(change.stamp)) of \(change.key), and its vectors say otherwise"
            )
        }
    }

    /// What somebody wrote and is not shown here is kept.
    private func checkHiddenValues(_ state: MergedState) throws {
        let hidden = try queue.read { db in try StoreObservation(db).hiddenValues(db) }
        for (key, row) in state.rows.sorted(by: { $0.key < $1.key }) {
            guard row.isAlive else {
                guard hidden[key] == nil else {
                    throw SimulationViolation(
                        .shownRows, "replica \(name) keeps values of \(key), which is deleted")
                }
                continue
            }
            for (column, value) in row.shown.sorted(by: { $0.key < $1.key }) {
                let isShown = rows[key] != nil && columns[key.table]?.contains(column) == true
                guard !isShown, hidden[key]?[column] ?? .null != value else { continue }
                throw SimulationViolation(
                    .shownRows,
                    "replica \(name) neither shows nor keeps \(column) of \(key), which is \(value)")
            }
        }
    }

    private func text(_ row: [String: ModelValue]?) -> String {
        guard let row else { return "nothing" }
        return "(" + row.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            + ")"
    }

    private func checkVersions(_ state: MergedState) throws {
        let found = try queue.read { db in try StoreObservation(db).versions(db) }
        for key in Set(found.keys).union(state.rows.keys).sorted() {
            let expected = state.rows[key].map { row in
                StoreObservation.Version(
                    life: row.life, base: row.base,
                    cells: row.cells.mapValues(\.stamp).filter { $0.value != row.base }
                        .merging(row.shares.mapValues(\.stamp)) { $1 })
            }
            guard found[key] != expected else { continue }
            throw SimulationViolation(
                .versions, "replica \(name) has \(key) as \(text(found[key])), and it is \(text(expected))")
        }
    }

    private func text(_ version: StoreObservation.Version?) -> String {
        guard let version else { return "nothing" }
        let cells = version.cells.sorted { $0.key < $1.key }.map { ", \($0.key) \(text($0.value))" }
        return "life \(version.life) by \(text(version.base))\(cells.joined())"
    }

    private func text(_ stamp: Stamp) -> String {
        "\(stamp.timestamp.milliseconds)+\(stamp.timestamp.rawValue & 0xFFFF)@\(stamp.replica.shortDescription)#\(stamp.sequence)"
    }

    /// The library's own checks of the file.
    func checkIntegrity() throws {
        let problems = try world.factory.check(name) { try MetadataCheck.problems(of: $0, isDeep: true) }
        guard problems.isEmpty else {
            throw SimulationViolation(
                .integrity, "replica \(name): \(problems.map(\.message).joined(separator: "; "))")
        }
    }
}

extension SimulationRun {
    /// Replicas that know the same are the same.
    func requireEqual(_ left: SimulatedReplica, _ right: SimulatedReplica) throws {
        guard left.model.pending.isEmpty, right.model.pending.isEmpty, left.appVersion == right.appVersion
        else {
            return
        }
        // Of a column that a replica lacks it keeps what was written, and may keep what was not.
        let written = features.contains(.migrations) ? left.state().rows : nil
        func isCompared(_ key: ModelKey, _ column: String, _ value: ModelValue) -> Bool {
            guard let written else { return true }
            return value != .null && written[key]?.cells[column] != nil
        }
        let forgotten = try Self.forgottenDeletions(left, right)
        func state(_ replica: SimulatedReplica) throws -> (
            ModelRows, ModelRows, [ModelKey: StoreObservation.Version]
        ) {
            try replica.queue.read { db in
                let observation = try StoreObservation(db)
                var hidden: ModelRows = [:]
                for (key, values) in try observation.hiddenValues(db) {
                    let compared = values.filter { isCompared(key, $0.key, $0.value) }
                    if written == nil || !compared.isEmpty { hidden[key] = compared }
                }
                let versions = try observation.versions(db).filter { key, version in
                    version.life & 1 == 1 || !forgotten.contains(key)
                }
                return (replica.rows, hidden, versions)
            }
        }
        let (one, other) = (try state(left), try state(right))
        guard one != other else { return }
        func differences<Value: Equatable>(_ one: [ModelKey: Value], _ other: [ModelKey: Value]) -> [ModelKey]
        {
            Set(one.keys).union(other.keys).filter { one[$0] != other[$0] }.sorted()
        }
        let parts = [
            ("rows", differences(one.0, other.0)), ("hidden values", differences(one.1, other.1)),
            ("versions", differences(one.2, other.2)),
        ].filter { !$1.isEmpty }.map { "\($0) of \($1.map(\.description).joined(separator: ", "))" }
        throw SimulationViolation(
            .convergence,
            "replicas \(left.name) and \(right.name) know the same, and differ in \(parts.joined(separator: "; "))"
        )
    }
}

extension SimulationRun {
    /// The rows of which one of two replicas has forgotten the deletion, or may have: it can have heard of an older
    /// one afterwards, which was new to it, and which the other one heard of before.
    private static func forgottenDeletions(
        _ left: SimulatedReplica, _ right: SimulatedReplica
    ) throws -> Set<ModelKey> {
        let observed = try [left, right].map { replica in
            try replica.queue.read { db in
                let observation = try StoreObservation(db)
                return (floor: observation.floor, versions: try observation.versions(db))
            }
        }
        var forgotten: Set<ModelKey> = []
        for (one, other) in [(observed[0], observed[1]), (observed[1], observed[0])] {
            for (key, version) in one.versions where version.life & 1 == 0 {
                let isGone = other.versions[key] == nil && !other.floor.sequences.isEmpty
                if isGone || one.floor.contains(version.base) || other.floor.contains(version.base) {
                    forgotten.insert(key)
                }
            }
        }
        return forgotten
    }
}

/// Finds values that somebody wrote and that are nowhere any more, although nobody replaced them.
struct LostValueCheck {
    let world: SimulatedWorld
    let replicas: [SimulatedReplica]

    func run() throws {
        guard let replica = replicas.first else { return }
        let state = replica.state()
        let defaults = try replica.defaultValues()
        var kept = world.withdrawn
        for replica in replicas { kept.formUnion(replica.model.known) }
        // What only a file had that is gone is nobody's fault.
        let gone = world.abandoned.subtracting(kept)
        let renamed = world.renamed.subtracting(kept)
        let changes = world.changes.indices.filter { !gone.contains($0) }
        var journal = world.abandonedJournal
        for replica in replicas {
            journal.formUnion(try replica.queue.read { db in try StoreObservation(db).journal(db) })
        }
        for (key, all) in Dictionary(grouping: changes, by: { world.changes[$0].key }).sorted(by: {
            $0.key < $1.key
        }) {
            try checkIncrements(all.filter { !renamed.contains($0) }, key, state.rows[key], journal)
            for change in all.filter({ !renamed.contains($0) }).map({ world.changes[$0] }) {
                for (column, value) in change.values.sorted(by: { $0.key < $1.key }) {
                    // What the writer of the row did not have is at its default.
                    if let row = state.rows[key], row.isAlive,
                        row.cells[column]?.value ?? defaults[key.table]?[column] ?? .null == value
                    {
                        continue
                    }
                    // Two writes of one value are no conflict, so either of them stands for both.
                    let equals = all.filter {
                        world.changes[$0].life == change.life && world.changes[$0].value(column) == value
                    }
                    if isReplaced(change, column, equals, by: all) { continue }
                    let isKept = equals.contains {
                        let stamp = world.changes[$0].stamp
                        return journal.contains(
                            StoreObservation.Lost(
                                key: key, column: column, value: value, timestamp: stamp.timestamp.rawValue,
                                replica: stamp.replica))
                    }
                    guard isKept else {
                        throw SimulationViolation(
                            .lostValue,
                            "\(column) of \(key) was \(value), written by \(change.stamp.replica.shortDescription) as its change \(change.stamp.sequence); it is gone without a trace"
                        )
                    }
                }
            }
        }
    }

    /// What was added to a counter is counted, or somebody ended the row who knew it, or it is in a journal.
    private func checkIncrements(
        _ all: [Int], _ key: ModelKey, _ row: MergedState.Row?, _ journal: Set<StoreObservation.Lost>
    ) throws {
        let counted = Set((row?.shares.values.map(\.increments) ?? []).joined())
        for number in all {
            let change = world.changes[number]
            guard case .count(let column, let share, let increments) = change.content,
                let lost = increments.first(where: { !counted.contains($0) }),
                !all.contains(where: {
                    world.changes[$0].life > change.life && world.changes[$0].known.contains(number)
                }),
                !journal.contains(where: {
                    $0.key == key && $0.column == share && $0.timestamp >= change.stamp.timestamp.rawValue
                })
            else { continue }
            throw SimulationViolation(
                .lostValue, "\(lost.value) was added to \(column) of \(key); it is gone without a trace")
        }
    }

    /// Whether somebody wrote over a value who knew it, or a write of the same value.
    private func isReplaced(
        _ change: MergedState.Change, _ column: String, _ equals: [Int], by all: [Int]
    ) -> Bool {
        all.contains { number in
            let other = world.changes[number]
            let isLater =
                other.life > change.life
                || (other.life == change.life && (other.isWhole || other.value(column) != nil)
                    && other.stamp.isNewer(than: change.stamp))
            return isLater && equals.contains { other.known.contains($0) }
        }
    }
}
