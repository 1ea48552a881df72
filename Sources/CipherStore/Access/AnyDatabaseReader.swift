/// A type-erased ``DatabaseReader``.
public final class AnyDatabaseReader: DatabaseReader {
    let base: any DatabaseReader

    /// Wraps a reader.
    public init(_ base: any DatabaseReader) { self.base = base }

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
}

extension DatabaseReader {
    /// The queue, pool or snapshot whose type was erased, however often.
    var unwrapped: any DatabaseReader {
        switch self {
        case let reader as AnyDatabaseReader: reader.base.unwrapped
        case let writer as AnyDatabaseWriter: writer.base.unwrapped
        default: self
        }
    }
}
