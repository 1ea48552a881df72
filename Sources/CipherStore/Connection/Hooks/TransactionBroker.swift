/// One observer of a connection.
final class TransactionObservation {
    let extent: Database.TransactionObservationExtent

    /// Whether no more changes are told in this transaction.
    var isStopped = false

    private weak var weakObserver: (any TransactionObserver)?
    private var strongObserver: (any TransactionObserver)?

    init(_ observer: any TransactionObserver, extent: Database.TransactionObservationExtent) {
        self.extent = extent
        weakObserver = observer
        if extent != .observerLifetime { strongObserver = observer }
    }

    /// The observer, unless it is gone or was removed.
    var observer: (any TransactionObserver)? { strongObserver ?? weakObserver }

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

    init(
        _ kind: DatabaseEvent.Kind, _ databaseName: String, _ tableName: String,
        _ observations: [TransactionObservation]
    ) {
        self.kind = kind
        self.databaseName = databaseName
        self.tableName = tableName
        self.observations = observations
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

/// Brings the changes and transactions of a connection to its observers.
///
/// Hooks of SQLite call it in the middle of a statement. It touches no
/// connection: ``Database`` reads from it what follows.
final class TransactionBroker {
    var observations: [TransactionObservation] = []

    /// Whether there are observers, so that the hooks are installed.
    var isActive = false

    /// Whether observers were told something about the open transaction.
    private(set) var hasNews = false

    private var savepoints = SavepointStack()

    /// Counts the changes of the set of observers.
    private var generation = 0

    /// Where inserted and deleted rows go.
    private var routes: [EventRoute] = []

    /// The route of the last change, which is mostly that of the next one.
    private var lastRoute: EventRoute?

    /// The statement that is running.
    private var current: StatementRoutes?

    /// The observation that is being told about a change.
    private var notified: TransactionObservation?

    // MARK: Observers

    /// Removes an observer, also from the calls that are still to be made.
    func remove(_ observer: any TransactionObserver) {
        for observation in observations where observation.observer === observer { observation.end() }
    }

    /// Forgets observers that are gone, and where changes went before.
    func update() {
        observations.removeAll { $0.observer == nil }
        if observations.isEmpty { resetTransaction() }
        generation += 1
        routes.removeAll()
        lastRoute = nil
    }

    /// Whether an observer is gone.
    var hasEndedObservation: Bool { observations.contains { $0.observer == nil } }

    /// The observers of changes of a kind.
    func observations(of kind: DatabaseEventKind) -> [TransactionObservation] {
        observations.filter { $0.observer?.observes(eventsOfKind: kind) ?? false }
    }

    /// Stops the observer that is being told about a change.
    ///
    /// - returns: Whether it is.
    func stopNotified(_ observer: any TransactionObserver) -> Bool {
        guard let notified, notified.observer === observer else { return false }
        notified.isStopped = true
        return true
    }

    // MARK: Statements

    /// A statement starts to run.
    func begin(_ routes: StatementRoutes) {
        current = routes
        lastRoute = nil
    }

    /// A statement has come to its end.
    func end(_ routes: StatementRoutes?) {
        current = nil
        lastRoute = nil
        guard let operation = routes?.effects.savepoint else { return }
        deliver(savepoints.apply(operation))
    }

    /// A statement has failed.
    func fail() {
        current = nil
        lastRoute = nil
    }

    // MARK: Changes

    /// A row was changed.
    ///
    /// - parameter recompiled: What the statement does now, if SQLite has
    ///   prepared it again since it started.
    func receive(
        _ kind: DatabaseEvent.Kind, _ databaseName: UnsafePointer<CChar>,
        _ tableName: UnsafePointer<CChar>, _ rowID: Int64, recompiled: StatementEffects?
    ) {
        if let recompiled { merge(recompiled) }
        let route = route(kind, databaseName, tableName)
        guard !route.observations.isEmpty else { return }
        if savepoints.isEmpty {
            deliver(route, rowID)
        } else {
            savepoints.append(route, rowID)
        }
    }

    private func merge(_ effects: StatementEffects) {
        guard !effects.isEmpty else { return }
        let current = current ?? StatementRoutes(StatementEffects())
        current.effects.formUnion(effects)
        current.routes = []
        self.current = current
        lastRoute = nil
    }

    private func route(
        _ kind: DatabaseEvent.Kind, _ databaseName: UnsafePointer<CChar>, _ tableName: UnsafePointer<CChar>
    ) -> EventRoute {
        func fits(_ route: EventRoute) -> Bool {
            route.kind == kind && route.tableName.isSame(tableName)
                && route.databaseName.isSame(databaseName)
        }
        if let lastRoute, fits(lastRoute) { return lastRoute }
        if let current, current.generation != generation {
            current.generation = generation
            current.routes = []
        }
        let known = kind == .update ? current?.routes ?? [] : routes
        let route = known.first(where: fits) ?? makeRoute(kind, databaseName, tableName)
        lastRoute = route
        return route
    }

    private func makeRoute(
        _ kind: DatabaseEvent.Kind, _ databaseName: UnsafePointer<CChar>, _ tableName: UnsafePointer<CChar>
    ) -> EventRoute {
        let table = String(cString: tableName)
        let eventKind: DatabaseEventKind =
            switch kind {
            case .insert: .insert(tableName: table)
            case .delete: .delete(tableName: table)
            // Nothing is known of a statement that was run through the C API.
            case .update: .update(tableName: table, columnNames: current?.effects.updates[table] ?? [])
            }
        let route = EventRoute(kind, String(cString: databaseName), table, observations(of: eventKind))
        if kind == .update { current?.routes.append(route) } else { routes.append(route) }
        return route
    }

    private func deliver(_ events: [SavepointStack.Event]) {
        for event in events { deliver(event.route, event.rowID) }
    }

    private func deliver(_ route: EventRoute, _ rowID: Int64) {
        hasNews = true
        for observation in route.observations where !observation.isStopped {
            guard let observer = observation.observer else { continue }
            notified = observation
            observer.databaseDidChange(with: route.event(rowID))
        }
        notified = nil
    }

    /// Tells observers about changes of some kinds that have no events.
    func deliverUnspecifiedChange(ofKinds kinds: [DatabaseEventKind]) {
        for observation in observations where !observation.isStopped {
            guard let observer = observation.observer, kinds.contains(where: observer.observes) else {
                continue
            }
            hasNews = true
            notified = observation
            observer.databaseDidChange()
        }
        notified = nil
    }

    // MARK: Transactions

    /// The transaction is about to be committed.
    ///
    /// - throws: What the first observer throws that refuses.
    func willCommit() throws {
        hasNews = true
        deliver(savepoints.removeAll())
        for observation in observations { try observation.observer?.databaseWillCommit() }
    }

    /// Forgets the transaction, which has ended.
    func resetTransaction() {
        hasNews = false
        _ = savepoints.removeAll()
        for observation in observations { observation.isStopped = false }
    }

    /// Forgets the observers of this transaction only.
    ///
    /// - returns: All observers that are to be told that it has ended.
    func endObservationsOfTransaction() -> [TransactionObservation] {
        let told = observations
        observations.removeAll { $0.extent == .nextTransaction }
        return told
    }
}

extension String {
    /// Whether a C string has the same bytes.
    fileprivate func isSame(_ other: UnsafePointer<CChar>) -> Bool {
        var index = 0
        for byte in utf8 {
            guard UInt8(bitPattern: other[index]) == byte else { return false }
            index += 1
        }
        return other[index] == 0
    }
}
