import Dispatch

extension DatabasePool {
    /// Opens a snapshot: a reader that goes on seeing the database as it is now.
    ///
    /// A snapshot keeps the WAL from being reset, so don't keep it for long.
    /// It may be made in a read, and in a write outside of any transaction, whose
    /// own changes it then sees.
    ///
    /// - throws: A ``DatabaseError``, also when it is called inside of a write transaction.
    public func makeSnapshot() throws -> DatabaseSnapshot {
        if let db = writer.heldDatabase, db.isInsideTransaction {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "a snapshot can't be made inside of a write transaction, whose changes it would not see")
        }
        return try DatabaseSnapshot(connection: makeSnapshotReader())
    }

    /// Opens a snapshot with ``Configuration/maximumReaderCount`` connections, whose reads run beside
    /// each other and all see the database as it is now.
    ///
    /// It keeps the WAL from being reset, so don't keep it for long. It may be made where
    /// ``makeSnapshot()`` may.
    ///
    /// ```swift
    /// let snapshot = try dbPool.makeSnapshotPool()
    /// async let players = snapshot.read { db in try Player.fetchAll(db) }
    /// async let teams = snapshot.read { db in try Team.fetchAll(db) }
    /// ```
    ///
    /// - throws: A ``DatabaseError``, also when it is called inside of a write transaction, and of code
    ///   `SQLITE_BUSY` when other processes never cease to commit.
    public func makeSnapshotPool() throws -> DatabaseSnapshotPool {
        // While the writer is held, nobody commits but other processes.
        try withWriter(isReentrant: true) { db in
            guard !db.isInsideTransaction else {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message:
                        "a snapshot can't be made inside of a write transaction, whose changes it would not see"
                )
            }
            return try DatabaseSnapshotPool(
                path: path, configuration: readerConfiguration, witness: db, open: makeSnapshotReader)
        }
    }

    /// Schedules a read of the state that the database has now: see
    /// ``DatabaseWriter/spawnConcurrentRead(_:)``.
    public func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        asyncConcurrentRead(value)
    }

    /// Schedules a read of the state that the database has now, and returns as
    /// soon as writes can't change that state any more.
    ///
    /// ```swift
    /// try dbPool.writeWithoutTransaction { db in
    ///     try db.inTransaction { … }
    ///     // Sees the transaction, and nothing of the writes that follow.
    ///     dbPool.asyncConcurrentRead { result in … }
    /// }
    /// ```
    ///
    /// It must be called in a write, outside of any transaction.
    ///
    /// - parameter value: Called with the connection, or with the reason why there is none.
    public func asyncConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        asyncConcurrentRead(value, whenEnded: { error in if let error { Database.log(error) } })
    }

    /// Schedules a read of the state that the database has now.
    ///
    /// - parameters:
    ///     - value: Called with the connection, or with the reason why there is none.
    ///     - whenEnded: Called at the end with the error by which what was read can't be trusted, if there is one.
    func asyncConcurrentRead(
        _ value: @escaping @Sendable (Result<Database, any Error>) -> Void,
        whenEnded: @escaping @Sendable ((any Error)?) -> Void
    ) {
        guard let db = writer.heldDatabase else {
            fatalError("asyncConcurrentRead must be called in a write")
        }
        guard !db.isInsideTransaction else {
            fatalError("asyncConcurrentRead must not be called inside of a transaction")
        }
        guard !readerPool.isBarrierRunning else {
            value(
                .failure(
                    DatabaseError(
                        resultCode: .SQLITE_MISUSE,
                        message: "a concurrent read can't start inside of a barrier, which keeps readers away"
                    )))
            return whenEnded(nil)
        }
        let isReady = DispatchSemaphore(value: 0)
        let fail: @Sendable (any Error) -> Void = { error in
            isReady.signal()
            value(.failure(error))
            whenEnded(nil)
        }
        withReader(or: fail) { db in
            db.readSnapshot(orFail: value, whenIsolated: { isReady.signal() }, whenEnded: whenEnded)
        }
        isReady.wait()
    }
}
