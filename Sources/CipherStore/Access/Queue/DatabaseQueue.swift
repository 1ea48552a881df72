import Foundation

/// A connection that serializes the accesses to a database.
///
/// ```swift
/// let dbQueue = try DatabaseQueue(path: "notes.db", configuration: configuration)
/// try dbQueue.write { db in
///     try db.execute(sql: "INSERT INTO note (id, title) VALUES (?, ?)", arguments: [UUID.v7(), "Milk"])
/// }
/// let count = try dbQueue.read { db in
///     try Int.fetchOne(db, sql: "SELECT count(*) FROM note") ?? 0
/// }
/// ```
///
/// The connection is closed when the queue is deallocated and its last access has ended.
public final class DatabaseQueue: DatabaseWriter {
    let connection: SerializedDatabase
    private let keyCache: KeyCache
    private let suspension: SuspensionObserver?

    /// Opens or creates the database at a path.
    ///
    /// - throws: A ``DatabaseError``; for a wrong passphrase its code is
    ///   `SQLITE_NOTADB`. A ``StoreError`` for a missing file and the like.
    public convenience init(path: String, configuration: Configuration = Configuration()) throws {
        try self.init(path: path, configuration: configuration, keyCache: KeyCache())
    }

    /// Opens an in-memory database.
    ///
    /// - parameters:
    ///     - name: All queues of the process with the same name share one database, which lives as long as
    ///       one of these queues. Without a name, the queue has a database of its own.
    ///     - configuration: The configuration. A passphrase has no effect: there is no file to encrypt.
    /// - throws: A ``DatabaseError``.
    public convenience init(named name: String? = nil, configuration: Configuration = Configuration()) throws
    {
        try self.init(
            path: name.map { DatabasePath.named($0) } ?? ":memory:", configuration: configuration,
            keyCache: KeyCache())
    }

    init(
        path: String, configuration: Configuration, keyCache: KeyCache,
        memorySettings: CipherSettings = .default
    ) throws {
        self.keyCache = keyCache
        let connection = try SerializedDatabase(
            path: path, configuration: configuration, keyCache: keyCache,
            label: configuration.label ?? "CipherStore.DatabaseQueue", memorySettings: memorySettings)
        self.connection = connection
        suspension =
            configuration.observesSuspensionNotifications
            ? SuspensionObserver(suspend: { connection.suspend() }, resume: { connection.resume() }) : nil
    }

    /// The configuration of the connection.
    public var configuration: Configuration { connection.configuration }

    /// The path of the database file, or `":memory:"`.
    public var path: String { connection.path }

    /// How many key derivations the queue has paid for.
    package var keyDerivationCount: Int { keyCache.derivationCount }

    /// Closes the connections. Later accesses throw `SQLITE_MISUSE`; closing again does nothing.
    ///
    /// - throws: A ``DatabaseError`` of code `SQLITE_BUSY` when a statement or cursor still lives.
    public func close() throws { try connection.close() }

    /// Interrupts the statements that are running: they throw `SQLITE_INTERRUPT`.
    public func interrupt() { connection.interrupt() }

    /// Frees as much memory as possible. It waits for the access that is running.
    public func releaseMemory() { connection.reentrantSync { $0.releaseMemory() } }

    func changeKey(_ secret: Secret, _ progress: StoreProgressHandler?) throws {
        if connection.isHeld { throw Database.changeInAccessError }
        try connection.changePassphrase(secret, progress: progress)
    }

    // MARK: Reading

    /// Reads in one snapshot of the database and waits for the result.
    ///
    /// - throws: What the closure throws; a ``DatabaseError`` when a page that was
    ///   read is not authentic.
    @_disfavoredOverload public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try connection.readSnapshot(value)
    }

    /// Reads in one snapshot of the database.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``; `CancellationError`
    ///   when the task is cancelled before the end.
    public func read<T: Sendable>(_ value: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await connection.run(isSnapshot: true) { try $0.readSnapshot(value) }
    }

    /// Schedules a read of one snapshot of the database and returns at once.
    ///
    /// - parameter value: Called with the connection, or with the reason why there is none.
    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        connection.async(isSnapshot: true) { $0.readSnapshot(orFail: value) }
    }

    /// Reads, without isolation from writes that come between two statements, and
    /// waits for the result.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``.
    @_disfavoredOverload public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T {
        try connection.sync(value)
    }

    /// Reads, without isolation from writes that come between two statements.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``; `CancellationError`.
    public func unsafeRead<T: Sendable>(
        _ value: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        try await connection.run(value)
    }

    /// Schedules a read without isolation from writes and returns at once.
    ///
    /// - parameter value: Called with the connection, or with the reason why there is none.
    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        connection.async { value(.success($0)) }
    }

    /// Reads, without isolation from writes, also from the closure of another
    /// access, whose connection it then uses.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``.
    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        try connection.reentrantSync(value)
    }

    // MARK: Writing

    /// Runs a closure in a transaction that the closure commits or rolls back.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``.
    public func inTransaction(
        _ kind: Database.TransactionKind? = nil,
        _ updates: (Database) throws -> Database.TransactionCompletion
    ) throws {
        try writeWithoutTransaction { db in try db.inTransaction(kind) { try updates(db) } }
    }

    /// Runs a closure outside of any transaction and waits for the result.
    ///
    /// - throws: What the closure throws.
    @_disfavoredOverload public func writeWithoutTransaction<T>(
        _ updates: (Database) throws -> T
    ) rethrows -> T {
        try connection.sync(updates)
    }

    /// Runs a closure outside of any transaction.
    ///
    /// - throws: What the closure throws; `CancellationError` when the task is
    ///   cancelled before the closure starts, or while it runs a statement.
    public func writeWithoutTransaction<T: Sendable>(
        _ updates: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        try await connection.run(updates)
    }

    /// Runs a closure outside of any transaction, while nobody else uses the
    /// database through this object, and waits for the result.
    ///
    /// - throws: What the closure throws; a ``DatabaseError`` when the database is closed.
    @_disfavoredOverload public func barrierWriteWithoutTransaction<T>(
        _ updates: (Database) throws -> T
    ) throws -> T {
        try connection.sync(updates)
    }

    /// Runs a closure outside of any transaction, while nobody else uses the
    /// database through this object.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``; `CancellationError`.
    public func barrierWriteWithoutTransaction<T: Sendable>(
        _ updates: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        try await connection.run(updates)
    }

    /// Schedules a closure that runs outside of any transaction, while nobody else
    /// uses the database through this object, and returns at once.
    ///
    /// - parameter updates: Called with the connection, or with the reason why there is none.
    public func asyncBarrierWriteWithoutTransaction(
        _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        connection.async { updates(.success($0)) }
    }

    /// Schedules a closure that runs outside of any transaction and returns at once.
    public func asyncWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void) {
        connection.async(updates)
    }

    /// Runs a closure outside of any transaction of its own, also from the closure
    /// of another write.
    ///
    /// - throws: What the closure throws.
    public func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try connection.reentrantSync(updates)
    }

    /// Runs a closure outside of any transaction and waits for the result.
    ///
    /// - throws: What the closure throws.
    public func inDatabase<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try connection.sync(updates)
    }

    /// Reads at once: a queue has no other connection to read beside writes.
    public func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        connection.reentrantSync { $0.readSnapshot(orFail: value) }
    }
}
