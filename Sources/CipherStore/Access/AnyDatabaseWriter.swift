/// A type-erased ``DatabaseWriter``.
public final class AnyDatabaseWriter: DatabaseWriter {
    let base: any DatabaseWriter

    /// Wraps a writer.
    public init(_ base: any DatabaseWriter) { self.base = base }

    /// The configuration of its connections.
    public var configuration: Configuration { base.configuration }

    /// The path of the database file, or `":memory:"`.
    public var path: String { base.path }

    /// Closes the connections. Later accesses throw `SQLITE_MISUSE`; closing again does nothing.
    ///
    /// - throws: A ``DatabaseError`` of code `SQLITE_BUSY` when a statement or cursor still lives.
    public func close() throws { try base.close() }

    /// Interrupts the statements that are running: they throw `SQLITE_INTERRUPT`.
    public func interrupt() { base.interrupt() }

    /// Reads in one snapshot of the database and waits for the result.
    ///
    /// - throws: What the closure throws; a ``DatabaseError`` when a page that was
    ///   read is not authentic.
    @_disfavoredOverload public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try base.read(value)
    }

    /// Reads in one snapshot of the database.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``; `CancellationError`
    ///   when the task is cancelled before the end.
    public func read<T: Sendable>(_ value: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await base.read(value)
    }

    /// Schedules a read of one snapshot of the database and returns at once.
    ///
    /// - parameter value: Called with the connection, or with the reason why there is none.
    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        base.asyncRead(value)
    }

    /// Reads, without isolation from writes that come between two statements, and
    /// waits for the result.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``.
    @_disfavoredOverload public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T {
        try base.unsafeRead(value)
    }

    /// Reads, without isolation from writes that come between two statements.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``; `CancellationError`.
    public func unsafeRead<T: Sendable>(
        _ value: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        try await base.unsafeRead(value)
    }

    /// Schedules a read without isolation from writes and returns at once.
    ///
    /// - parameter value: Called with the connection, or with the reason why there is none.
    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        base.asyncUnsafeRead(value)
    }

    /// Reads, without isolation from writes, also from the closure of another
    /// access, whose connection it then uses.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``.
    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        try base.unsafeReentrantRead(value)
    }

    /// Runs a closure outside of any transaction and waits for the result.
    ///
    /// - throws: What the closure throws.
    @_disfavoredOverload public func writeWithoutTransaction<T>(
        _ updates: (Database) throws -> T
    ) rethrows -> T {
        try base.writeWithoutTransaction(updates)
    }

    /// Runs a closure outside of any transaction.
    ///
    /// - throws: What the closure throws; `CancellationError` when the task is
    ///   cancelled before the closure starts, or while it runs a statement.
    public func writeWithoutTransaction<T: Sendable>(
        _ updates: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        try await base.writeWithoutTransaction(updates)
    }

    /// Runs a closure outside of any transaction, while nobody else uses the
    /// database through this object, and waits for the result.
    ///
    /// - throws: What the closure throws; a ``DatabaseError`` when the database is closed.
    @_disfavoredOverload public func barrierWriteWithoutTransaction<T>(
        _ updates: (Database) throws -> T
    ) throws -> T {
        try base.barrierWriteWithoutTransaction(updates)
    }

    /// Runs a closure outside of any transaction, while nobody else uses the
    /// database through this object.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``; `CancellationError`.
    public func barrierWriteWithoutTransaction<T: Sendable>(
        _ updates: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        try await base.barrierWriteWithoutTransaction(updates)
    }

    /// Schedules a closure that runs outside of any transaction, while nobody else
    /// uses the database through this object, and returns at once.
    ///
    /// - parameter updates: Called with the connection, or with the reason why there is none.
    public func asyncBarrierWriteWithoutTransaction(
        _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        base.asyncBarrierWriteWithoutTransaction(updates)
    }

    /// Schedules a closure that runs outside of any transaction and returns at once.
    public func asyncWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void) {
        base.asyncWriteWithoutTransaction(updates)
    }

    /// Runs a closure outside of any transaction of its own, also from the closure
    /// of another write.
    ///
    /// - throws: What the closure throws.
    public func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try base.unsafeReentrantWrite(updates)
    }

    /// Schedules a read of the state that the database has now, and returns as
    /// soon as writes can't change that state any more.
    ///
    /// - parameter value: Called with the connection, or with the reason why there is none.
    public func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        base.spawnConcurrentRead(value)
    }

    /// Changes the passphrase of the database, while it is open.
    ///
    /// - throws: As that of the base.
    @_disfavoredOverload public func changePassphrase(
        _ passphrase: borrowing Passphrase, progress: StoreProgressHandler? = nil
    ) throws {
        try base.changePassphrase(passphrase, progress: progress)
    }
}
