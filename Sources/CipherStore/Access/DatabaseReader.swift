import Dispatch

/// A type that reads from a database: a queue, a pool, or a snapshot.
///
/// Accesses are thread-safe. Inside the closure of an access, the values that
/// the database gives belong together when the access is isolated from writes:
/// `read` always is, the `unsafe` variants are not.
///
/// A method that waits must not be called from the closure of another access to
/// the same database; `unsafeReentrantRead(_:)` may be.
public protocol DatabaseReader: AnyObject, Sendable {
    /// The configuration of its connections.
    var configuration: Configuration { get }

    /// The path of the database file, or `":memory:"`.
    var path: String { get }

    /// Closes the connections. Later accesses throw `SQLITE_MISUSE`; closing again does nothing.
    ///
    /// - throws: A ``DatabaseError`` of code `SQLITE_BUSY` when a statement or cursor still lives.
    func close() throws

    /// Interrupts the statements that are running. They throw `SQLITE_INTERRUPT`,
    /// and a write transaction that they were part of may have been rolled back.
    ///
    /// Related SQLite documentation: <https://www.sqlite.org/c3ref/interrupt.html>
    func interrupt()

    /// Reads in one snapshot of the database and waits for the result.
    ///
    /// ```swift
    /// let count = try reader.read { db in
    ///     try Int.fetchOne(db, sql: "SELECT count(*) FROM player") ?? 0
    /// }
    /// ```
    ///
    /// - throws: What the closure throws; a ``DatabaseError`` when a page that
    ///   was read is not authentic.
    @_disfavoredOverload func read<T>(_ value: (Database) throws -> T) throws -> T

    /// Reads in one snapshot of the database.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``;
    ///   `CancellationError` when the task is cancelled before the end.
    func read<T: Sendable>(_ value: @escaping @Sendable (Database) throws -> T) async throws -> T

    /// Schedules a read of one snapshot of the database and returns at once.
    ///
    /// - parameter value: Called with the connection, or with the reason why there is none.
    func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Reads, without isolation from writes that come between two statements, and waits for the result.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``.
    @_disfavoredOverload func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T

    /// Reads, without isolation from writes that come between two statements.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``; `CancellationError`.
    func unsafeRead<T: Sendable>(_ value: @escaping @Sendable (Database) throws -> T) async throws -> T

    /// Schedules a read without isolation from writes and returns at once.
    ///
    /// - parameter value: Called with the connection, or with the reason why there is none.
    func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Reads, without isolation from writes, also from the closure of another
    /// access to the same database, whose connection it then uses.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``.
    func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T
}

/// A reader whose reads all see one and the same state of the database.
public protocol DatabaseSnapshotReader: DatabaseReader {}

extension DatabaseSnapshotReader {
    /// Reads the snapshot, also from the closure of another access to it.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``.
    public func reentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        try unsafeReentrantRead(value)
    }
}

extension Database {
    /// Whether this thread is in the middle of an access to a database, so that waiting for another one might
    /// never end.
    package static var isInAccess: Bool { SerializedDatabase.isInAccess }
}
