import CipherStore
import Foundation
import Observation
import SyncEngine
import Synchronization

/// Keeps tables of a database equal with another replica of it, under the names of SQLiteData.
///
/// ```swift
/// let syncEngine = try SyncEngine(
///     for: database, tables: ["remindersLists", "reminders"],
///     transport: StoreTransport(path: "hub.db", configuration: hub))
/// try await syncEngine.start()
/// ```
///
/// Where SQLiteData has a container of CloudKit, this has a `Transport`: another file, a server, or one's own. The
/// work is done by ``synchronizer``, which has more to offer. Triggers in the file note what is written, by whatever
/// program, whether the engine runs or not.
///
/// Its properties that begin with `is` are observable.
public final class SyncEngine: Observable, Sendable {
    /// When a running engine synchronizes.
    ///
    /// Times count as at least 0 and at most ten years. What is no number counts as the default.
    public struct Options: Sendable {
        /// How long it waits after a write for others, in seconds.
        public var writeDelay: Double = 0.2

        /// How often it looks for changes of the other side, in seconds. With `.infinity` it synchronizes when it
        /// starts and after writes only.
        public var fetchInterval: Double = 30

        /// The longest pause after a failure, in seconds. The first one is `writeDelay`, and each is twice the
        /// one before.
        public var longestPause: Double = 300

        /// Makes the default options.
        public init() {}
    }

    private struct State {
        var loop: Task<Void, Never>?
        var sendingCount = 0
        var fetchingCount = 0
    }

    /// What does the work.
    public let synchronizer: Synchronizer

    /// The tables that are synchronized.
    public let tableNames: [String]

    let transport: any Transport
    let options: Options
    private let delegate: any SyncEngineDelegate
    private let registrar = ObservationRegistrar()
    private let state = Mutex(State())
    private let gate = SyncGate()

    /// Prepares a database, and has its tables tracked.
    ///
    /// - parameters:
    ///     - database: An encrypted database.
    ///     - tables: The names of the tables, each with one UUID column as its key.
    ///     - privateTables: More of them, which are not to be shared with other people.
    ///     - transport: How to reach the other replica.
    ///     - options: When to synchronize.
    ///     - startImmediately: Whether it runs from now on.
    ///     - delegate: Who is told what happens.
    ///     - environment: Where time and randomness come from.
    /// - throws: A `SyncError` that names the table, such as of code `unsuitableKey` for a key that is no UUID;
    ///   a `DatabaseError`.
    public init(
        for database: any DatabaseWriter, tables: [String], privateTables: [String] = [],
        transport: any Transport, options: Options = Options(), startImmediately: Bool = true,
        delegate: any SyncEngineDelegate = SilentDelegate(), environment: SyncEnvironment = .system
    ) throws {
        tableNames = tables + privateTables
        self.transport = transport
        self.options = options
        self.delegate = delegate
        synchronizer = try Synchronizer(database, tables: tableNames, environment: environment)
        guard startImmediately else { return }
        try synchronizer.bringRowsBack(ofRemote: transport.name)
        run()
    }

    deinit { state.withLock { $0.loop }?.cancel() }

    // MARK: Running

    /// Starts the engine: it synchronizes now, after writes to the tables, and now and then.
    ///
    /// Rows that ``deleteLocalData()`` took out come back.
    ///
    /// - throws: What a synchronization throws; the engine runs nonetheless, and tries again.
    public func start() async throws {
        try synchronizer.bringRowsBack(ofRemote: transport.name)
        run()
        try await syncChanges()
    }

    /// Stops the engine. What is written meanwhile is noted, and sent later.
    public func stop() {
        registrar.withMutation(of: self, keyPath: \.isRunning) {
            state.withLock { state in
                state.loop?.cancel()
                state.loop = nil
            }
        }
    }

    private func run() {
        registrar.withMutation(of: self, keyPath: \.isRunning) {
            state.withLock { state in
                guard state.loop == nil else { return }
                state.loop = SyncLoop(synchronizer, options).run { [weak self] in
                    try await self?.syncChanges()
                }
            }
        }
    }

    /// Whether the engine was started, and not stopped.
    public var isRunning: Bool {
        registrar.access(self, keyPath: \.isRunning)
        return state.withLock { $0.loop != nil }
    }

    /// Whether it is sending changes.
    public var isSendingChanges: Bool {
        registrar.access(self, keyPath: \.isSendingChanges)
        return state.withLock { $0.sendingCount > 0 }
    }

    /// Whether it is fetching changes.
    public var isFetchingChanges: Bool {
        registrar.access(self, keyPath: \.isFetchingChanges)
        return state.withLock { $0.fetchingCount > 0 }
    }

    /// Whether it is sending or fetching changes.
    public var isSynchronizing: Bool { isSendingChanges || isFetchingChanges }

    // MARK: Synchronizing

    /// Sends what was changed here.
    ///
    /// - throws: A `SyncError`, `DatabaseError`, `StoreError`; `CancellationError`.
    public func sendChanges() async throws {
        try await exchange(sends: true, fetches: false) { try await $0.push(to: $1) }
    }

    /// Fetches what was changed there.
    ///
    /// - throws: As ``sendChanges()``.
    public func fetchChanges() async throws {
        try await exchange(sends: false, fetches: true) { try await $0.pull(from: $1) }
    }

    /// Fetches what was changed there, and sends what was changed here.
    ///
    /// - throws: As ``sendChanges()``.
    public func syncChanges() async throws {
        try await exchange(sends: true, fetches: true) { try await $0.sync(with: $1) }
    }

    private func exchange(
        sends: Bool, fetches: Bool,
        _ body: @escaping @Sendable (Synchronizer, any Transport) async throws -> SyncReport
    ) async throws {
        // Two at a time would wait for each other in the middle.
        try await gate.enter()
        defer { gate.leave() }
        change { state in
            state.sendingCount += sends ? 1 : 0
            state.fetchingCount += fetches ? 1 : 0
        }
        defer {
            change { state in
                state.sendingCount -= sends ? 1 : 0
                state.fetchingCount -= fetches ? 1 : 0
            }
        }
        do {
            let report = try await body(synchronizer, transport)
            delegate.syncEngine(self, didSynchronize: report)
        } catch {
            delegate.syncEngine(self, didFail: error)
            throw error
        }
    }

    private func change(_ update: (inout State) -> Void) {
        registrar.withMutation(of: self, keyPath: \.isSendingChanges) {
            registrar.withMutation(of: self, keyPath: \.isFetchingChanges) {
                state.withLock { update(&$0) }
            }
        }
    }
}
