/// A reader that sees the database as it was when the snapshot was made.
///
/// ```swift
/// let snapshot = try dbPool.makeSnapshot()
/// let count = try snapshot.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM player") }
/// ```
///
/// It is a connection of its own with a read transaction that stays open, so
/// the WAL can't be reset while it lives. Its accesses are serialized.
public final class DatabaseSnapshot: DatabaseSnapshotReader {
    private let connection: SerializedDatabase

    init(connection: SerializedDatabase) throws {
        self.connection = connection
        connection.keepsTransaction = true
        try connection.sync { db in
            try db.beginSnapshot()
            // SQLite rolls back when a page can't be read, and later reads would
            // see another state.
            db.needsTransaction = true
        }
    }

    /// The configuration of the connection.
    public var configuration: Configuration { connection.configuration }

    /// The path of the database file.
    public var path: String { connection.path }

    /// Closes the connections. Later accesses throw `SQLITE_MISUSE`; closing again does nothing.
    ///
    /// - throws: A ``DatabaseError`` of code `SQLITE_BUSY` when a statement or cursor still lives.
    public func close() throws { try connection.close() }

    /// Interrupts the statements that are running: they throw `SQLITE_INTERRUPT`.
    public func interrupt() { connection.interrupt() }

    /// Reads in one snapshot of the database and waits for the result.
    ///
    /// - throws: What the closure throws; a ``DatabaseError`` when a page that was
    ///   read is not authentic.
    @_disfavoredOverload public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try connection.sync { try $0.readInSnapshot(value) }
    }

    /// Reads in one snapshot of the database.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``; `CancellationError`
    ///   when the task is cancelled before the end.
    public func read<T: Sendable>(_ value: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await connection.run { try $0.readInSnapshot(value) }
    }

    /// Schedules a read of one snapshot of the database and returns at once.
    ///
    /// - parameter value: Called with the connection, or with the reason why there is none.
    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        connection.async { db in
            guard !db.isClosed else { return value(.failure(DatabasePool.closedError)) }
            value(.success(db))
            db.verifyLate()
        }
    }

    // The snapshot isolates every read.

    /// Reads, without isolation from writes that come between two statements, and
    /// waits for the result.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``.
    @_disfavoredOverload public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T {
        try read(value)
    }

    /// Reads, without isolation from writes that come between two statements.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``; `CancellationError`.
    public func unsafeRead<T: Sendable>(
        _ value: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        try await read(value)
    }

    /// Schedules a read without isolation from writes and returns at once.
    ///
    /// - parameter value: Called with the connection, or with the reason why there is none.
    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        asyncRead(value)
    }

    /// Reads, without isolation from writes, also from the closure of another
    /// access, whose connection it then uses.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``.
    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        if connection.isHeld { return try connection.reentrantSync(value) }
        return try read(value)
    }
}

extension Database {
    /// Begins a read transaction and fixes the state that it sees, which the first read does.
    func beginSnapshot() throws {
        try beginTransaction(.deferred)
        try execute(sql: Self.probeSQL)
    }

    /// Runs a block in the open transaction of a snapshot, and ends it with the check that
    /// ``Configuration/verifiesReads`` describes.
    func readInSnapshot<T>(_ body: (Database) throws -> T) throws -> T {
        let value = try body(self)
        try protected { try verifyReads() }
        currentAccess?.finish()
        return value
    }
}
