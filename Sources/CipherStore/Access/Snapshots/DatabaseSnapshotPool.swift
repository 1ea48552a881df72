/// Readers that run beside each other and see the database as it was when the snapshot was made.
///
/// ```swift
/// let snapshot = try dbPool.makeSnapshotPool()
/// async let playerCount = snapshot.read { db in try Player.fetchCount(db) }
/// async let teamCount = snapshot.read { db in try Team.fetchCount(db) }
/// ```
///
/// It has ``Configuration/maximumReaderCount`` connections, all of which are opened when it is made,
/// each with a read transaction that stays open. So the WAL can't be reset while it lives.
public final class DatabaseSnapshotPool: DatabaseSnapshotReader {
    let readerPool: ReaderPool
    private let isClosed = Lock(false)

    /// The configuration of the connections.
    public let configuration: Configuration

    /// The path of the database file.
    public let path: String

    // MARK: Making

    /// Makes a snapshot of the database of a connection.
    ///
    /// ```swift
    /// let snapshot = try dbPool.writeWithoutTransaction { db in
    ///     try db.inTransaction { … }
    ///     // Sees the transaction, and nothing of the writes that follow.
    ///     return try DatabaseSnapshotPool(db)
    /// }
    /// ```
    ///
    /// It sees the last commit. In a read, that may be newer than what `db` sees.
    ///
    /// - parameters:
    ///     - db: A connection to a database in WAL mode that is in no write transaction.
    ///     - configuration: The configuration of the connections; that of `db` when nil.
    /// - throws: A ``DatabaseError``: of code `SQLITE_MISUSE` in a write transaction and for a database
    ///   in memory, `SQLITE_ERROR` when the database is not in WAL mode, `SQLITE_BUSY` when others never
    ///   cease to commit.
    public convenience init(_ db: Database, configuration: Configuration? = nil) throws {
        try db.checkIsOpen("")
        let configuration = configuration ?? db.configuration
        let open = Self.opener(db.path, configuration, db.keyCache, file: db.watchedFile)
        if !db.isInsideTransaction {
            try self.init(path: db.path, configuration: configuration, witness: db, open: open)
        } else if db.isReadOnly {
            try self.init(path: db.path, configuration: configuration, open: open)
        } else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "a snapshot can't be made inside of a write transaction, whose changes it would not see")
        }
    }

    /// Makes a snapshot of the database at a path.
    ///
    /// - parameters:
    ///     - path: The path of a database in WAL mode.
    ///     - configuration: The configuration of the connections.
    /// - throws: As ``init(_:configuration:)``.
    public convenience init(path: String, configuration: Configuration = Configuration()) throws {
        try self.init(
            path: path, configuration: configuration,
            open: Self.opener(path, configuration, KeyCache()))
    }

    /// Makes a snapshot with a connection of its own that notices the commits of others.
    private convenience init(
        path: String, configuration: Configuration, open: () throws -> SerializedDatabase
    ) throws {
        let witness = try open()
        defer { witness.dispose() }
        try self.init(
            path: path, configuration: configuration, witness: witness.beforeSharing { $0 }, open: open)
    }

    /// Makes a snapshot.
    ///
    /// - parameters:
    ///     - path: The path of the database.
    ///     - configuration: A configuration of the connections.
    ///     - witness: A connection in no transaction, which notices the commits of others.
    ///     - open: Opens a reading connection.
    init(
        path: String, configuration: Configuration, witness: Database,
        open: () throws -> SerializedDatabase
    ) throws {
        guard DatabasePath(path).isFile else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "a snapshot needs a file, in WAL mode")
        }
        let readers = try (0..<max(1, configuration.maximumReaderCount)).map { _ in try open() }
        try SharedSnapshot(readers).begin(witness)
        self.path = path
        self.configuration = configuration.ofReader
        readerPool = ReaderPool(readers: readers)
    }

    /// What opens a reading connection.
    ///
    /// - parameter file: The file of another connection, which it has to be; nil for whatever is at the path.
    private static func opener(
        _ path: String, _ configuration: Configuration, _ keyCache: KeyCache, file: WatchedFile? = nil
    ) -> () throws -> SerializedDatabase {
        {
            let reader = try SerializedDatabase(
                path: path, file: file?.path, configuration: configuration.ofReader, keyCache: keyCache,
                label: "\(configuration.label ?? "CipherStore.DatabaseSnapshotPool").reader", isReader: true)
            if let file, reader.fileIdentity != file.identity {
                throw Database.replacedFileError(path: path)
            }
            return reader
        }
    }

    // MARK: Closing

    /// Closes the connections. Later accesses throw `SQLITE_MISUSE`; closing again does nothing.
    ///
    /// - throws: A ``DatabaseError`` of code `SQLITE_BUSY` when a statement or cursor still lives.
    public func close() throws {
        isClosed.withLock { $0 = true }
        let results = readerPool.readers.map { reader in Result { try reader.close() } }
        for result in results { try result.get() }
    }

    /// Interrupts the statements that are running: they throw `SQLITE_INTERRUPT`.
    public func interrupt() {
        for reader in readerPool.readers { reader.interrupt() }
    }

    // MARK: Reading

    /// Reads the snapshot and waits for the result.
    ///
    /// - throws: What the closure throws; a ``DatabaseError`` when a page that was
    ///   read is not authentic.
    @_disfavoredOverload public func read<T>(_ value: (Database) throws -> T) throws -> T {
        if readerPool.heldReader != nil {
            fatalError(
                "Database methods are not reentrant: use the `db` of the block that is running instead")
        }
        let slot = readerPool.acquire()
        defer { readerPool.release(slot) }
        guard let reader = slot.reader, !isClosed.withLock({ $0 }) else { throw DatabasePool.closedError }
        return try reader.sync { try $0.readInSnapshot(value) }
    }

    /// Reads the snapshot.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``; `CancellationError`
    ///   when the task is cancelled before the end.
    public func read<T: Sendable>(_ value: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await readInTask { try $0.readInSnapshot(value) }
    }

    /// Schedules a read of the snapshot and returns at once.
    ///
    /// - parameter value: Called with the connection, or with the reason why there is none.
    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        withReader(
            or: { value(.failure($0)) },
            { db in
                value(.success(db))
                db.verifyLate()
            })
    }

    // The snapshot isolates every read.

    /// Reads the snapshot and waits for the result.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``.
    @_disfavoredOverload public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T {
        try read(value)
    }

    /// Reads the snapshot.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``; `CancellationError`.
    public func unsafeRead<T: Sendable>(
        _ value: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        try await read(value)
    }

    /// Schedules a read of the snapshot and returns at once.
    ///
    /// - parameter value: Called with the connection, or with the reason why there is none.
    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        asyncRead(value)
    }

    /// Reads the snapshot, also from the closure of another access, whose connection it then uses.
    ///
    /// - throws: What the closure throws; a ``DatabaseError``.
    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        if let reader = readerPool.heldReader { return try reader.reentrantSync(value) }
        return try read(value)
    }
}

extension DatabaseSnapshotPool: ReaderSource {
    @discardableResult func withReader(
        isSnapshot: Bool = false,
        or fail: @escaping @Sendable (any Error) -> Void, _ body: @escaping @Sendable (Database) -> Void
    ) -> Int {
        readerPool.acquire { [self] slot in
            guard let slot else { return fail(CancellationError()) }
            guard let reader = slot.reader, !isClosed.withLock({ $0 }) else {
                readerPool.release(slot)
                return fail(DatabasePool.closedError)
            }
            read(slot, reader, isSnapshot: isSnapshot, body)
        }
    }
}
