import Foundation

/// A connection to an SQLite database.
///
/// You get one in the closures of ``DatabaseQueue``, and it must not leave them:
/// ```swift
/// try dbQueue.write { db in
///     try db.execute(sql: "CREATE TABLE player (id BLOB PRIMARY KEY, name TEXT)")
/// }
/// ```
public final class Database {
    /// What to do when another connection holds a lock.
    public enum BusyMode: Sendable {
        /// Fail at once with `SQLITE_BUSY`.
        case immediateError
        /// Wait for the lock, for at most this many seconds.
        case timeout(TimeInterval)
        /// Call a function with the number of tries so far, and try again while
        /// it returns true. It must not use the connection.
        ///
        /// Related SQLite documentation: <https://www.sqlite.org/c3ref/busy_handler.html>
        case callback(BusyCallback)
    }

    /// A function that decides whether to wait for a lock any longer.
    ///
    /// - parameter numberOfTries: How often it was called for this lock.
    public typealias BusyCallback = @Sendable (_ numberOfTries: Int) -> Bool

    /// The kinds of transaction.
    ///
    /// Related SQLite documentation: <https://www.sqlite.org/lang_transaction.html>
    public enum TransactionKind: String, Sendable {
        /// Locks are taken by the first read and the first write.
        case deferred = "DEFERRED"
        /// The write lock is taken at once.
        case immediate = "IMMEDIATE"
        /// Nobody else can read or write.
        case exclusive = "EXCLUSIVE"
    }

    /// How a transaction block ends.
    @frozen public enum TransactionCompletion: Sendable {
        /// The changes are kept.
        case commit
        /// The changes are undone.
        case rollback
    }

    /// The version of the SQLite library, as in `sqlite3_libversion_number()`.
    public static var sqliteLibVersionNumber: CInt {
        CInt(EngineFeatures.current.sqliteVersionNumber)
    }

    /// The raw connection, for use with the C API; nil once it is closed.
    public var sqliteConnection: SQLiteConnection? { isClosed ? nil : handleForOthers }

    /// The configuration of the connection.
    public let configuration: Configuration

    /// The path of the database file, `":memory:"`, or an empty string.
    let path: String

    /// The configuration's label, or the name of what owns the connection.
    private let label: String

    let handle: SQLiteConnection
    let keyCache: KeyCache
    private(set) var isClosed = false
    var statementCache = StatementCache()
    var recurringStatements = RecurringStatements()
    let readStatements = ReadStatements()

    /// What the connection knows about the tables of record types.
    let recordPlans = RecordPlans()

    /// What the connection knows of its schemas.
    let schema: ConnectionSchema

    /// What ``trace(options:_:)`` set.
    let tracer = StatementTracer()

    /// What a library above this one keeps with the connection.
    package var attachment: (any ConnectionAttachment)?

    /// What emulated changes leave to be read.
    var changedRowsTables = ChangedRowsTables()

    /// What FTS5 can be extended with, once somebody has asked.
    var fullTextInterface: UnsafeMutableRawPointer?

    // MARK: Encryption

    /// The key that the connection was given.
    var encryptionKey: EncryptionKey?

    /// The settings that a database without a file takes its key's from, so that it can be the target of a backup.
    let memorySettings: CipherSettings

    /// The passphrase that the key is derived from, until the connection is set up.
    var setUpSecret: Secret?

    /// Whether the key was proven by a page's MAC, or a file is still to be made.
    var isKeyProven = false

    /// Whether the file was empty when the key was given.
    var isNewFile = false

    /// Whether the connection is set up, so that pages may be read.
    private(set) var isSetUp = false

    /// Whether other connections can change the database.
    let isShared: Bool

    /// The file that was opened, by which a replaced one is noticed.
    private(set) var watchedFile: WatchedFile?

    // MARK: Accesses and transactions

    /// What stops the connection's statements from other threads.
    let interruption: Interruption

    /// The access of a task, which can be cancelled.
    var currentAccess: CancellableAccess?

    /// What the statements that run are kept from.
    var protection = Interruption.Protection.none

    /// What is to be run when SQLite lets it: ``settle()``.
    var owedStatements: [String] = []

    /// Whether a block runs whose transaction must still be there.
    var needsTransaction = false

    /// The blocks that run and must not write.
    var readOnlyBlocks = ReadOnlyBlocks()

    /// What is to be told and forgotten when the transaction ends.
    @exclusivity(unchecked) var transactionEnd = TransactionEnd()
    /// How large the cache is while a transaction writes.
    @exclusivity(unchecked) var transactionCache = TransactionCache()

    // MARK: Observation

    /// What SQLite asks for each part of a statement that it prepares.
    let authorizer = StatementAuthorizer()

    /// The observers, and what they are still to be told.
    let broker = TransactionBroker()

    /// What the statements of a tracked block have read so far.
    var recordedRegion: DatabaseRegion?

    /// How often a transaction was committed that wrote something, or somebody told of changes.
    var commits = CommitCounter()

    /// What was known at the last look for commits of others.
    var knownCommits = KnownCommits()

    /// What statements have to look at when they run.
    let watch = ConnectionWatch()

    /// The functions that were added to the connection.
    let functions = RegisteredFunctions()
    /// How SQLite has opened the file.
    let mode: OpeningMode

    /// - parameter mode: How the file is opened; nil to choose.
    init(
        path: String, configuration: Configuration, keyCache: KeyCache,
        label: String? = nil,
        memorySettings: CipherSettings = .default, mode: OpeningMode? = nil
    ) throws {
        try EngineFeatures.current.requireCipher()
        self.path = path
        self.configuration = configuration
        schema = ConnectionSchema(source: configuration.schemaSource)
        self.keyCache = keyCache
        self.label = label ?? configuration.label ?? "CipherStore.Database"
        self.memorySettings = memorySettings
        let isFile = DatabasePath(path).isFile
        isShared = isFile || DatabasePath(path).isNamedMemory
        if isFile { try Self.prepareFile(path, configuration) }
        let identityBefore = isFile ? FileIdentity(path: path) : nil
        let mode =
            try mode ?? (isFile ? OpeningMode.choose(path, readonly: configuration.readonly) : .ordinary)
        self.mode = mode
        let isAsItIs = mode != .ordinary
        let sideFiles = isFile && !isAsItIs ? MissingSideFiles(path) : nil
        // A database in memory is filled by its own connection, read-only or not.
        handle = try SQLiteHandle.open(
            path: mode.name(of: path), readonly: configuration.readonly && isFile || isAsItIs,
            creates: !configuration.requiresExistingFile,
            isURI: DatabasePath(path).isNamedMemory || isAsItIs, file: path)
        interruption = Interruption(handle)
        do {
            try setUp()
            isSetUp = true
            if isFile { watchedFile = try openedFile(before: identityBefore) }
        } catch {
            throw failedToOpen(error, sideFiles)
        }
        transactionEnd.hasDates = true
        observeTransactions()
        stopWhenCancelled()
        authorizer.cipherPragmas = codecPageSize.map { CipherPragmas(pageSize: $0) }
        authorizer.install(on: self)
    }

    deinit {
        // No statement may refer to an object that is going.
        watch.close()
        dispose()
    }

    /// Closes the connection, or leaves it open when a statement still lives.
    /// Closing twice does nothing.
    ///
    /// - throws: A ``DatabaseError`` of code `SQLITE_BUSY`.
    func close() throws {
        try requireNoStatement()
        dispose()
    }

    /// Throws when a statement or cursor still lives, which keeps a connection from closing.
    func requireNoStatement() throws {
        guard !isClosed else { return }
        forgetStatements()
        if let sql = SQLiteHandle.firstStatement(handle) {
            Self.logUnfinalizedStatement(sql)
            throw DatabaseError(
                resultCode: .SQLITE_BUSY,
                message:
                    "unable to close due to unfinalized statements: a statement or cursor is still in use")
        }
    }

    /// Closes the connection. Statements that still live keep the handle, but
    /// not the connection, until they go.
    func dispose() {
        guard !isClosed else { return }
        watch.runs.close()
        watch.close()
        isClosed = true
        // Their statements would keep the handle, and its locks.
        forgetStatements()
        interruption.close()
        functions.removeAll()
        SQLiteHandle.close(handle)
    }

    /// Interrupts the statement that is running, from any thread.
    func interrupt() { interruption.interrupt() }

    /// Frees as much memory as possible: pages in SQLite's cache, and cached statements.
    public func releaseMemory() {
        guard !isClosed else { return }
        SQLiteHandle.releaseMemory(handle)
        statementCache.removeAll()
        recurringStatements.removeAll()
        readStatements.forget()
        attachment?.connectionForgetsStatements()
    }

    // MARK: Facts

    // The memory of a closed handle is free, so nobody may look at it.

    /// The rowid of the last inserted row. Directly after a statement or a commit, rows of those who were told of it don't count.
    public var lastInsertedRowID: Int64 {
        if isClosed { return 0 }
        return transactionEnd.counts?.rowIDOfLastInsertion(self) ?? SQLiteHandle.lastInsertedRowID(handle)
    }

    /// The number of rows that the last statement changed, not one of those who were told of its commit.
    public var changesCount: Int {
        if isClosed { return 0 }
        return transactionEnd.counts?.changesOfLastStatement(self) ?? SQLiteHandle.changesCount(handle)
    }

    /// The number of rows that were changed since the connection opened.
    public var totalChangesCount: Int { isClosed ? 0 : SQLiteHandle.totalChangesCount(handle) }

    /// The code of the last error on the connection; `SQLITE_MISUSE` once it is closed.
    public var lastErrorCode: ResultCode {
        isClosed ? .SQLITE_MISUSE : SQLiteHandle.lastErrorCode(handle)
    }

    /// The message of the last error on the connection, in SQLite's words:
    /// "not an error" after a success.
    public var lastErrorMessage: String? { isClosed ? nil : SQLiteHandle.lastError(handle).message }

    /// Whether a transaction is open.
    public var isInsideTransaction: Bool { !isClosed && SQLiteHandle.isInsideTransaction(handle) }
}

extension Database: CustomStringConvertible {
    /// The label of the configuration, or the name of what owns the connection.
    public var description: String { label }
}
