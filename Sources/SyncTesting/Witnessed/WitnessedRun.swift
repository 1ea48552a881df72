import CipherStore
import Foundation
import SyncEngine

/// The course of one ``Simulation`` with ``SimulationFeature/witnessed``: replicas that hold some tables, or some rows, while
/// processes die, files are copied and put back, deletions are forgotten, and apps migrate. With
/// ``SimulationFeature/mailbox``, they meet in a mailbox instead.
///
/// No model predicts what the tables hold in such a run. It is held to what users see: their rows and journals.
final class WitnessedRun: SimulationCourse {
    let simulation: Simulation
    private let factory: StoreFactory
    let clock: SimulatedClock
    /// Where stores meet; nil when they meet each other.
    let place: MeetingPlace?
    /// The members of the database; nil when it has none.
    var members: WitnessedMembers?
    private let features: Set<SimulationFeature>
    private(set) var trace: [String] = []
    private(set) var stepsTaken: [Int] = []
    var stores: [WitnessedStore] = []
    var history = WitnessedHistory()
    /// The journals of files that are gone.
    var abandonedJournal: Set<String> = []
    private var backups: [Int: WitnessedStore.Backup] = [:]
    private var fileCount = 0

    /// What can happen in it.
    private static let possible: Set<SimulationFeature> = [
        .network, .crashes, .clocks, .foreignWriters, .clones, .copies, .restores, .compaction, .migrations,
        .scopes, .rowScopes,
    ]

    /// What can happen in one with a mailbox, which holds all tables and rows.
    private static let possibleInMailbox = possible.subtracting([.scopes, .rowScopes])
        .union([.members, .lyingPlaces])

    init(_ simulation: Simulation, _ factory: StoreFactory, meetsInMailbox: Bool = false) throws {
        (self.simulation, self.factory) = (simulation, factory)
        var random = SimulationRandom(seed: simulation.seed, part: 0)
        let possible = meetsInMailbox ? Self.possibleInMailbox : Self.possible
        let asked = simulation.features.intersection(possible)
        let allowed = asked.isEmpty ? possible : asked
        // Rare faults meet others than frequent ones do: a run has few kinds of them, or many.
        let isRare = random.oneIn(2)
        var features = Set(
            SimulationFeature.allCases.filter {
                allowed.contains($0) && (isRare ? random.oneIn(3) : !random.oneIn(3))
            })
        if features.isSuperset(of: [.scopes, .rowScopes]) {
            features.remove(random.oneIn(2) ? .scopes : .rowScopes)
        }
        self.features = features
        clock = SimulatedClock(seed: simulation.seed)
        if random.oneIn(4) { clock.places.blind() }
        place = meetsInMailbox ? try Self.makePlace(simulation, features) : nil
    }

    private static func makePlace(
        _ simulation: Simulation, _ features: Set<SimulationFeature>
    ) throws -> MeetingPlace {
        var faults: Set<MailboxFault> = []
        if features.contains(.network) { faults = Set(MailboxFault.allCases).subtracting([.damage]) }
        if features.contains(.lyingPlaces) { faults.insert(.damage) }
        var random = SimulationRandom(seed: simulation.seed, part: 5)
        return try MeetingPlace(
            simulation.meeting?(simulation.seed) ?? MemoryMailbox(seed: simulation.seed, faults: []),
            faults: faults, acknowledgementSeconds: random.oneIn(3) ? 3_600 : 0)
    }

    func note(_ text: String) { trace.append(text) }

    /// Whether something can happen in this run.
    func happens(_ feature: SimulationFeature) -> Bool { features.contains(feature) }

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
        note("end: all replicas choose everything, and meet")
        if place == nil { try end() } else { try endInMailbox() }
        for store in stores { try store.close() }
    }

    private func begin(_ random: inout SimulationRandom) throws {
        note("begin: \(features.map(\.rawValue).sorted().joined(separator: " "))")
        try factory.create("0")
        stores.append(try WitnessedStore(factory, clock, number: newNumber()))
        for _ in 0..<4 { try edit(stores[0], &random) }
        if happens(.members) { try foundMembership() }
        for _ in 1...(1 + random.number(below: 3)) { stores.append(try stores[0].clone(number: newNumber())) }
        // Without a draw, which would make other runs of all seeds.
        if place != nil, simulation.seed % 4 == 3 { try stores[0].synchronizer.setFilePadding(.padme) }
        for store in stores { try see(store) }
        if members != nil { try inviteAll(&random) }
        place?.beginFaults()
    }

    func newNumber() -> Int {
        fileCount += 1
        return fileCount - 1
    }

    private func take(_ random: inout SimulationRandom) throws {
        let pauses: [Int] = [0, 0, 1, 7, 500, 60_000, 3_600_000, 86_400_000]
        clock.advance(Int64(random.element(of: pauses) ?? 0))
        guard let store = random.element(of: stores) else { return }
        let kind = random.number(below: 100)
        if place != nil, try takeInMailbox(store, kind, &random) { return }
        switch kind {
        case 0..<38: try edit(store, &random)
        case 38..<70: try synchronize(store, &random)
        case 70..<76 where features.contains(.scopes) || features.contains(.rowScopes):
            try choose(store, &random)
        case 76..<80 where features.contains(.crashes): try crash(store, &random)
        case 80..<84 where features.contains(.restores): try backUpOrRestore(store, &random)
        case 84..<88 where features.contains(.copies): try copy(store, &random)
        case 88..<92 where features.contains(.compaction): try compact(store, &random)
        case 92..<94 where features.contains(.migrations): try migrate(store)
        case 94..<96 where features.contains(.clocks): changeClock(store, &random)
        case 96..<98 where features.contains(.clones): try clone(store)
        case 98..<100:
            note("store \(store.name) starts again")
            try store.restart()
        default: try edit(store, &random)
        }
    }

    // MARK: Edits

    private func edit(_ store: WitnessedStore, _ random: inout SimulationRandom) throws {
        let isForeign = features.contains(.foreignWriters) && random.oneIn(4)
        note("store \(store.name)\(isForeign ? ", another program" : "") writes")
        let foreign = isForeign ? try factory.open(store.name) : nil
        defer { try? foreign?.close() }
        let edit = try write(store, foreign ?? store.queue, isUndone: random.oneIn(12), &random)
        if let edit { try commit(edit.draft, by: store) }
        try see(store)
    }

    private func commit(_ draft: WitnessedHistory.Draft, by store: WitnessedStore) throws {
        history.commit(draft)
        try keepFromRemoved(Set(draft.written.keys), by: store)
    }

    /// Makes a transaction of some edits.
    ///
    /// - returns: What it did; nil when it was rolled back.
    private func write(
        _ store: WitnessedStore, _ queue: DatabaseQueue, isUndone: Bool, _ random: inout SimulationRandom
    ) throws -> WitnessedEdit? {
        var edit = WitnessedEdit(store, hasFreshKeys: happens(.rowScopes), history, random)
        let count = edit.random.oneIn(3) ? 1 + edit.random.number(below: 4) : 1
        try queue.inTransaction(.immediate) { db in
            for _ in 0..<count { try edit.run(db) }
            return isUndone ? .rollback : .commit
        }
        // Values that were rolled back are not given again.
        (history, random) = (edit.history, edit.random)
        for line in edit.trace { note("    \(line)\(isUndone ? "  -- rolled back" : "")") }
        return isUndone ? nil : edit
    }

    /// A process dies while it commits: all of it is there afterwards, or nothing.
    private func crash(_ store: WitnessedStore, _ random: inout SimulationRandom) throws {
        let kept = random.oneIn(4) ? 1 : Double(random.number(below: 1000)) / 1000
        note("store \(store.name) writes, and dies with \(Int(kept * 100)) % of it on the disk")
        let (before, mark) = (try store.rows(), try StoreFiles.mark(path: store.path))
        guard let edit = try write(store, store.queue, isUndone: false, &random) else { return }
        let after = try store.rows()
        var files = try StoreFiles(path: store.path)
        files.cut(since: mark, keeping: kept)
        try store.restart(files)
        let found = try store.rows()
        guard found == before || found == after else {
            throw SimulationViolation(.atomicity, "store \(store.name) holds a part of a transaction")
        }
        if found == after { try commit(edit.draft, by: store) } else { note("    nothing of it is there") }
        try see(store)
    }

    /// Takes note of what a store shows and has in its journal.
    func see(_ store: WitnessedStore) throws {
        let values = try WitnessedStore.values(of: store.rows()).union(store.journal())
        try requireKept(values, from: store)
        history.see(values, in: store.number)
    }

    // MARK: Files and apps

    private func backUpOrRestore(_ store: WitnessedStore, _ random: inout SimulationRandom) throws {
        guard let backup = backups[store.number], !random.oneIn(3) else {
            note("store \(store.name) is backed up")
            backups[store.number] = try store.backUp()
            return
        }
        let isSeen = random.oneIn(2)
        note("store \(store.name) is put back to its backup\(isSeen ? "" : ", and can't see it")")
        abandonedJournal.formUnion(try store.journal())
        try store.restore(backup, isSeen: isSeen)
        history.abandon(store.number, keeping: backup.values)
        try see(store)
    }

    private func copy(_ store: WitnessedStore, _ random: inout SimulationRandom) throws {
        let (isSeen, stays) = (random.oneIn(2), stores.count < 6 && !random.oneIn(3))
        let copy = try store.copy(number: newNumber(), isSeen: isSeen)
        note(
            "store \(copy.name) is a plain copy of store \(store.name)\(isSeen ? "" : ", and can't see it")\(stays ? "" : "; it goes soon")"
        )
        try see(copy)
        if stays { return stores.append(copy) }
        if random.oneIn(2) { try edit(copy, &random) }
        if place != nil {
            try meet(copy, .both)
        } else if let other = random.element(of: stores) {
            try exchange(copy, other, .both, nil)
        }
        abandonedJournal.formUnion(try copy.journal())
        history.abandon(copy.number)
        try copy.close()
    }

    /// - returns: The clone; nil when there are many stores already.
    @discardableResult
    func clone(_ store: WitnessedStore) throws -> WitnessedStore? {
        guard stores.count < 6 else { return nil }
        let clone = try store.clone(number: newNumber())
        note("store \(clone.name) is cloned from store \(store.name)")
        stores.append(clone)
        try see(clone)
        return clone
    }

    private func compact(_ store: WitnessedStore, _ random: inout SimulationRandom) throws {
        var options = CompactionOptions()
        options.reclaimsSpace = random.oneIn(4)
        // Nobody is retired: they would have to be told, and what they wrote last would be lost with them.
        options.leaseMilliseconds = nil
        let report = try store.synchronizer.compact(options)
        note("store \(store.name) forgets \(report.forgottenDeletionCount) deletions")
        try see(store)
    }

    private func migrate(_ store: WitnessedStore) throws {
        guard try store.migrate() else { return }
        note("store \(store.name) migrates")
        try see(store)
    }

    private func changeClock(_ store: WitnessedStore, _ random: inout SimulationRandom) {
        let day: Int64 = 86_400_000
        let skews: [Int64] = [0, 500, -500, 5 * 60_000, -day, day, 3650 * day, -3650 * day]
        let skew = random.element(of: skews) ?? 0
        clock.setSkew(skew, of: store.number)
        note("the clock of store \(store.name) is off by \(skew) ms")
    }

    /// Ends the run: nothing goes wrong any more, all hold everything, and meet until they come to rest.
    private func end() throws {
        for store in stores {
            _ = try store.migrate()
            for other in stores where other !== store {
                try store.synchronizer.setScope(.everything, ofRemote: other.name)
            }
        }
        try comeToRest()
        if try stores.contains(where: { try $0.holdsSomeRows() }) {
            try retireWhoIsGone()
            try comeToRest()
        }
        try requireEqual(stores)
        try requireNothingLost(stores)
        try requireSound()
    }
}
