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

    /// Changes the passphrase of the database, while it is open.
    ///
    /// ```swift
    /// try dbPool.changePassphrase("correct horse battery staple")
    /// ```
    ///
    /// The database is copied under the new key beside the old file, the copy is verified, and takes
    /// the old one's place in one step: a kill at any moment leaves a file that opens with the old
    /// passphrase or with the new one. Accesses wait meanwhile. In a store with a ``Keyring``, only the
    /// slot changes that the database was opened with, and the file stays.
    ///
    /// Afterwards this object works on the new file, with connections that it opens anew: the functions
    /// given to ``Configuration/prepareDatabase(_:)`` run again, and may still give the old passphrase,
    /// which this object takes for the new one until it is closed. Who opens the file later has to give
    /// the new one. Transaction observers and observations stay. Functions, collations and temporary
    /// tables that were added outside of those functions are gone.
    ///
    /// Other connections to the file end: the next access throws a ``StoreError`` of code `replaced`.
    /// Nothing is changed, and the code is `busy`, while one of them reads or writes, and in WAL mode as
    /// long as one is open.
    ///
    /// - parameters:
    ///     - passphrase: The new passphrase.
    ///     - progress: Called while pages are copied and verified. An error that it throws cancels the
    ///       change.
    /// - throws: A ``StoreError``: `busy`, `full`, `damaged`, `plaintext` when the database is not
    ///   encrypted, …; a ``DatabaseError`` of code `SQLITE_MISUSE` inside of a database access or
    ///   transaction and for a database in memory, `SQLITE_READONLY` for a read-only one, `SQLITE_BUSY`
    ///   while a statement or cursor lives. The old passphrase goes on then. The one exception is
    ///   `cannotRead`: the passphrase was changed, but the file could not be opened again.
    @_disfavoredOverload func changePassphrase(
        _ passphrase: borrowing Passphrase, progress: StoreProgressHandler?) throws
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
