import Dispatch

/// A type that reads from and writes to a database: a queue or a pool.
public protocol DatabaseWriter: DatabaseReader {
    /// Runs a closure outside of any transaction and waits for the result.
    ///
    /// - throws: What the closure throws.
    @_disfavoredOverload func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) rethrows -> T

    /// Runs a closure outside of any transaction.
    ///
    /// - throws: What the closure throws; `CancellationError` when the task is
    ///   cancelled before the closure starts, or while it runs a statement.
    func writeWithoutTransaction<T: Sendable>(
        _ updates: @escaping @Sendable (Database) throws -> T
    ) async throws -> T

    /// Runs a closure outside of any transaction, while nobody else uses the
    /// database through this object, and waits for the result.
    ///
    /// - throws: What the closure throws; a ``DatabaseError`` when the database is closed.
    @_disfavoredOverload func barrierWriteWithoutTransaction<T>(
        _ updates: (Database) throws -> T
    ) throws -> T

    /// Runs a closure outside of any transaction, while nobody else uses the
    /// database through this object.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``; `CancellationError`.
    func barrierWriteWithoutTransaction<T: Sendable>(
        _ updates: @escaping @Sendable (Database) throws -> T
    ) async throws -> T

    /// Schedules a closure that runs outside of any transaction, while nobody
    /// else uses the database through this object, and returns at once.
    ///
    /// - parameter updates: Called with the connection, or with the reason why there is none.
    func asyncBarrierWriteWithoutTransaction(
        _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Schedules a closure that runs outside of any transaction and returns at once.
    func asyncWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void)

    /// Runs a closure outside of any transaction of its own, also from the
    /// closure of another write to the same database.
    ///
    /// - throws: What the closure throws.
    func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) rethrows -> T

    /// Schedules a read of the state that the database has now, and returns as
    /// soon as writes can't change that state any more.
    ///
    /// It must be called from a write, outside of a transaction. With a pool,
    /// the read runs beside the writes that follow.
    ///
    /// - parameter value: Called with the connection, or with the reason why there is none.
    func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void)
}

extension DatabaseWriter {
    /// Runs a closure in an immediate transaction and waits for the result.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     try db.execute(sql: "INSERT INTO note (id, title) VALUES (?, ?)", arguments: [UUID.v7(), "Milk"])
    /// }
    /// ```
    ///
    /// - throws: What the closure throws, after everything it did was undone; a
    ///   ``DatabaseError`` when the transaction can't begin or commit.
    @_disfavoredOverload public func write<T>(_ updates: (Database) throws -> T) throws -> T {
        try writeWithoutTransaction { try $0.inWriteTransaction(updates) }
    }

    /// Runs a closure in an immediate transaction.
    ///
    /// - throws: As the method that waits; `CancellationError` when the task is
    ///   cancelled before the commit, which undoes everything.
    public func write<T: Sendable>(
        _ updates: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        try await writeWithoutTransaction { try $0.inWriteTransaction(updates) }
    }

    /// Schedules a transaction and returns at once.
    ///
    /// - parameters:
    ///     - updates: The closure that runs in the transaction.
    ///     - completion: Called after the transaction, on the writing connection, with the result.
    public func asyncWrite<T>(
        _ updates: @escaping @Sendable (Database) throws -> T,
        completion: @escaping @Sendable (Database, Result<T, any Error>) -> Void
    ) {
        asyncWriteWithoutTransaction { db in
            completion(db, Result { try db.inWriteTransaction(updates) })
        }
    }
}

extension Database {
    /// Runs a closure in an immediate transaction, or in a deferred one where
    /// writing is not allowed.
    func inWriteTransaction<T>(_ updates: (Database) throws -> T) throws -> T {
        var result: T?
        try inTransaction {
            result = try updates(self)
            return .commit
        }
        guard let result else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
        return result
    }
}
