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
public final class DatabaseQueue: DatabaseWriter {
    private let connection: SerializedDatabase
    private let keyCache: KeyCache

    /// Opens or creates the database at a path.
    ///
    /// - throws: A ``DatabaseError``; for a wrong passphrase its code is
    ///   `SQLITE_NOTADB`. A ``StoreError`` for a missing file and the like.
    public convenience init(path: String, configuration: Configuration = Configuration()) throws {
        try self.init(path: path, configuration: configuration, keyCache: KeyCache())
    }

    /// Opens a new in-memory database.
    public convenience init(configuration: Configuration = Configuration()) throws {
        try self.init(path: ":memory:", configuration: configuration, keyCache: KeyCache())
    }

    init(path: String, configuration: Configuration, keyCache: KeyCache) throws {
        self.keyCache = keyCache
        connection = try SerializedDatabase(
            path: path, configuration: configuration, keyCache: keyCache, label: "CipherStore.DatabaseQueue")
    }

    /// The configuration of the connection.
    public var configuration: Configuration { connection.configuration }

    /// The path of the database file, or `":memory:"`.
    public var path: String { connection.path }

    /// How many key derivations the queue has paid for.
    package var keyDerivationCount: Int { keyCache.derivationCount }

    /// Reads in one snapshot of the database and waits for the result.
    ///
    /// - throws: What the block throws; a ``DatabaseError`` when a page that was
    ///   read is not authentic.
    public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try connection.sync { try $0.readSnapshot(value) }
    }

    /// Reads in one snapshot of the database.
    public func read<T: Sendable>(_ value: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await connection.async { try $0.readSnapshot(value) }
    }

    /// Runs a block in an immediate transaction and waits for the result.
    ///
    /// - throws: What the block throws, after everything it did was undone; a
    ///   ``DatabaseError`` when the transaction can't begin or commit.
    public func write<T>(_ updates: (Database) throws -> T) throws -> T {
        try connection.sync { try Self.transaction($0, updates) }
    }

    /// Runs a block in an immediate transaction.
    public func write<T: Sendable>(_ updates: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await connection.async { try Self.transaction($0, updates) }
    }

    private static func transaction<T>(_ db: Database, _ updates: (Database) throws -> T) throws -> T {
        var result: T?
        try db.inTransaction(.immediate) {
            try db.checkFileIdentity()
            result = try updates(db)
            return .commit
        }
        guard let result else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
        return result
    }

    /// Runs a block outside of any transaction and waits for the result.
    public func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T {
        try connection.sync { db in
            try db.checkFileIdentity()
            return try updates(db)
        }
    }

    /// Runs a block outside of any transaction and waits for the result.
    public func inDatabase<T>(_ block: (Database) throws -> T) throws -> T {
        try writeWithoutTransaction(block)
    }

    /// Runs a block in a transaction that the block commits or rolls back.
    public func inTransaction(
        _ kind: Database.TransactionKind? = nil,
        _ updates: (Database) throws -> Database.TransactionCompletion
    ) throws {
        try writeWithoutTransaction { db in try db.inTransaction(kind) { try updates(db) } }
    }

    /// Closes the connection. Later accesses throw `SQLITE_MISUSE`.
    public func close() throws { try connection.close() }

    /// Interrupts the statement that is running.
    public func interrupt() { connection.interrupt() }
}
