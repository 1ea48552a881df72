import Synchronization

/// One observer of a connection.
final class TransactionObservation {
    let extent: Database.TransactionObservationExtent

    /// Whether no more changes are told in this transaction.
    var isStopped = false

    /// Whether it was told something in this transaction.
    var isTouched = false

    /// Whether it has nothing to do with a transaction that has not touched it, so that a thousand of them cost
    /// the commits nothing that concern none.
    let isQuiet: Bool

    /// When it was added, among others.
    var number = 0

    private weak var weakObserver: (any TransactionObserver)?
    private var strongObserver: (any TransactionObserver)?

    init(_ observer: any TransactionObserver, extent: Database.TransactionObservationExtent) {
        self.extent = extent
        isQuiet = extent == .observerLifetime && observer is RegionObserver
        weakObserver = observer
        if extent != .observerLifetime { strongObserver = observer }
    }

    /// The observer, unless it is gone or was removed.
    var observer: (any TransactionObserver)? { strongObserver ?? weakObserver }

    /// Notes that a transaction was committed, before any observer is told.
    func noteCommit() {
        (observer as? RegionObserver)?.noteCommit()
    }

    /// Ends the observation.
    func end() {
        weakObserver = nil
        strongObserver = nil
    }
}

/// Where the changes of one kind go, in one table.
///
/// SQLite gives names as C strings for each change; they are compared with those
/// of the route, so that no string is made for a change.
final class EventRoute {
    let kind: DatabaseEvent.Kind
    let databaseName: String
    let tableName: String
    let observations: [TransactionObservation]

    /// Those of them that have rows which the changes may take from their rowids.
    private let moved: [TransactionObservation]

    init(
        _ kind: DatabaseEvent.Kind, _ databaseName: String, _ tableName: String,
        _ observations: [TransactionObservation], moved: [TransactionObservation]
    ) {
        self.kind = kind
        self.databaseName = databaseName
        self.tableName = tableName
        self.observations = observations
        self.moved = moved
    }

    /// Whether the changes concern an observation whatever the rowid after them is.
    func moves(_ observation: TransactionObservation) -> Bool {
        !moved.isEmpty && moved.contains { $0 === observation }
    }

    func event(_ rowID: Int64) -> DatabaseEvent {
        DatabaseEvent(kind: kind, rowID: rowID, databaseName: databaseName, tableName: tableName)
    }
}

/// What the authorizer has told about a statement.
struct StatementEffects {
    /// The columns that it updates, by table.
    var updates: [String: Set<String>] = [:]

    /// What it does to savepoints.
    var savepoint: SavepointOperation?

    var isEmpty: Bool { updates.isEmpty && savepoint == nil }

    mutating func formUnion(_ other: StatementEffects) {
        updates.merge(other.updates) { $0.union($1) }
        savepoint = other.savepoint ?? savepoint
    }
}

/// The effects of a statement, and where its updates go.
final class StatementRoutes {
    var effects: StatementEffects
    var routes: [EventRoute] = []

    /// The set of observers that the routes are for.
    var generation = 0

    init(_ effects: StatementEffects) { self.effects = effects }
}

/// How many observers are gone that the broker does not look at when a transaction ends.
final class GoneCounter: Sendable {
    let value = Atomic<Int>(0)
}
