import CipherStore
import SyncWire

/// Tracks the tables of a store and synchronizes it with others.
///
/// ```swift
/// let synchronizer = try Synchronizer(dbQueue, tables: ["note", "tag"])
/// let report = try await synchronizer.sync(with: StoreTransport(path: "stick/notes.db", configuration: other))
/// print(report.pulled?.rowCount ?? 0, "rows came")
/// ```
///
/// Triggers in the file do the tracking, so the writes of all programs count.
public final class Synchronizer: Sendable {
    let database: any DatabaseWriter
    let environment: SyncEnvironment
    let mergePolicies: MergePolicies

    /// Prepares a database for synchronization. The first time, it becomes a
    /// new store with a replica id of its own.
    ///
    /// - parameters:
    ///     - database: An encrypted database.
    ///     - tables: Tables to track, which have one UUID column as their key.
    ///     - policies: What becomes of concurrent values of columns; the later write
    ///       stands in all others. See ``setPolicies(_:)``.
    ///     - environment: Where time and randomness come from.
    /// - throws: ``SyncError``, for a table that can't be tracked; `DatabaseError`.
    public init(
        _ database: any DatabaseWriter, tables: [String] = [], policies: [ColumnPolicy] = [],
        environment: SyncEnvironment = .system
    ) throws {
        self.database = database
        self.environment = environment
        mergePolicies = MergePolicies()
        try database.write { db in
            if try StoreMetadata.load(db) == nil {
                try MetadataSchema.create(
                    db, store: environment.identifier(), replica: environment.identifier())
            }
            db.use(schemaTracker: TrackedSchema(environment: environment))
            try db.withoutReportingSchemaChanges {
                let tracking = TableTracking(db: db, environment: environment)
                try MetadataSchema.upgrade(db)
                try StoreFence(db: db, environment: environment).check()
                try tracking.refresh()
                try tracking.track(tables)
            }
            try setPolicies(policies, in: db)
        }
    }

    /// Opens a store that was prepared before.
    ///
    /// - throws: ``SyncError`` of code `notSynchronized` when it is not.
    public init(existing database: any DatabaseWriter, environment: SyncEnvironment = .system) throws {
        self.database = database
        self.environment = environment
        mergePolicies = MergePolicies()
        // A read, so that a store can be looked at while another process writes to it.
        _ = try database.read { try StoreMetadata.require($0) }
    }

    /// The same store, for a synchronization that can be cancelled.
    init(_ other: Synchronizer, _ cancellation: SyncCancellation) {
        database = other.database
        environment = other.environment.with(cancellation: cancellation)
        mergePolicies = other.mergePolicies
    }

    /// Tracks tables. Their existing rows count as inserted now.
    ///
    /// - parameter tables: Tables, by name.
    /// - parameter policies: What becomes of concurrent values, see ``setPolicies(_:)``.
    /// - throws: ``SyncError`` for a table that can't be tracked, or a policy that a column
    ///   can't have; no table is tracked then.
    public func track(_ tables: [String], policies: [ColumnPolicy] = []) throws {
        try database.write { db in
            try TableTracking(db: db, environment: environment).track(tables)
            try setPolicies(policies, in: db)
        }
    }

    /// Tracks tables in the transaction that is open, so that a table can be
    /// made, filled and tracked as one step. Outside of one, it has its own.
    ///
    /// - throws: As `track(_:)`.
    public func track(_ tables: [String], in db: Database) throws {
        let tracking = TableTracking(db: db, environment: environment)
        guard !db.isInsideTransaction else { return try tracking.track(tables) }
        try db.inTransaction(.immediate) {
            try tracking.track(tables)
            return .commit
        }
    }

    /// This store, as one side of a synchronization.
    var peer: StorePeer { StorePeer(database, environment, closes: false, policies: mergePolicies) }

    /// Synchronizes, and blocks this thread until it is done.
    ///
    /// Cancelling the task stops ``sync(with:)``, but not this method. An error thrown by `progress` stops
    /// it.
    ///
    /// - parameter direction: Whether changes come, go, or both.
    /// - parameter transport: The way to the remote.
    /// - parameter progress: Called with the direction, the rows that were sent
    ///   and their number. An error that it throws cancels.
    /// - throws: As ``sync(with:)``, or the error of `progress`.
    public func run(
        _ direction: SyncDirection, _ transport: any Transport,
        progress: ((SyncProgress) throws -> Void)? = nil
    ) throws -> SyncReport {
        try SyncObservation(synchronizer: self, direction: direction, remote: transport.name).run {
            let remote = try transport.connect(environment)
            defer { remote.close() }
            let direction = try (remote as? any AdaptingPeer)?.adapt(self, direction) ?? direction
            let tables = try database.read { try ScopeStore(db: $0).tableNames(of: transport.name) }
            return try SessionDriver(
                local: peer, remote: remote, remoteName: transport.name, tables: tables, progress: progress,
                cancellation: environment.cancellation
            ).run(direction)
        }
    }
}
