extension DatabasePool {
    /// Runs a closure outside of any transaction and waits for the result.
    ///
    /// - throws: What the closure throws.
    @_disfavoredOverload public func writeWithoutTransaction<T>(
        _ updates: (Database) throws -> T
    ) rethrows -> T {
        try withWriter(updates)
    }

    /// Runs a closure outside of any transaction.
    ///
    /// - throws: What the closure throws; `CancellationError` when the task is
    ///   cancelled before the closure starts, or while it runs a statement.
    public func writeWithoutTransaction<T: Sendable>(
        _ updates: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        try await writer.run(updates)
    }

    /// Schedules a closure that runs outside of any transaction and returns at once.
    public func asyncWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void) {
        writer.async(updates)
    }

    /// Runs a closure outside of any transaction of its own, also from the closure
    /// of another write.
    ///
    /// - throws: What the closure throws.
    public func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try withWriter(isReentrant: true, updates)
    }

    /// Runs a closure in a transaction that the closure commits or rolls back.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``.
    public func writeInTransaction(
        _ kind: Database.TransactionKind? = nil,
        _ updates: (Database) throws -> Database.TransactionCompletion
    ) throws {
        try writeWithoutTransaction { db in try db.inTransaction(kind) { try updates(db) } }
    }

    // MARK: Barriers

    /// Runs a closure outside of any transaction, while nobody else uses the
    /// database through this object, and waits for the result.
    ///
    /// - throws: What the closure throws; a ``DatabaseError`` when the database is
    ///   closed, and of code `SQLITE_BUSY` when a read waits for a write.
    @_disfavoredOverload public func barrierWriteWithoutTransaction<T>(
        _ updates: (Database) throws -> T
    ) throws -> T {
        try withWriter { db in try withBarrier { try updates(db) } }
    }

    /// Runs a closure outside of any transaction, while nobody else uses the
    /// database through this object.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``; `CancellationError`.
    public func barrierWriteWithoutTransaction<T: Sendable>(
        _ updates: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        try await writer.run { [self] db in try withBarrier { try updates(db) } }
    }

    /// Schedules a closure that runs outside of any transaction, while nobody else
    /// uses the database through this object, and returns at once.
    ///
    /// - parameter updates: Called with the connection, or with the reason why there is none.
    public func asyncBarrierWriteWithoutTransaction(
        _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        writer.async { [self] db in
            do {
                try withBarrier { updates(db.isClosed ? .failure(Self.closedError) : .success(db)) }
            } catch {
                updates(.failure(error))
            }
        }
    }
}
