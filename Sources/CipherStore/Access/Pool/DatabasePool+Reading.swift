import Dispatch

extension DatabasePool: ReaderSource {
    // MARK: Waiting

    /// Reads in one snapshot of the database and waits for the result.
    ///
    /// - throws: What the closure throws; a ``DatabaseError`` when a page that was
    ///   read is not authentic.
    @_disfavoredOverload public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try withReader { reader in try reader.readSnapshot(value) }
    }

    /// Reads, without isolation from writes that come between two statements, and
    /// waits for the result.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``.
    @_disfavoredOverload public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T {
        try withReader { reader in try reader.sync(value) }
    }

    /// Reads, without isolation from writes, also from the closure of another
    /// access, whose connection it then uses.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``.
    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        if let reader = readerPool.heldReader { return try reader.reentrantSync(value) }
        if writer.isHeld { return try writer.reentrantSync(value) }
        return try unsafeRead(value)
    }

    private func withReader<T>(_ body: (SerializedDatabase) throws -> T) throws -> T {
        if readerPool.heldReader != nil {
            fatalError(
                "Database methods are not reentrant: use the `db` of the block that is running instead")
        }
        if writer.isHeld && readerPool.isBarrierRunning {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "a read can't start inside of a barrier, which keeps readers away")
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

    /// Reads in one snapshot of the database.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``; `CancellationError`
    ///   when the task is cancelled before the end.
    public func read<T: Sendable>(_ value: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await readInTask(isSnapshot: true) { try $0.readSnapshot(value) }
    }

    /// Reads, without isolation from writes that come between two statements.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``; `CancellationError`.
    public func unsafeRead<T: Sendable>(
        _ value: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        try await readInTask(value)
    }

    // MARK: Callbacks

    /// Schedules a read of one snapshot of the database and returns at once.
    ///
    /// - parameter value: Called with the connection, or with the reason why there is none.
    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        withReader(
            isSnapshot: true, or: { value(.failure($0)) }, { $0.readSnapshot(orFail: value) })
    }

    /// Schedules a read without isolation from writes and returns at once.
    ///
    /// - parameter value: Called with the connection, or with the reason why there is none.
    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        withReader(or: { value(.failure($0)) }, { value(.success($0)) })
    }

    /// Calls a function with a reader's connection when there is one, or
    /// another one with the reason why there is none.
    ///
    /// - returns: A number by which the wait can be given up.
    @discardableResult func withReader(
        isSnapshot: Bool = false,
        or fail: @escaping @Sendable (any Error) -> Void,
        _ body: @escaping @Sendable (Database) -> Void
    ) -> Int {
        withReaderSlot(isSnapshot: isSnapshot, or: fail) { db, _ in body(db) }
    }

    /// The same for a function that is also told by which slot it has the reader, and for one that is called when the
    /// slot was given back.
    @discardableResult func withReaderSlot(
        isSnapshot: Bool = false, isRound: Bool = false,
        or fail: @escaping @Sendable (any Error) -> Void,
        afterwards: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable (Database, ReaderPool.Slot) -> Void
    ) -> Int {
        readerPool.acquire(isRound: isRound) { [self] slot in
            guard let slot else { return fail(CancellationError()) }
            // Opening takes time, and who gave the slot back does not want to spend it.
            if let reader = slot.reader {
                return read(slot, reader, isSnapshot: isSnapshot, afterwards: afterwards) {
                    body($0, slot)
                }
            }
            DispatchQueue.global(qos: configuration.readQoS.qosClass).async { [self] in
                var opened = slot
                do {
                    let reader = try open(&opened)
                    read(opened, reader, isSnapshot: isSnapshot, afterwards: afterwards) {
                        body($0, slot)
                    }
                } catch {
                    readerPool.release(opened)
                    fail(error)
                }
            }
        }
    }
}
