import Dispatch

extension DatabasePool {
    // MARK: Waiting

    @_disfavoredOverload public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try withReader { reader in try reader.sync { try $0.readSnapshot(value) } }
    }

    @_disfavoredOverload public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T {
        try withReader { reader in try reader.sync(value) }
    }

    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        if let reader = readerPool.heldReader { return try reader.reentrantSync(value) }
        if writer.isHeld { return try writer.reentrantSync(value) }
        return try unsafeRead(value)
    }

    private func withReader<T>(_ body: (SerializedDatabase) throws -> T) throws -> T {
        if readerPool.heldReader != nil {
            fatalError("Database methods are not reentrant: use the `db` of the block that is running instead")
        }
        var slot = readerPool.acquire()
        defer { readerPool.release(slot) }
        let reader = try open(&slot)
        return try body(reader)
    }

    private func open(_ slot: inout ReaderPool.Slot) throws -> SerializedDatabase {
        if isClosed { throw Self.closedError }
        if let reader = slot.reader { return reader }
        let reader = try makeReader()
        slot.reader = reader
        readerPool.opened(reader)
        return reader
    }

    // MARK: Tasks

    public func read<T: Sendable>(_ value: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await withReader { reader in try await reader.run { try $0.readSnapshot(value) } }
    }

    public func unsafeRead<T: Sendable>(
        _ value: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        try await withReader { reader in try await reader.run(value) }
    }

    private func withReader<T: Sendable>(
        _ body: (SerializedDatabase) async throws -> T
    ) async throws -> T {
        var slot = try await readerPool.acquire()
        defer { readerPool.release(slot) }
        if slot.reader == nil { slot = try await opened(slot) }
        guard let reader = slot.reader else { throw Self.closedError }
        return try await body(reader)
    }

    /// Opens the connection of a slot on a thread that may block.
    private func opened(_ slot: ReaderPool.Slot) async throws -> ReaderPool.Slot {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global(qos: configuration.readQoS.qosClass).async { [self] in
                var slot = slot
                continuation.resume(
                    with: Result {
                        _ = try open(&slot)
                        return slot
                    })
            }
        }
    }

    // MARK: Callbacks

    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        withReader(or: value) { $0.readSnapshot(orFail: value) }
    }

    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        withReader(or: value) { value(.success($0)) }
    }

    private func withReader(
        or fail: @escaping @Sendable (Result<Database, any Error>) -> Void,
        _ body: @escaping @Sendable (Database) -> Void
    ) {
        readerPool.acquire { [self] slot in
            guard let slot else { return fail(.failure(CancellationError())) }
            // Opening takes time, and who gave the slot back does not want to spend it.
            if let reader = slot.reader { return read(slot, reader, body) }
            DispatchQueue.global(qos: configuration.readQoS.qosClass).async { [self] in
                var slot = slot
                do {
                    let reader = try open(&slot)
                    read(slot, reader, body)
                } catch {
                    readerPool.release(slot)
                    fail(.failure(error))
                }
            }
        }
    }

    private func read(
        _ slot: ReaderPool.Slot, _ reader: SerializedDatabase, _ body: @escaping @Sendable (Database) -> Void
    ) {
        reader.async { [self] db in
            body(db)
            readerPool.release(slot)
        }
    }

    // MARK: Snapshots

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
                message: "a snapshot can't be made inside of a write transaction, whose changes it would not see")
        }
        return try DatabaseSnapshot(connection: makeSnapshotReader())
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
        guard let db = writer.heldDatabase else {
            fatalError("asyncConcurrentRead must be called in a write")
        }
        guard !db.isInsideTransaction else {
            fatalError("asyncConcurrentRead must not be called inside of a transaction")
        }
        guard !readerPool.isBarrierRunning else {
            return value(
                .failure(
                    DatabaseError(
                        resultCode: .SQLITE_MISUSE,
                        message: "a concurrent read can't start inside of a barrier, which keeps readers away")))
        }
        let isReady = DispatchSemaphore(value: 0)
        let fail: @Sendable (Result<Database, any Error>) -> Void = { result in
            isReady.signal()
            value(result)
        }
        withReader(or: fail) { db in
            db.readSnapshot(orFail: value, whenIsolated: { isReady.signal() })
        }
        isReady.wait()
    }
}
