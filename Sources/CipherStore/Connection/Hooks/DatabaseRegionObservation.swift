import Synchronization

/// An observation of the transactions that change a region.
///
/// ```swift
/// let observation = DatabaseRegionObservation(tracking: Player.all(), Team.all())
/// let cancellable = observation.start(in: dbQueue) { error in
///     print("can't observe: \(error)")
/// } onChange: { db in
///     print("players or teams have changed")
/// }
/// ```
///
/// What ``TransactionObserver`` says about changes that are not seen holds here as well.
public struct DatabaseRegionObservation: Sendable {
    private let region: @Sendable (Database) throws -> DatabaseRegion

    /// Makes an observation of some regions.
    public init(tracking regions: any DatabaseRegionConvertible & Sendable...) {
        self.init(tracking: regions)
    }

    /// Makes an observation of some regions.
    public init(tracking regions: [any DatabaseRegionConvertible & Sendable]) {
        region = { db in
            try regions.reduce(DatabaseRegion()) { try $0.union($1.databaseRegion(db)) }
        }
    }

    /// Makes an observation of one region.
    public init(tracking region: DatabaseRegion) {
        self.region = { _ in region }
    }

    /// Starts the observation.
    ///
    /// It waits for the write that is running, unless it is called from that
    /// write, and sees all changes from then on.
    ///
    /// - parameters:
    ///     - writer: The database.
    ///     - onError: Called before the method returns, if the region can't be told.
    ///     - onChange: Called on the writing connection after each transaction
    ///       that changed the region. The closure can use the connection.
    /// - returns: An object that ends the observation when it is cancelled or released.
    public func start(
        in writer: any DatabaseWriter,
        onError: @escaping @Sendable (any Error) -> Void,
        onChange: @escaping @Sendable (Database) -> Void
    ) -> AnyDatabaseCancellable {
        do {
            let observer = try writer.unsafeReentrantWrite { db in
                let observer = RegionObserver(try db.observable(region(db)), onChange)
                db.add(transactionObserver: observer)
                return observer
            }
            return AnyDatabaseCancellable { observer.cancel() }
        } catch {
            onError(error)
            return AnyDatabaseCancellable {}
        }
    }
}

/// Watches a region, as long as somebody retains it and it is not cancelled.
///
/// It is `@unchecked Sendable` because `isChanged` and `isDue` are touched by the writing
/// connection only; other threads can do no more than cancel.
final class RegionObserver: TransactionObserver, @unchecked Sendable {
    private let region: DatabaseRegion

    /// Whether the open transaction has changed the region.
    private var isChanged = false

    /// Whether a transaction has changed it that is committed, which nobody was told yet.
    private var isDue = false

    /// What is called after a change. A lock that held the function itself would wrap it anew at each call.
    private struct OnChange: Sendable { let call: @Sendable (Database) -> Void }

    private let onChange: Mutex<OnChange?>

    /// Who wants to know that this is gone. It is set before the connection knows the observer.
    var goneCount: GoneCounter?

    init(_ region: DatabaseRegion, _ onChange: @escaping @Sendable (Database) -> Void) {
        self.region = region
        self.onChange = Mutex(OnChange(call: onChange))
    }

    deinit { goneCount?.value.add(1, ordering: .relaxed) }

    func cancel() {
        // The last reference to the function goes outside of the lock: what it holds may cancel in turn.
        let ended = onChange.withLock { function in
            defer { function = nil }
            return function
        }
        withExtendedLifetime(ended) {}
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        region.isModified(byEventsOfKind: eventKind)
    }

    /// The folded names of the tables that the region holds something of; nil for the full database.
    var tables: Dictionary<String, DatabaseRegion.TableRegion>.Keys? { region.tables?.keys }

    /// Whether a change of a kind that is observed modifies the region.
    func isConcerned(by event: DatabaseEvent) -> Bool { region.isModified(by: event) }

    /// Notes that the open transaction has changed the region. It need be told of no more changes in it.
    func noteChange() { isChanged = true }

    /// Whether changes of a kind are to be told without their rows.
    func isMoved(byEventsOfKind eventKind: DatabaseEventKind) -> Bool {
        region.isMoved(byEventsOfKind: eventKind)
    }

    func databaseDidChange() {
        noteChange()
        stopObservingDatabaseChangesUntilNextTransaction()
    }

    func databaseDidChange(with event: DatabaseEvent) {
        guard isConcerned(by: event) else { return }
        noteChange()
        stopObservingDatabaseChangesUntilNextTransaction()
    }

    /// Notes that the transaction was committed, before any observer is told: one that is told first may
    /// begin another transaction, whose end says nothing of this one.
    func noteCommit() {
        guard isChanged else { return }
        isChanged = false
        isDue = true
    }

    func databaseDidCommit(_ db: Database) {
        guard isDue else { return }
        isDue = false
        // Called without the lock: the function may cancel.
        let onChange = onChange.withLock { $0 }
        onChange?.call(db)
    }

    func databaseDidRollback(_ db: Database) { isChanged = false }
}

extension Database {
    /// The region by whose changes another one changes.
    ///
    /// A view never changes: its tables do. Neither does a virtual table: the
    /// tables do in which its module keeps what is in it, and whose names begin with its own.
    func observable(_ region: DatabaseRegion) throws -> DatabaseRegion {
        guard let tables = region.tables?.keys else { return region }
        var observable = region
        for name in tables {
            guard let table = try find(.table, name) else {
                if try find(.view, name) != nil { observable = observable.removing(table: name) }
                continue
            }
            let objects = try objects(of: table.schemaID)
            guard objects.virtualTables.contains(name) else { continue }
            for other in objects.tables where other.foldedIdentifier.hasPrefix(name + "_") {
                observable.formUnion(DatabaseRegion(table: other))
            }
        }
        return observable
    }
}
