import CipherStore
import Foundation
import SyncEngine
import SyncWire

/// The course of one ``Simulation``.
final class SimulationRun {
    let simulation: Simulation
    let world: SimulatedWorld
    /// What this run makes use of.
    let features: Set<SimulationFeature>
    var replicas: [SimulatedReplica] = []
    private(set) var trace: [String] = []
    private(set) var stepsTaken: [Int] = []
    private let replicaCountMax: Int
    private let topology: Topology
    /// The links that are down.
    private var downLinks: Set<Int> = []

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
        features = Set(
            SimulationFeature.allCases.filter { simulation.features.contains($0) && !random.oneIn(4) })
        replicaCountMax = 2 + random.number(below: 5)
        topology = random.element(of: Topology.allCases) ?? .any
        let app = simulation.app ?? .builtIn(features, seed: simulation.seed)
        world = SimulatedWorld(seed: simulation.seed, app: app, factory: factory)
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
        for _ in 0..<3 { try edit(replicas[0], &random) }
        let count = features.contains(.clones) ? 2 : replicaCountMax
        while replicas.count < count { try clone(&random) }
    }

    private func take(_ random: inout SimulationRandom) throws {
        let pauses: [Int] = [0, 0, 1, 7, 500, 60_000, 3_600_000, 86_400_000]
        world.clock.advance(Int64(random.element(of: pauses) ?? 0))
        guard let replica = random.element(of: replicas) else { return }
        switch random.number(below: 100) {
        case 0..<52: try edit(replica, &random)
        case 52..<82: try synchronize(replica, &random)
        case 84..<89 where features.contains(.network): try deliverLate(replica, &random)
        case 89..<91 where features.contains(.network): changeLinks(&random)
        case 91..<93 where features.contains(.crashes): try crashInTransaction(replica, &random)
        case 93..<95 where features.contains(.clocks): changeClock(replica, &random)
        case 95..<97 where features.contains(.clones): try clone(&random)
        case 97 where features.contains(.copies): try meetCopy(replica, &random)
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

    // MARK: Replicas

    private func clone(_ random: inout SimulationRandom) throws {
        guard replicas.count < replicaCountMax, let source = random.element(of: replicas) else { return }
        let number = replicas.count
        note("replica \(number) is cloned from replica \(source.name)")
        try source.synchronizer.clone(
            to: world.factory.path("\(number)"), passphrase: world.factory.secret())
        try source.observe(now: world.clock.now(source.number))
        try source.markCommitted()
        world.clock.setSkew(source.skew, of: number)
        let clone = try SimulatedReplica(world, number: number)
        clone.skew = source.skew
        clone.appVersion = source.appVersion
        var expected = source.model.vector
        expected[clone.model.id] = 0
        guard clone.model.vector == expected, clone.rows == source.rows else {
            throw SimulationViolation(.progress, "replica \(number) differs from what it is a clone of")
        }
        replicas.append(clone)
    }

    /// A plain copy of a file is not a replica: it is refused.
    private func meetCopy(_ replica: SimulatedReplica, _ random: inout SimulationRandom) throws {
        note("replica \(replica.name) meets a plain copy of itself")
        try StoreFiles(path: world.factory.path(replica.name)).write(path: world.factory.path("copy"))
        let transport = StoreTransport(
            path: world.factory.path("copy"), configuration: world.factory.configuration)
        do {
            _ = try replica.synchronizer.run(.both, transport)
            throw SimulationViolation(.progress, "a plain copy was not refused")
        } catch let error as SyncError where error.code == .sameReplica {
            try replica.observe(now: world.clock.now(replica.number))
            try replica.markCommitted()
        }
    }

    /// Brings a replica to the next version of the app.
    private func migrate(_ replica: SimulatedReplica) throws {
        guard replica.appVersion + 1 < world.app.versionCount else { return }
        note("replica \(replica.name) migrates to version \(replica.appVersion + 1)")
        try replica.migrate(to: replica.appVersion + 1)
        try replica.checkAgainstModel()
    }

    private func changeClock(_ replica: SimulatedReplica, _ random: inout SimulationRandom) {
        let day: Int64 = 86_400_000
        let skews: [Int64] = [0, 0, 500, -500, 5 * 60_000, -day, day, 3650 * day, -3650 * day, -20_000 * day]
        replica.skew = random.element(of: skews) ?? 0
        world.clock.setSkew(replica.skew, of: replica.number)
        note("the clock of replica \(replica.name) is off by \(replica.skew) ms")
    }

    private func changeLinks(_ random: inout SimulationRandom) {
        downLinks = random.oneIn(2) ? [] : Set((0..<4).map { _ in random.number(below: 36) })
        note("links are down: \(downLinks.sorted().map { "\($0 / 6)-\($0 % 6)" }.joined(separator: " "))")
    }

    // MARK: Synchronization

    private func partner(of replica: SimulatedReplica, _ random: inout SimulationRandom) -> SimulatedReplica?
    {
        let count = replicas.count
        let number = replica.number
        let numbers: [Int] =
            switch topology {
            case .star: number == 0 ? Array(1..<max(count, 1)) : [0]
            case .ring: [(number + 1) % count, (number + count - 1) % count]
            case .line: [number - 1, number + 1].filter { (0..<count).contains($0) }
            case .any: Array(0..<count)
            }
        let others = numbers.filter { $0 != number }
        return random.element(of: others).map { replicas[$0] }
    }

    private func synchronize(_ replica: SimulatedReplica, _ random: inout SimulationRandom) throws {
        guard let partner = partner(of: replica, &random) else { return }
        let directions: [SyncDirection] = [.both, .both, .pull, .push]
        let direction = random.element(of: directions) ?? .both
        if downLinks.contains(replica.number * 6 + partner.number) {
            return note("replica \(replica.name) does not reach replica \(partner.name)")
        }
        let faults = chooseFaults(replica, partner, &random)
        note("replica \(replica.name) synchronizes with \(partner.name): \(direction.rawValue)\(faults)")
        try exchange(replica, partner, direction, faults)
    }

    private func chooseFaults(
        _ local: SimulatedReplica, _ remote: SimulatedReplica, _ random: inout SimulationRandom
    ) -> SyncFaults {
        var faults = SyncFaults()
        func fault() -> DeliveryFault? {
            let fraction = Double(random.number(below: 10_000)) / 10_000
            return switch random.number(below: 8) {
            case 0: .loss
            case 1: .truncation(fraction)
            case 2, 3: .duplication
            case 4: .corruption(fraction)
            default: nil
            }
        }
        if features.contains(.network), random.oneIn(3) {
            faults.pull = fault()
            faults.push = fault()
            faults.breaksBetween = random.oneIn(6)
            faults.breaksBeforeNotes = random.oneIn(8)
        }
        if features.contains(.foreignWriters), random.oneIn(5) {
            var generator = SimulationRandom(seed: random.next())
            let isRemote = random.oneIn(2)
            let writing = isRemote ? remote : local
            let write = { [self] in
                note("  meanwhile another program writes to replica \(writing.name)")
                try self.write(writing, isForeign: true, &generator)
            }
            if isRemote { faults.remoteWrite = write } else { faults.localWrite = write }
        }
        if features.contains(.crashes), random.oneIn(7) {
            faults.crash = (
                random.element(of: SyncFaults.CrashPoint.allCases) ?? .greeted, random.oneIn(2),
                random.oneIn(5) ? 1 : Double(random.number(below: 1000)) / 1000
            )
        }
        return faults
    }

    /// Synchronizes two replicas, and holds both to the model afterwards.
    func exchange(
        _ local: SimulatedReplica, _ remote: SimulatedReplica, _ direction: SyncDirection,
        _ faults: SyncFaults
    ) throws {
        let now = world.clock.now(local.number)
        let transport = SimulatedTransport(local, remote, faults, inner: remote.transport)
        var crashed: Bool?
        do {
            let report = try local.synchronizer.run(direction, transport)
            guard report.unrecordedReason == nil || faults.breaksBeforeNotes || faults.crash != nil else {
                throw SimulationViolation(.failure, "\(report.unrecordedReason ?? "")")
            }
            if transport.files != nil { crashed = faults.crash?.isLocal }
        } catch let fault as InjectedFault {
            if case .crash(let isLocal) = fault { crashed = isLocal }
        } catch let error where transport.hasTampered && !(error is SimulationViolation) {
            note("  refused: \(error)")
        }
        if let crashed, let files = transport.files {
            note("  replica \((crashed ? local : remote).name) died")
            try (crashed ? local : remote).restart(
                files, now: now, transfer: crashed ? transport.pulled : transport.pushed)
        }
        if crashed != true { try local.observe(now: now, transfer: transport.pulled) }
        if crashed != false { try remote.observe(now: now, transfer: transport.pushed) }
        if crashed == nil, case .duplication = faults.pull, !transport.pulledFrames.isEmpty {
            try local.applyAgain { try receive(transport.pulledFrames, local) }
        }
        for replica in [local, remote] { try replica.markCommitted() }
        if let sabotage = simulation.sabotage { try local.sabotage(sabotage) }
        if faults.isEmpty { try requireExchanged(local, remote, direction) }
        for replica in [local, remote] { try replica.checkAgainstModel() }
        if local.model.vector == remote.model.vector { try requireEqual(local, remote) }
    }

    private func requireExchanged(
        _ local: SimulatedReplica, _ remote: SimulatedReplica, _ direction: SyncDirection
    ) throws {
        guard direction == .push || local.model.vector.covers(remote.model.vector),
            direction == .pull || remote.model.vector.covers(local.model.vector)
        else {
            throw SimulationViolation(
                .progress, "replicas \(local.name) and \(remote.name) synchronized, and one lacks changes")
        }
    }

    private func receive(_ frames: [[UInt8]], _ replica: SimulatedReplica) throws {
        let peer = try replica.transport.connect(replica.environment)
        defer { peer.close() }
        _ = try peer.receive { sink in try SimulatedTransport.hand(frames, to: sink) }
    }

    /// Delivers a bundle that was made earlier, for this replica or another one.
    private func deliverLate(_ replica: SimulatedReplica, _ random: inout SimulationRandom) throws {
        guard let bundle = random.element(of: world.bundles) else { return }
        let vector = replica.model.vector
        let isDue = vector.covers(bundle.transfer.base)
        note("replica \(replica.name) gets an old bundle\(isDue ? "" : ", which is to be refused")")
        do {
            try receive(bundle.frames, replica)
            guard isDue else {
                throw SimulationViolation(.progress, "a bundle was applied that builds on unknown changes")
            }
        } catch let error as SyncError where error.code == .invalidBundle && !isDue {}
        try replica.observe(now: world.clock.now(replica.number), transfer: bundle.transfer)
        try replica.markCommitted()
        try replica.checkAgainstModel()
    }

    // MARK: The end

    private func end() throws {
        guard let first = replicas.first else { return }
        if features.contains(.migrations) {
            for replica in replicas {
                while replica.appVersion + 1 < world.app.versionCount { try migrate(replica) }
            }
        }
        for _ in 0..<2 {
            for replica in replicas.dropFirst() { try exchange(first, replica, .both, SyncFaults()) }
        }
        for replica in replicas.dropFirst() {
            guard replica.model.vector == first.model.vector else {
                throw SimulationViolation(.progress, "replicas 0 and \(replica.name) met, and one knows more")
            }
            try requireEqual(first, replica)
        }
        try LostValueCheck(changes: world.changes, replicas: replicas).run()
        for replica in replicas { try replica.checkIntegrity() }
    }
}

extension SyncFaults: CustomStringConvertible {
    var description: String {
        var parts: [String] = []
        if let pull { parts.append("pull \(pull)") }
        if let push { parts.append("push \(push)") }
        if breaksBetween { parts.append("cut between the directions") }
        if breaksBeforeNotes { parts.append("cut before the notes") }
        if let crash { parts.append("\(crash.isLocal ? "this" : "the other") one dies: \(crash.point)") }
        return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    }
}
