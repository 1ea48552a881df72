/// Brings the changes and transactions of a connection to its observers.
///
/// Hooks of SQLite call it in the middle of a statement. It touches no
/// connection: ``Database`` reads from it what follows.
final class TransactionBroker {
    private(set) var observations: [TransactionObservation] = []

    /// Those that are told of each transaction.
    private var loud: [TransactionObservation] = []

    /// Those of the others that this transaction has touched.
    private var touched: [TransactionObservation] = []

    /// How many observers of the others are gone.
    private let goneCount = GoneCounter()

    /// Whether there are observers, so that the hooks are installed.
    var isActive = false

    /// Whether observers were told something about the open transaction.
    private(set) var hasNews = false

    private var savepoints = SavepointStack()

    /// Counts the changes of the set of observers.
    private var generation = 0

    /// Who is to be asked about which table, once somebody had to be since the set of observers has changed.
    private var index: ObserverIndex?

    /// Where inserted and deleted rows go.
    private var routes = EventRoutes()

    // Read at each change. No access outlasts a load or store.
    /// The route of the last inserted or deleted row, which is mostly that of the next one.
    @exclusivity(unchecked) private var lastRoute: EventRoute?

    /// The route of the last updated row of the statement that is running.
    @exclusivity(unchecked) private var lastUpdate: EventRoute?

    /// The statement that is running, if observers may have to know what it updates.
    @exclusivity(unchecked) private var current: StatementRoutes?

    /// The observation that is being told about a change.
    private var notified: TransactionObservation?

    // MARK: Observers

    /// Adds an observation.
    func add(_ observation: TransactionObservation) {
        observation.number = (observations.last?.number ?? 0) + 1
        if observation.isQuiet { observation.regionObserver?.goneCount = goneCount }
        observations.append(observation)
    }

    /// Goes on for another broker.
    func takeOver(from other: TransactionBroker) {
        for observation in other.observations { add(observation) }
    }

    /// Removes an observer, also from the calls that are still to be made.
    func remove(_ observer: any TransactionObserver) {
        for observation in observations where observation.observer === observer { observation.end() }
    }

    /// Forgets observers that are gone, and where changes went before.
    func update() {
        goneCount.value.store(0, ordering: .relaxed)
        observations.removeAll { $0.observer == nil }
        loud = observations.filter { !$0.isQuiet }
        if observations.isEmpty { resetTransaction() }
        generation += 1
        index = nil
        routes.removeAll()
        lastRoute = nil
        lastUpdate = nil
    }

    /// Whether an observer is gone.
    var hasEndedObservation: Bool {
        goneCount.value.load(ordering: .relaxed) > 0 || loud.contains { $0.observer == nil }
    }

    /// The observers of changes of a kind.
    func observations(of kind: DatabaseEventKind) -> [TransactionObservation] {
        let index = index ?? ObserverIndex(observations)
        self.index = index
        return index.observations(of: kind)
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
        lastUpdate = nil
    }

    /// A statement has come to its end.
    func end(_ routes: StatementRoutes?) {
        current = nil
        lastUpdate = nil
        guard let operation = routes?.effects.savepoint else { return }
        deliver(savepoints.apply(operation))
    }

    /// A statement has failed.
    func fail() {
        current = nil
        lastUpdate = nil
    }

    /// Runs a block in the middle of a statement, which may run others, and goes on with that statement.
    func keepingStatement<T>(_ body: () throws -> T) rethrows -> T {
        let outer = (current, lastUpdate, generation)
        defer {
            current = outer.0
            // The set of observers may be another one by now.
            lastUpdate = outer.2 == generation ? outer.1 : nil
        }
        return try body()
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
        let route =
            kind == .update
            ? updateRoute(databaseName, tableName) : route(kind, databaseName, tableName)
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
        lastUpdate = nil
    }

    /// Where inserted or deleted rows go.
    private func route(
        _ kind: DatabaseEvent.Kind, _ databaseName: UnsafePointer<CChar>, _ tableName: UnsafePointer<CChar>
    ) -> EventRoute {
        if let lastRoute, lastRoute.fits(kind, databaseName, tableName) { return lastRoute }
        let known = routes.route(kind, databaseName, tableName)
        let route = known ?? makeRoute(kind, databaseName, tableName)
        if known == nil { routes.append(route) }
        lastRoute = route
        return route
    }

    /// Where the rows go that the statement updates.
    private func updateRoute(
        _ databaseName: UnsafePointer<CChar>, _ tableName: UnsafePointer<CChar>
    ) -> EventRoute {
        if let lastUpdate, lastUpdate.fits(.update, databaseName, tableName) { return lastUpdate }
        if let current, current.generation != generation {
            current.generation = generation
            current.routes = []
        }
        let known = current?.routes.first { $0.fits(.update, databaseName, tableName) }
        let route = known ?? makeRoute(.update, databaseName, tableName)
        if known == nil { current?.routes.append(route) }
        lastUpdate = route
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
        let observations = observations(of: eventKind)
        var moved: [TransactionObservation] = []
        if kind == .update {
            moved = observations.filter { $0.regionObserver?.isMoved(byEventsOfKind: eventKind) ?? false }
        }
        return EventRoute(kind, String(cString: databaseName), table, observations, moved: moved)
    }

    private func deliver(_ events: [SavepointStack.Event]) {
        for event in events { deliver(event.route, event.rowID) }
    }

    private func deliver(_ route: EventRoute, _ rowID: Int64) {
        hasNews = true
        let event = route.event(rowID)
        for observation in route.observations where !observation.isStopped {
            if let observer = observation.regionObserver {
                guard route.moves(observation) || observer.isConcerned(by: event) else { continue }
                touch(observation)
                observer.noteChange()
                observation.isStopped = true
            } else if let observer = observation.observer {
                touch(observation)
                notified = observation
                observer.databaseDidChange(with: event)
            }
        }
        notified = nil
    }

    /// An observation is told something.
    private func touch(_ observation: TransactionObservation) {
        guard !observation.isTouched else { return }
        observation.isTouched = true
        touched.append(observation)
    }

    /// Tells observers about changes of some kinds that have no events.
    func deliverUnspecifiedChange(ofKinds kinds: [DatabaseEventKind]) {
        for observation in observations where !observation.isStopped {
            guard let observer = observation.observer, kinds.contains(where: observer.observes) else {
                continue
            }
            hasNews = true
            touch(observation)
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
        if !savepoints.isEmpty { deliver(savepoints.removeAll()) }
        for observation in loud { try observation.observer?.databaseWillCommit() }
    }

    /// Forgets the transaction, which has ended.
    func resetTransaction() {
        hasNews = false
        if !savepoints.isEmpty { _ = savepoints.removeAll() }
        guard !touched.isEmpty else { return }
        for observation in touched {
            observation.isStopped = false
            observation.isTouched = false
        }
        touched.removeAll()
    }

    /// Forgets the observers of this transaction only, and the transaction, which has ended.
    ///
    /// - returns: All observers that are to be told, in the order in which they were added.
    func endObservationsOfTransaction() -> [TransactionObservation] {
        let quiet = touched.isEmpty ? [] : touched.filter { $0.isQuiet && $0.isTouched }
        let told = quiet.isEmpty ? loud : (loud + quiet).sorted { $0.number < $1.number }
        resetTransaction()
        if loud.contains(where: { $0.extent == .nextTransaction }) {
            observations.removeAll { $0.extent == .nextTransaction }
            loud.removeAll { $0.extent == .nextTransaction }
        }
        return told
    }
}
