// Reads whose values are given to a function while they are going on. Whether these can be trusted is known
// at the end of the read only.

extension Database {
    /// Reads a snapshot, or reports why that failed.
    ///
    /// - parameters:
    ///     - value: Called with the connection, or with the error.
    ///     - whenIsolated: Called as soon as no write can change what is read,
    ///       or the read has failed.
    ///     - whenEnded: Called at the end with the error by which what was read can't be trusted, if
    ///       there is one; by default, all that is left is to say it.
    func readSnapshot(
        orFail value: (Result<Database, any Error>) -> Void, whenIsolated: (() -> Void)? = nil,
        whenEnded: ((any Error)?) -> Void = { error in if let error { Database.log(error) } }
    ) {
        var isRunning = false
        do {
            try readSnapshot { db in
                if let whenIsolated {
                    try db.execute(sql: Self.probeSQL)
                    whenIsolated()
                }
                isRunning = true
                value(.success(db))
            }
            whenEnded(nil)
        } catch  where !isRunning {
            whenIsolated?()
            value(.failure(error))
            whenEnded(nil)
        } catch {
            whenEnded(error)
        }
    }

    /// Checks what was read in the open transaction of a snapshot, and says it when that can't be trusted.
    func verifyLate() {
        guard !isClosed else { return }
        do {
            try protected { try verifyReads() }
        } catch {
            Self.log(error)
        }
    }
}

extension DatabaseReader {
    /// Schedules a read of one snapshot of the database, and gives its value when the read has ended.
    ///
    /// - parameters:
    ///     - value: What is read.
    ///     - completion: Called with the value, or with the error by which there is none.
    func asyncRead<T: Sendable>(
        _ value: @escaping @Sendable (Database) throws -> T,
        completion: @escaping @Sendable (Result<T, any Error>) -> Void
    ) {
        asyncUnsafeRead { result in
            completion(
                result.flatMap { db in
                    // The transaction of a snapshot is open already.
                    let isOpen = db.isReadOnly && db.isInsideTransaction
                    return Result { try isOpen ? db.readInSnapshot(value) : db.readSnapshot(value) }
                })
        }
    }
}

extension DatabaseWriter {
    /// Reads the state that the database has now, beside the writes that follow where that is possible, and
    /// gives the value when the read has ended. It must be called in a write, outside of any transaction.
    ///
    /// - parameters:
    ///     - value: What is read.
    ///     - completion: Called with the value, or with the error by which there is none.
    func concurrentRead<T: Sendable>(
        _ value: @escaping @Sendable (Database) throws -> T,
        completion: @escaping @Sendable (Result<T, any Error>) -> Void
    ) {
        switch unwrapped {
        case let queue as DatabaseQueue:
            queue.connection.reentrantSync { db in completion(Result { try db.readSnapshot(value) }) }
        case let pool as DatabasePool:
            let read = Lock<Result<T, any Error>?>(nil)
            pool.asyncConcurrentRead(
                { connection in
                    let result = connection.flatMap { db in Result { try value(db) } }
                    read.withLock { $0 = result }
                },
                whenEnded: { error in
                    if let error { return completion(.failure(error)) }
                    if let result = read.withLock({ $0 }) { completion(result) }
                })
        default:
            spawnConcurrentRead { result in
                completion(result.flatMap { db in Result { try value(db) } })
            }
        }
    }
}
