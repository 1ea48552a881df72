import Dispatch
import Foundation

/// A pool of connections to one file: one that writes, and readers beside it
/// that never wait for the writer.
///
/// ```swift
/// let dbPool = try DatabasePool(path: "notes.db", configuration: configuration)
/// ```
///
/// The file is put into WAL mode. Each read sees one state of the database,
/// whatever is written meanwhile. The key of an encrypted database is derived
/// once for all connections. Only the writer checkpoints: in SQLite before
/// 3.51.3, two connections that checkpoint and write at one moment may damage
/// the file.
///
/// Related SQLite documentation: <https://www.sqlite.org/wal.html>
public final class DatabasePool: DatabaseWriter {
    let writer: SerializedDatabase
    let readerPool: ReaderPool

    /// The fetches of observations.
    let readerRounds: ReaderRounds
    let readerConfiguration: Configuration
    let keyCache = KeyCache()
    private let suspension: SuspensionObserver?
    private let counters = Lock(Counters())

    private struct Counters {
        var reader = 0
        var snapshot = 0
        var isClosed = false
        /// The identity of the writer's file.
        var fileIdentity: FileIdentity?
    }

    /// The configuration of the pool.
    public let configuration: Configuration

    /// The path of the database file.
    public let path: String

    /// Opens or creates the database at a path, in WAL mode.
    ///
    /// - throws: A ``DatabaseError``; for a wrong passphrase its code is
    ///   `SQLITE_NOTADB`. A ``StoreError`` for a missing file and the like.
    public init(path: String, configuration: Configuration = Configuration()) throws {
        guard configuration.maximumReaderCount > 0 else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "Configuration.maximumReaderCount must be at least 1")
        }
        guard DatabasePath(path).isFile else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "a pool needs a file; use DatabaseQueue for a database in memory")
        }
        self.path = path
        self.configuration = configuration
        let writerConfiguration = configuration.ofWriter
        writer = try SerializedDatabase(
            path: path, configuration: writerConfiguration, keyCache: keyCache,
            label: Self.label(configuration, "writer"))
        if !configuration.readonly { try writer.sync { try $0.requireWAL() } }
        readerConfiguration = configuration.ofReader
        readerPool = ReaderPool(capacity: configuration.maximumReaderCount)
        readerRounds = ReaderRounds(readerCount: configuration.maximumReaderCount)
        suspension = Self.observeSuspension(configuration, writer, readerPool)
        counters.withLock { $0.fileIdentity = writer.fileIdentity }
    }

    // The writer is the last connection to close, see `close()`.
    deinit { readerPool.invalidate() }

    private static func observeSuspension(
        _ configuration: Configuration, _ writer: SerializedDatabase, _ readerPool: ReaderPool
    ) -> SuspensionObserver? {
        guard configuration.observesSuspensionNotifications else { return nil }
        return SuspensionObserver(
            suspend: {
                writer.suspend()
                readerPool.setSuspended(true)
            },
            resume: {
                writer.resume()
                readerPool.setSuspended(false)
            })
    }

    /// How many key derivations the pool has paid for.
    package var keyDerivationCount: Int { keyCache.derivationCount }

    // MARK: Connections

    /// Opens a reading connection.
    func makeReader() throws -> SerializedDatabase {
        let number = try nextNumber(\.reader)
        return try open(label: "reader.\(number)", configuration: readerConfiguration)
    }

    /// Opens the connection of a snapshot.
    func makeSnapshotReader() throws -> SerializedDatabase {
        let number = try nextNumber(\.snapshot)
        return try open(label: "snapshot.\(number)", configuration: readerConfiguration)
    }

    private func nextNumber(_ counter: WritableKeyPath<Counters, Int>) throws -> Int {
        try counters.withLock { counters in
            if counters.isClosed { throw Self.closedError }
            counters[keyPath: counter] += 1
            return counters[keyPath: counter]
        }
    }

    private static func label(_ configuration: Configuration, _ connection: String) -> String {
        "\(configuration.label ?? "CipherStore.DatabasePool").\(connection)"
    }

    private func open(label: String, configuration: Configuration) throws -> SerializedDatabase {
        let reader = try SerializedDatabase(
            path: path, file: writer.filePath, configuration: configuration, keyCache: keyCache,
            label: Self.label(configuration, label), isReader: true)
        // A reader of another file than the writer's would read something else.
        guard counters.withLock({ $0.fileIdentity }) == reader.fileIdentity else {
            throw Database.replacedFileError(path: path)
        }
        return reader
    }

    static var closedError: DatabaseError {
        DatabaseError(resultCode: .SQLITE_MISUSE, message: "Connection is closed")
    }

    var isClosed: Bool { counters.withLock { $0.isClosed } }

    // MARK: Closing and memory

    /// Closes all connections. Later accesses throw `SQLITE_MISUSE`; closing again does nothing.
    ///
    /// - throws: A ``DatabaseError`` of code `SQLITE_BUSY` when a statement or
    ///   cursor still lives. If it is one of the writer, the pool stays open; if
    ///   it is one of a reader, the pool is closed, and the reader's connection
    ///   goes when the statement does.
    public func close() throws {
        let readers: [SerializedDatabase] = try withBarrier {
            try writer.reentrantSync { try $0.requireNoStatement() }
            counters.withLock { $0.isClosed = true }
            defer { readerPool.invalidate() }
            return readerPool.readers
        }
        // The barrier is over: with a serial target queue, an access to a reader
        // can't run inside of one to the writer. The writer comes last, because
        // the last connection removes the WAL, and readers can't.
        let result = Result { try Self.close(readers) }
        try writer.close()
        try result.get()
    }

    private static func close(_ readers: [SerializedDatabase]) throws {
        var firstError: (any Error)?
        for reader in readers {
            do {
                try reader.close()
            } catch {
                firstError = firstError ?? error
                reader.dispose()
            }
        }
        if let firstError { throw firstError }
    }

    /// Changes the key of the file, and goes on with connections to the new file.
    func changeKey(_ secret: Secret, _ progress: StoreProgressHandler?) throws {
        if writer.isHeld || readerPool.heldReader != nil { throw Database.changeInAccessError }
        try writer.exchange { db in
            try withBarrier {
                readerPool.closeReaders()
                let new = try OpenStoreRekey(db: db, secret: secret, progress: progress).run()
                if let new { counters.withLock { $0.fileIdentity = new.fileIdentity } }
                return new
            }
        }
    }

    /// Runs a closure on the writer while no reader is in use.
    ///
    /// The writer comes first, always: a write that waits for a reader must
    /// find the readers free of barriers that wait for the writer.
    ///
    /// - throws: What the closure throws; a ``DatabaseError`` of code
    ///   `SQLITE_BUSY` when a read waits for the writer.
    func withBarrier<T>(_ body: () throws -> T) throws -> T {
        try withWriter(isReentrant: true) { _ in
            if readerPool.isBarrierRunning { return try body() }
            if readerPool.heldReader != nil {
                fatalError("Database methods are not reentrant: a read can't wait for the end of all reads")
            }
            guard readerPool.beginBarrier() else {
                throw DatabaseError(
                    resultCode: .SQLITE_BUSY,
                    message: "a read waits for a write, which can't wait for the end of all reads; try again")
            }
            defer { readerPool.endBarrier() }
            return try body()
        }
    }

    /// Runs a block on the writer and waits for it, also from inside of a read.
    ///
    /// - parameter isReentrant: Whether the thread may already hold the writer.
    func withWriter<T>(isReentrant: Bool = false, _ body: (Database) throws -> T) rethrows -> T {
        let isBlocked = SerializedDatabase.isInAccess && !writer.isHeld && readerPool.heldReader != nil
        if isBlocked { readerPool.beginWaitForWriter() }
        if isReentrant && writer.isHeld { return try writer.reentrantSync(body) }
        return try writer.sync { db in
            if isBlocked { readerPool.endWaitForWriter() }
            return try body(db)
        }
    }

    /// Interrupts the statements that are running on any connection of the pool.
    public func interrupt() {
        writer.interrupt()
        for reader in readerPool.readers { reader.interrupt() }
    }

    /// Frees as much memory as possible: it waits for the accesses that are
    /// running, and closes the readers unless
    /// ``Configuration/persistentReadOnlyConnections`` is set. Inside of a read it
    /// waits for no other one, and the readers follow after theirs.
    public func releaseMemory() {
        withWriter(isReentrant: true) { $0.releaseMemory() }
        // Two reads that waited for each other would do so for ever.
        if readerPool.heldReader != nil { return releaseReadersEventually() }
        if configuration.persistentReadOnlyConnections {
            for reader in readerPool.readers { reader.reentrantSync { $0.releaseMemory() } }
        } else {
            // Where the readers can't be waited for, they close after their accesses.
            do {
                try withBarrier { readerPool.invalidate() }
            } catch {
                readerPool.invalidate()
            }
        }
    }

    /// Frees as much memory as possible, eventually: accesses that are running
    /// go on, and their connections close after them.
    public func releaseMemoryEventually() {
        writer.async { $0.releaseMemory() }
        releaseReadersEventually()
    }

    private func releaseReadersEventually() {
        if configuration.persistentReadOnlyConnections {
            for reader in readerPool.readers { reader.async { $0.releaseMemory() } }
        } else {
            readerPool.invalidate()
        }
    }

    /// Closes the reading connections: reads that start from now on open new
    /// ones. Reads that are running go on.
    ///
    /// Call it after a change that open connections can't see, such as a change
    /// of the passphrase.
    public func invalidateReadOnlyConnections() { readerPool.invalidate() }
}

extension Database {
    /// Throws when the file could not be put into WAL mode, on which the
    /// isolation of a pool's reads rests.
    func requireWAL() throws {
        guard self.mode == .ordinary else {
            throw withReasonNotToWrite(
                DatabaseError(
                    resultCode: .SQLITE_READONLY, message: "attempt to write a readonly database"))
        }
        guard let mode = try String.fetchOne(self, sql: "PRAGMA journal_mode"), mode != "wal" else { return }
        throw DatabaseError(
            resultCode: .SQLITE_CANTOPEN,
            message:
                "could not activate WAL mode (the journal mode is '\(mode)'): another connection may be using the file, or its file system lacks shared memory"
        )
    }
}
