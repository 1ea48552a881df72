import CipherStore
import Foundation
import SyncEngine
import SyncWire

/// The course of one ``Simulation``.
final class SimulationRun: SimulationCourse {
    let simulation: Simulation
    let world: SimulatedWorld
    /// What this run makes use of.
    let features: Set<SimulationFeature>
    var replicas: [SimulatedReplica] = []
    private(set) var trace: [String] = []
    private(set) var stepsTaken: [Int] = []
    let replicaCountMax: Int
    let topology: Topology
    /// Older copies of files, by replica.
    var backups: [Int: SimulatedBackup] = [:]
    /// The links that are down.
    var downLinks: Set<Int> = []

    /// Who synchronizes with whom.
    enum Topology: String, CaseIterable {
        case star
        case ring
        case line
        case any
    }

    init(_ simulation: Simulation, _ factory: StoreFactory) {
        self.simulation = simulation
        var random = SimulationRandom(seed: simulation.seed, part: 0)
        var features = Set(
            SimulationFeature.allCases.filter {
                !SimulationFeature.late.contains($0) && simulation.features.contains($0) && !random.oneIn(4)
            })
        if features.contains(.scopes) {
            // Were there scopes in most runs, few would have what runs with scopes leave out.
            if simulation.features.isDisjoint(with: SimulationFeature.apartFromScopes) || random.oneIn(3) {
                features.subtract(SimulationFeature.apartFromScopes)
            } else {
                features.remove(.scopes)
            }
        }
        var late = SimulationRandom(seed: simulation.seed, part: 4)
        if !late.oneIn(3), simulation.features.contains(.counters) { features.insert(.counters) }
        let isChosen =
            late.oneIn(3) || simulation.features.isDisjoint(with: SimulationFeature.apartFromScopes)
        if isChosen, simulation.features.contains(.rowScopes), !features.contains(.scopes) {
            features.subtract(SimulationFeature.apartFromScopes)
            features.insert(.rowScopes)
        }
        self.features = features
        replicaCountMax = 2 + random.number(below: 5)
        topology = random.element(of: Topology.allCases) ?? .any
        let app = simulation.app ?? .builtIn(features, seed: simulation.seed)
        world = SimulatedWorld(
            seed: simulation.seed, app: app, factory: factory,
            allowsCopies: !features.isDisjoint(with: [.copies, .restores, .compaction, .crashes]),
            hasScopes: !features.isDisjoint(with: [.scopes, .rowScopes]))
        world.isKnownElsewhere = { [unowned self] replica, table, stamps in
            replicas.contains { other in
                other !== replica && other.partialTable == nil
                    && stamps.allSatisfy(other.model.vector(of: table).contains)
            }
        }
        world.note = { [unowned self] in note("  \($0)") }
        if random.oneIn(3) || simulation.sabotage == .forgesChains { world.clock.places.blind() }
    }

    func note(_ text: String) { trace.append(text) }

    // MARK: The course

    func run() throws {
        var random = SimulationRandom(seed: simulation.seed, part: 3)
        try begin(&random)
        for step in simulation.steps ?? Array(0..<simulation.stepCount) {
            var random = SimulationRandom(seed: simulation.seed, part: 1000 &+ UInt64(step))
            stepsTaken.append(step)
            let line = trace.count
            try take(&random)
            if trace.count > line { trace[line] = "\(step): " + trace[line] }
        }
        note("end: all replicas meet")
        try end()
    }

    private func begin(_ random: inout SimulationRandom) throws {
        note(
            "begin: \(features.map(\.rawValue).sorted().joined(separator: " ")); up to \(replicaCountMax) replicas, topology \(topology.rawValue)"
        )
        try world.factory.create("0")
        replicas.append(try SimulatedReplica(world, number: 0, tables: world.app.tables))
        if simulation.sabotage == .forgesChains { try replicas[0].sabotage(.forgesChains) }
        for _ in 0..<3 { try edit(replicas[0], &random) }
        let count = features.isDisjoint(with: [.clones, .copies]) ? replicaCountMax : 2
        while replicas.count < count { try clone(&random) }
    }

    private func take(_ random: inout SimulationRandom) throws {
        let pauses: [Int] = [0, 0, 1, 7, 500, 60_000, 3_600_000, 86_400_000]
        world.clock.advance(Int64(random.element(of: pauses) ?? 0))
        guard let replica = random.element(of: replicas) else { return }
        if features.contains(.restores), random.oneIn(12) { return try backUpOrRestore(replica, &random) }
        if features.contains(.copies), random.oneIn(20) { return try copy(replica, &random) }
        if features.contains(.compaction), random.oneIn(12) { return try compact(replica, &random) }
        if features.contains(.scopes), random.oneIn(10) { return try chooseTables(replica, &random) }
        if features.contains(.rowScopes), random.oneIn(10) { return try chooseRows(replica, &random) }
        switch random.number(below: 100) {
        case 0..<52: try edit(replica, &random)
        case 52..<82: try synchronize(replica, &random)
        case 84..<89 where features.contains(.network): try deliverLate(replica, &random)
        case 89..<91 where features.contains(.network): changeLinks(&random)
        case 91..<93 where features.contains(.crashes): try crashInTransaction(replica, &random)
        case 93..<95 where features.contains(.clocks): changeClock(replica, &random)
        case 95..<97 where features.contains(.clones): try clone(&random)
        case 82..<84 where features.contains(.migrations): try migrate(replica)
        case 98:
            note("replica \(replica.name) starts again")
            try replica.restart()
        default: try edit(replica, &random)
        }
    }

    // MARK: Edits

    /// A transaction of one or more edits, which can be undone in part or as a whole.
    private func edit(_ replica: SimulatedReplica, _ random: inout SimulationRandom) throws {
        let isForeign = features.contains(.foreignWriters) && random.oneIn(5)
        note("replica \(replica.name)\(isForeign ? ", another program" : "") writes")
        try write(replica, isForeign: isForeign, &random)
    }

    func write(
        _ replica: SimulatedReplica, isForeign: Bool, marks: Bool = true, _ random: inout SimulationRandom
    ) throws {
        var foreign: DatabaseQueue?
        if isForeign {
            let isPlain = world.app.allowsPlainTriggers && random.oneIn(2)
            foreign = try world.factory.open(replica.name)
            try foreign?.writeWithoutTransaction {
                try $0.execute(sql: "PRAGMA recursive_triggers = \(isPlain ? "OFF" : "ON")")
            }
        }
        defer { try? foreign?.close() }
        let now = world.clock.now(replica.number)
        let count = random.oneIn(3) ? 1 + random.number(below: 5) : 1
        let isUndone = random.oneIn(10)
        var generator = random
        do {
            try replica.write(
                foreign, now: now, isStrict: world.app.hasSingleStatements, marks: marks
            ) { db, check in
                for _ in 0..<count {
                    try self.oneEdit(db, replica, &generator)
                    try check()
                }
                if isUndone { self.note("    ROLLBACK") }
                return isUndone ? .rollback : .commit
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            // A deferred constraint stood against the commit.
            note("    not committed: \(error.message ?? "")")
            try replica.readRows()
        }
        random = generator
        if simulation.sabotage == .missesUpdates { try replica.sabotage(.missesUpdates) }
    }

    private func oneEdit(_ db: Database, _ replica: SimulatedReplica, _ random: inout SimulationRandom) throws
    {
        let isNested = random.oneIn(4)
        let isUndone = isNested && random.oneIn(3)
        var generator = random
        do {
            var text = ""
            if isNested {
                try db.inSavepoint {
                    text = try world.app.edit(db, &generator, replica.device)
                    return isUndone ? .rollback : .commit
                }
            } else {
                text = try world.app.edit(db, &generator, replica.device)
            }
            note("    \(text)\(isUndone ? "  -- undone by a savepoint" : "")")
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            note("    refused: \(error.message ?? "")  (\(error.sql ?? ""))")
        }
        random = generator
    }

    /// A process dies while it commits.
    private func crashInTransaction(_ replica: SimulatedReplica, _ random: inout SimulationRandom) throws {
        let kept = random.oneIn(4) ? 1 : Double(random.number(below: 1000)) / 1000
        note("replica \(replica.name) writes, and dies with \(Int(kept * 100)) % of it on the disk")
        try replica.markCommitted()
        try write(replica, isForeign: false, marks: false, &random)
        try replica.restart(replica.filesAfterCrash(keeping: kept), after: replica.rows)
    }

    // MARK: The end

    private func end() throws {
        guard let first = replicas.first else { return }
        if features.contains(.migrations) {
            for replica in replicas {
                while replica.appVersion + 1 < world.app.versionCount { try migrate(replica) }
            }
        }
        if features.contains(.scopes) { try chooseEverything() }
        if features.contains(.rowScopes) { try endRowScopes() }
        // Forks that only third parties see, and deletions that are re-issued, take more than two rounds.
        for round in 0..<8 {
            if round >= 2, replicas.allSatisfy({ knowSame(first, $0) && $0.model.pending.isEmpty }) { break }
            for replica in replicas.dropFirst() { try exchange(first, replica, .both, SyncFaults()) }
        }
        for replica in replicas.dropFirst() {
            guard knowSame(first, replica), first.model.pending.isEmpty, replica.model.pending.isEmpty else {
                throw SimulationViolation(.progress, "replicas 0 and \(replica.name) met, and one knows more")
            }
            try requireEqual(first, replica)
        }
        try LostValueCheck(world: world, replicas: replicas).run()
        for replica in replicas {
            // What the simulator put onto the metadata itself is no finding.
            if simulation.sabotage == .forgesChains { try replica.stopForging() }
            try replica.checkIntegrity()
        }
    }
}
