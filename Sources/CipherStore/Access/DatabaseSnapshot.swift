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
            try db.beginTransaction(.deferred)
            // The first read is what fixes the state.
            try db.execute(sql: Database.probeSQL)
        }
    }

    /// The configuration of the connection.
    public var configuration: Configuration { connection.configuration }

    /// The path of the database file.
    public var path: String { connection.path }

    public func close() throws { try connection.close() }

    public func interrupt() { connection.interrupt() }

    @_disfavoredOverload public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try connection.sync { try Self.verified($0, value) }
    }

    public func read<T: Sendable>(_ value: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await connection.run { try Self.verified($0, value) }
    }

    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        connection.async { db in
            db.isClosed ? value(.failure(DatabasePool.closedError)) : value(.success(db))
        }
    }

    // The snapshot isolates every read.

    @_disfavoredOverload public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T {
        try read(value)
    }

    public func unsafeRead<T: Sendable>(
        _ value: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        try await read(value)
    }

    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        asyncRead(value)
    }

    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        try connection.reentrantSync(value)
    }

    private static func verified<T>(_ db: Database, _ body: (Database) throws -> T) throws -> T {
        let value = try body(db)
        try db.protected { try db.verifyReads() }
        db.currentAccess?.finish()
        return value
    }
}
