import CipherStore
import Foundation
import SyncEngine
import SyncWire

/// The course of one ``Simulation`` with ``SimulationFeature/hostileDevice``: honest replicas go on with their work while
/// a device that one of them admitted says what it likes.
///
/// Nobody can predict what the tables hold after that, so there is no model. What must hold is what honest people need:
/// see `HostileRun+Checks.swift`.
final class HostileRun: SimulationCourse {
    private let simulation: Simulation
    private let factory: StoreFactory
    private let app: SimulatedApp
    let clock: SimulatedClock
    private(set) var trace: [String] = []
    private(set) var stepsTaken: [Int] = []
    var stores: [HonestStore] = []
    private var device: HostileDevice?

    /// What the schema can have. The other features are about replicas that are honest.
    private static let schemaFeatures: Set<SimulationFeature> = [
        .foreignKeys, .uniques, .checks, .counters, .rowScopes,
    ]

    init(_ simulation: Simulation, _ factory: StoreFactory) {
        (self.simulation, self.factory) = (simulation, factory)
        var random = SimulationRandom(seed: simulation.seed, part: 0)
        let asked = simulation.features.intersection(Self.schemaFeatures)
        let allowed = asked.isEmpty ? Self.schemaFeatures : asked
        let features = Set(
            SimulationFeature.allCases.filter { allowed.contains($0) && !random.oneIn(3) })
        app = simulation.app ?? .builtIn(features, seed: simulation.seed)
        clock = SimulatedClock(seed: simulation.seed)
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
        note("end: the device is revoked, and all others meet")
        try end()
        for store in stores { try store.queue.close() }
    }

    private func begin(_ random: inout SimulationRandom) throws {
        try factory.create("0")
        let hub = try HonestStore(factory, clock, number: 0, app: app)
        stores.append(hub)
        for _ in 0..<3 { try edit(hub, &random) }
        for number in 0..<4 { try light(hub, "row \(number)", &random) }
        for number in 1...(1 + random.number(below: 2)) {
            stores.append(try hub.clone(number: number, app: app))
        }
        let device = try HostileDevice(hub, rowScope: app.rowScope, &random)
        self.device = device
        note("begin: \(stores.count) honest replicas, and a device with the entry '\(device.entry.rawValue)'")
    }

    private func take(_ random: inout SimulationRandom) throws {
        let pauses: [Int] = [0, 0, 1, 7, 500, 60_000, 86_400_000]
        clock.advance(Int64(random.element(of: pauses) ?? 0))
        guard let store = random.element(of: stores) else { return }
        switch random.number(below: 100) {
        case 0..<45: try hostileUpload(&random)
        case 45..<60: try hostileTalk(&random)
        case 60..<75: try edit(store, &random)
        case 75..<97:
            guard let other = random.element(of: stores.filter { $0 !== store }) else { return }
            note("replicas \(store.name) and \(other.name) synchronize")
            try exchange(store, other)
        default:
            note("replica \(store.name) forgets deletions that all know")
            _ = try store.synchronizer.compact()
        }
    }

    // MARK: The device

    private func hostileUpload(_ random: inout SimulationRandom) throws {
        guard var device, let hub = stores.first else { return }
        var words = HostileWords(random)
        // Local edits get their stamps before anything is compared.
        _ = try hub.synchronizer.localPeer.greet()
        let view = try HostileView(hub.synchronizer)
        let bundle = words.bundle(
            view, of: device.replica, within: device.tables, next: &device.sequence)
        self.device = device
        note(
            "the device sends \(bundle.rows.count) rows of \(bundle.tables.count) tables, as its changes up to \(device.sequence)"
        )
        let guarded = try device.bounds.map { try OutsideView(hub, $0, of: device) }
        try refusing(hub) { try device.upload(bundle, to: hub) }
        if let guarded { try guarded.requireKept(hub, device) }
    }

    private func hostileTalk(_ random: inout SimulationRandom) throws {
        guard var device, let hub = stores.first else { return }
        var words = HostileWords(random)
        let view = try HostileView(hub.synchronizer)
        let guarded = try device.bounds.map { bounds in
            _ = try hub.synchronizer.localPeer.greet()
            return try OutsideView(hub, bounds, of: device)
        }
        switch words.random.number(below: 8) {
        case 0...3:
            note("the device greets")
            try refusing(hub) { try device.greet(words.greeting(view, of: device.replica), hub) }
        case 4:
            note("the device has the server renew its identity")
            try refusing(hub) { try device.renewHub(hub) }
        case 5:
            note("the device acknowledges what it likes")
            let vector = words.vector(view)
            try refusing(hub) { try device.acknowledge(vector, hub) }
        case 6:
            note("the device asks for what it likes")
            let request = words.request(view, of: device.replica)
            try refusing(hub, compares: false) { try device.ask(request, hub) }
        default:
            note("the device compares what it likes")
            let question = words.question(view)
            try refusing(hub, compares: false) { try device.compare(question, hub) }
        }
        self.device = device
        if let guarded { try guarded.requireKept(hub, device) }
    }

    /// Does something of which a server refuses what it has to refuse, and nothing of that may leave a trace.
    private func refusing(_ hub: HonestStore, compares: Bool = true, _ body: () throws -> Void) throws {
        let before = compares ? try hub.everything() : [:]
        do {
            try body()
        } catch let error as SyncError where error.code == .forkedReplica {
            // The store may have taken a new identity, which it needs whatever the bundle is.
            note("    refused: \(error.message)")
        } catch  where error is SyncError || error is WireError || error is HostileRefusal {
            note("    refused: \(error)")
            guard compares else { return }
            if simulation.sabotage == .losesRow { try hub.loseRow() }
            let after = try hub.everything()
            for table in Set(before.keys).union(after.keys).sorted() where before[table] != after[table] {
                throw SimulationViolation(.atomicity, "what was refused changed table \(table): \(error)")
            }
        }
    }

    // MARK: Everybody else

    /// One edit of a user.
    private func edit(_ store: HonestStore, _ random: inout SimulationRandom) throws {
        note("replica \(store.name) writes")
        guard !random.oneIn(3) else {
            try light(store, "lit", &random)
            return
        }
        var generator = random
        do {
            let text = try store.queue.write { db in
                try app.edit(db, &generator, SimulatedDevice(number: store.number, version: 0))
            }
            note("    \(text)")
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            note("    refused: \(error.message ?? "")")
        }
        random = generator
    }

    /// Inserts a row that nobody else can have.
    @discardableResult
    func light(_ store: HonestStore, _ text: String, _ random: inout SimulationRandom) throws -> Data {
        let key = Data((0..<16).map { _ in UInt8(random.number(below: 256)) })
        let places: [ScopeValue] = ["a", "b", "c", nil]
        let place = ModelValue(random.element(of: places) ?? .null).databaseValue
        try store.queue.write {
            try $0.execute(
                sql: "INSERT INTO \(HonestStore.beacon) (id, place, said) VALUES (?, ?, ?)",
                arguments: [key, place, text])
        }
        return key
    }

    /// Two honest replicas synchronize. One that was retired goes on under another identity, as its user is told.
    func exchange(_ one: HonestStore, _ other: HonestStore) throws {
        var last: SyncError?
        for _ in 0..<4 {
            do {
                _ = try one.exchange(with: other)
                return
            } catch let error as SyncError where error.code == .retiredReplica {
                note("    \(error.message)")
                let isRemote = error.message.contains("the remote")
                try (isRemote ? other : one).synchronizer.renewIdentity()
                last = error
            } catch let error as SyncError where error.code == .forkedReplica {
                note("    \(error.message)")
                last = error
            }
        }
        throw SimulationViolation(
            .progress, "replicas \(one.name) and \(other.name) can't synchronize: \(last?.message ?? "")")
    }
}
