import CipherStore
import Foundation
import SyncEngine
import SyncWire

/// A device that was admitted by one of the honest replicas, speaks the protocol perfectly, and says what it likes.
///
/// It does what a server lets a device do, and nothing else: the server holds it to its replica, and to what is said by
/// its entry in the register. Both are done here as `HubStore` does them.
struct HostileDevice {
    /// What the entry in the register says.
    enum Entry: String, CaseIterable {
        case full
        case tables
        case rows
        case tablesAndRows = "tables and rows"
        case readOnly = "read-only"
    }

    let entry: Entry
    /// What it may exchange; nil for everything.
    let bounds: AccessBounds?
    let scope: SyncScope
    /// The tables among what it may exchange; nil for all.
    let tables: Set<String>?
    let number: Int64 = 1
    let replica: ReplicaID
    /// The number of its last change.
    var sequence: Int64 = 0
    /// What it showed in its last greeting that calls for a new identity of the server.
    private var shown: [Fork] = []

    /// Is admitted.
    init(_ hub: HonestStore, rowScope: SimulatedApp.RowScope?, _ random: inout SimulationRandom) throws {
        entry = random.element(of: Entry.allCases + [.full]) ?? .full
        replica = ReplicaID(high: random.next(), low: random.next())
        let drawn = try hub.trackedTables().filter { _ in random.oneIn(2) }
        let chosen = drawn.isEmpty ? [HonestStore.beacon] : drawn
        let values: [ScopeValue] = ["a", "b"]
        let restricted = random.oneIn(2) ? nil : rowScope
        let table = restricted?.table ?? HonestStore.beacon
        let column = restricted?.column ?? "place"
        switch entry {
        case .full: scope = .everything
        case .readOnly: scope = random.oneIn(2) ? .everything : .tables(chosen)
        case .tables: scope = .tables(chosen)
        case .rows: scope = .rows(of: table, where: column, in: values)
        case .tablesAndRows:
            scope = SyncScope.tables(Array(Set(chosen + [table])).sorted())
                .rows(of: table, where: column, in: values)
        }
        tables = scope.tableNames.map { Set($0) }
        bounds = try hub.synchronizer.bounds(of: scope)
    }

    /// Sends a bundle.
    func upload(_ bundle: ForgedBundle, to hub: HonestStore) throws {
        let frames = try bundle.frames()
        guard entry != .readOnly else { throw HostileRefusal.readOnly }
        let header = try frames[0].withUnsafeBytes { try BundleParts.header(of: $0) }
        if let bounds { try hub.synchronizer.check(header, within: bounds) }
        if !header.facts.isRepair, try hub.synchronizer.knowsContent(of: header) { return }
        let terms = UploadTerms(device: number, bounds: bounds)
        func handOut(_ sink: (UnsafeRawBufferPointer) throws -> Void) throws {
            for frame in frames { try frame.withUnsafeBytes { try sink($0) } }
        }
        _ = try hub.synchronizer.applyUpload(on: { _ in terms }, handOut)
    }

    /// Greets.
    mutating func greet(_ greeting: Greeting, _ hub: HonestStore) throws {
        let frame = greeting.encode()
        let greeting = try frame.withUnsafeBytes { try Greeting(frame: $0) }
        guard try greeting.store == hub.synchronizer.identity().store else { throw HostileRefusal.otherStore }
        if entry != .readOnly, bounds == nil {
            shown = try hub.synchronizer.forks(in: greeting).forks
            _ = try hub.synchronizer.meet(greeting, ofDevice: number)
            return
        }
        var facts = ReplicaFacts()
        facts.chains = greeting.facts.chains
        facts.place = greeting.facts.place
        facts.acknowledged = greeting.facts.acknowledged.filter { $0.key == greeting.replica }
        _ = try hub.synchronizer.meet(
            Greeting(
                store: greeting.store, replica: greeting.replica, vector: greeting.vector,
                ownSequence: greeting.ownSequence, facts: facts), ofDevice: number)
    }

    /// Has the server take a new identity, if its last greeting called for that.
    mutating func renewHub(_ hub: HonestStore) throws {
        guard !shown.isEmpty, entry != .readOnly, bounds == nil else { throw HostileRefusal.notShown }
        try hub.synchronizer.renewIdentity(shown, shownByDevice: number)
        shown = []
    }

    /// Says what it knows.
    func acknowledge(_ vector: VersionVector, _ hub: HonestStore) throws {
        try hub.synchronizer.remember(replica, knowing: vector, ofDevice: number)
    }

    /// Asks for changes, and for what there is.
    func ask(_ request: TransferRequest, _ hub: HonestStore) throws {
        let bounds = bounds
        let greeting = try hub.synchronizer.localPeer.greet()
        let access = try bounds.map { try hub.synchronizer.access(within: $0) }
        _ = (access?.restricted(greeting) ?? greeting).encode()
        _ = try hub.synchronizer.state(.kept, within: { _ in bounds })?.encode()
        _ = try hub.synchronizer.sendChanges(request, within: { _ in bounds }, to: { _ in })
    }

    /// Asks for the rows of a table, and for all of what it was told of.
    func compare(_ question: StateQuestion, _ hub: HonestStore) throws {
        let bounds = bounds
        let answer = try hub.synchronizer.answer(question, within: { _ in bounds })
        try requireOwn(answer.rows.keys.sorted(), hub)
        let rows = [StateRows(table: question.table, keys: answer.rows.keys.sorted())]
        nonisolated(unsafe) var frames: [[UInt8]] = []
        func take(_ frame: UnsafeRawBufferPointer) { frames.append(Array(frame)) }
        _ = try hub.synchronizer.send(rows: rows, within: { _ in bounds }, to: take)
        guard let first = frames.first else { return }
        let header = try first.withUnsafeBytes { try BundleParts.header(of: $0) }
        for table in header.tables where !table.name.hasPrefix("_sync_") {
            let number = try hub.queue.read {
                try Int64.fetchOne(
                    $0, sql: "SELECT tbl FROM _sync_table WHERE name = ?", arguments: [table.name])
            }
            guard let number, mayCompare(number) else { throw Self.shown(table.name) }
        }
    }

    /// Whether it may have all rows of a table.
    private func mayCompare(_ table: Int64) -> Bool {
        guard let bounds else { return true }
        return bounds.tables?.contains(table) != false && !bounds.rows.contains { $0.table == table }
    }

    /// Throws unless rows are of tables of which it may have all rows.
    private func requireOwn(_ keys: [StateRowKey], _ hub: HonestStore) throws {
        guard bounds != nil else { return }
        for key in keys {
            let value =
                key.isText
                ? String(decoding: key.bytes, as: UTF8.self).databaseValue : Data(key.bytes).databaseValue
            let tables = try hub.queue.read {
                try Int64.fetchAll($0, sql: "SELECT tbl FROM _sync_row WHERE pk = ?", arguments: [value])
            }
            guard tables.contains(where: mayCompare) else { throw Self.shown("\(key)") }
        }
    }

    private static func shown(_ what: String) -> SimulationViolation {
        SimulationViolation(.shownRows, "a device with bounds was shown \(what), which is not its own")
    }
}

/// What a server refuses before it asks its store.
enum HostileRefusal: Error {
    case readOnly
    case otherStore
    case notShown
}
