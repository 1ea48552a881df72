import CipherStore
import SyncEngine
import SyncWire

/// What the replicas of a run share: files, time, and the changes that the model knows.
final class SimulatedWorld {
    let app: SimulatedApp
    let factory: StoreFactory
    let clock: SimulatedClock
    /// Every change that anybody made, in the order in which they were folded.
    private(set) var changes: [MergedState.Change] = []
    /// Changes that a file had that is gone: only those of them are lost that nobody else got.
    var abandoned = ChangeSet()
    /// Changes that became others, of another identity: these stand for their values.
    var renamed = ChangeSet()
    /// Changes that a replica with another identity no longer tells of, because their row's deletion was forgotten
    /// there: they happened, even when nobody knows them any more.
    var withdrawn = ChangeSet()
    /// The journals of files that are gone.
    var abandonedJournal: Set<StoreObservation.Lost> = []
    /// Whether files may be copied or restored, so that two can have one identity.
    let allowsCopies: Bool
    /// Whether some tables only are exchanged by some.
    let hasScopes: Bool
    /// How many increments of counters there were.
    private var incrementCount = 0
    /// How many files came and went.
    var passingCount = 0
    /// Whether a replica that holds all rows of a table, and is not a given one, knows some changes of it.
    var isKnownElsewhere: (SimulatedReplica, String, Set<Stamp>) -> Bool = { _, _, _ in false }
    /// Takes down what happens.
    var note: (String) -> Void = { _ in }
    /// The bundles that were sent, to be delivered late.
    var bundles: [SimulatedBundle] = []

    private var oracles: [[String]: SchemaOracle] = [:]

    init(seed: UInt64, app: SimulatedApp, factory: StoreFactory, allowsCopies: Bool, hasScopes: Bool) {
        self.allowsCopies = allowsCopies
        self.hasScopes = hasScopes
        self.app = app
        self.factory = factory
        clock = SimulatedClock(seed: seed)
    }

    func clock(of replica: Int) -> SyncEnvironment { clock.environment(of: replica) }

    /// The rows as somebody knows them who knows some changes.
    func state(of known: ChangeSet) -> MergedState { MergedState(known.numbers.map { changes[$0] }) }

    /// What of some changes is in some tables; nil for all.
    func restrict(_ known: ChangeSet, to tables: Set<String>?) -> ChangeSet {
        guard let tables else { return known }
        var restricted = ChangeSet()
        for number in known.numbers where tables.contains(changes[number].key.table) {
            restricted.insert(number)
        }
        return restricted
    }

    /// What a bundle claims of tables that it does not bring: changes that others replaced, by
    /// writes that the receiver knows. Were there more, its rows would differ from the model's.
    ///
    /// - parameter partialTable: The table of which the receiver holds some rows only.
    func claimed(_ transfer: SimulatedTransfer, partialTable: String?) -> ChangeSet {
        var claimed = ChangeSet()
        guard let tables = transfer.tables else { return claimed }
        for number in transfer.known.numbers
        where !tables.contains(changes[number].key.table) && transfer.target.contains(changes[number].stamp)
            && changes[number].key.table != partialTable
        {
            claimed.insert(number)
        }
        return claimed
    }

    /// The greatest timestamp of some changes.
    func newestTimestamp(of known: ChangeSet) -> Int64 {
        known.numbers.map { changes[$0].stamp.timestamp.rawValue }.max() ?? 0
    }

    /// Notes changes.
    ///
    /// - returns: Their numbers.
    func add(_ new: [MergedState.Change]) -> Range<Int> {
        changes += new
        return (changes.count - new.count)..<changes.count
    }

    /// What the writer of a change knew.
    func writersKnown(_ key: ModelKey, _ stamp: Stamp) -> ChangeSet {
        changes.last { $0.key == key && $0.stamp == stamp }?.known ?? ChangeSet()
    }

    /// Something that is added to a counter.
    func increment(_ value: Int64) -> MergedState.Change.Increment {
        incrementCount += 1
        return .init(number: incrementCount, value: value)
    }

    func oracle(schema: [String], tables: [SchemaOracle.Table]) throws -> SchemaOracle {
        let identity = schema + tables.map(\.name)
        if let oracle = oracles[identity] { return oracle }
        let oracle = try SchemaOracle(schema: schema, tables: tables)
        oracles[identity] = oracle
        return oracle
    }
}

/// A bundle that is under way.
struct SimulatedBundle {
    let frames: [[UInt8]]
    let transfer: SimulatedTransfer
}

/// What a fault makes of a bundle.
enum DeliveryFault {
    /// Nothing arrives.
    case loss
    /// Only so many bytes arrive, and the connection looks as if it had ended in order.
    case truncation(Double)
    /// It is applied, and then applied again.
    case duplication
    /// One bit arrives changed.
    case corruption(Double)
}

/// What goes wrong in one synchronization.
struct SyncFaults {
    /// Where a process dies.
    enum CrashPoint: CaseIterable {
        /// Both have said what they know.
        case greeted
        /// A part of a bundle was taken.
        case receiving
        /// A bundle was applied.
        case received
        /// All is done but the notes of who knows what.
        case remembering
    }

    var pull: DeliveryFault?
    var push: DeliveryFault?
    /// The connection breaks before the second direction, or before the notes.
    var breaksBetween = false
    var breaksBeforeNotes = false
    /// Somebody writes to the remote, or here, while they are connected.
    var remoteWrite: (() throws -> Void)?
    var localWrite: (() throws -> Void)?
    var crash: (point: CrashPoint, isLocal: Bool, kept: Double)?

    var isEmpty: Bool {
        pull == nil && push == nil && !breaksBetween && !breaksBeforeNotes && remoteWrite == nil
            && localWrite == nil && crash == nil
    }
}
