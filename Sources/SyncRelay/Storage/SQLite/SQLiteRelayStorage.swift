import CipherStore
import Crypto
import Dispatch
import Foundation
import Synchronization

/// Keeps the channels of a relay in one SQLite file.
///
/// ```swift
/// let storage = try SQLiteRelayStorage(path: "relay.db")
/// ```
///
/// The file is not encrypted: the files of channels are, by keys that no relay has. Only its owner can read it. It has the
/// private key of the relay's certificate, and no token. One relay opens it at a time; another one is refused.
///
/// Each change is on the disk when it is answered. Changes that come at one moment are written by one commit.
public final class SQLiteRelayStorage: RelayStorage {
    /// Bounds of a storage.
    public struct Options: Sendable {
        /// The most bytes of a channel: 1 GiB.
        public var channelByteCountMax: Int64 = 1 << 30
        /// The most files of a channel: 100,000.
        public var channelFileCountMax = RelayBounds.fileCountMax
        /// The most channels: 100,000.
        public var channelCountMax: Int64 = 100_000
        /// The most connections that read at a time.
        public var readerCountMax = 4
        /// The time, in milliseconds since 1970.
        public var milliseconds: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1000) }

        /// Makes the default options.
        public init() {}
    }

    /// The path of the file.
    public let path: String
    let options: Options
    let pool: DatabasePool
    let queue: CommitQueue
    let feed = ChannelFeed()
    /// Uploads that could not be given up. Their numbers are used for nothing else while this storage is open.
    let leftUploads = Mutex<Set<Int64>>([])
    private let lock: StorageLock
    /// What makes the epochs of this opening of the file other ones than those of all before.
    private let opening: [UInt8]
    /// The number of the last body. It is not used again while this storage is open, so that nobody who reads a body gets
    /// the bytes of another one.
    private let lastBody: Atomic<Int64>
    private let readers = DispatchQueue(label: "SyncRelay.SQLiteRelayStorage", attributes: .concurrent)

    /// Opens a storage, or makes it.
    ///
    /// - parameters:
    ///     - path: The path of the file. SQLite keeps two more beside it, and this type one that is locked.
    ///     - options: Bounds.
    /// - throws: ``RelayStorageError``.
    public init(path: String, options: Options = Options()) throws {
        self.path = path
        self.options = options
        let lock = try StorageLock(path: path)
        self.lock = lock
        do {
            let pool = try RelaySchema.open(path: path, readerCountMax: options.readerCountMax)
            lastBody = Atomic(try RelaySchema.prepare(pool, path: path))
            self.pool = pool
        } catch let error as RelayStorageError where error.code == .notAStorage {
            lock.giveUp()
            throw error
        }
        opening = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
        queue = CommitQueue(pool, leisure: { try RelaySpace.doSlice($0, after: $1) })
        queue.noteLeisureWork()
    }

    /// Closes the file, when what is being written is done. Later calls throw.
    ///
    /// - throws: `DatabaseError` when it is being read; it is open then.
    public func close() throws {
        queue.drain()
        try pool.close()
        lock.release()
    }

    // MARK: Access

    /// Reads in one snapshot, on a thread that may block.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            readers.async { [pool] in
                continuation.resume(
                    with: Result { try pool.read(body) }.mapError { RelayProblem(storage: $0) })
            }
        }
    }

    /// A number for a body.
    func nextBody() throws -> Int64 {
        let number = lastBody.add(1, ordering: .relaxed).newValue
        guard number <= RelaySchema.bodyMax else {
            throw RelayProblem(.unavailable, "the storage has no numbers left for files")
        }
        return number
    }

    /// The epoch of a channel that was born with some bytes.
    func epoch(_ birth: Data) throws -> RelayEpoch {
        var hash = SHA256()
        hash.update(data: opening)
        hash.update(data: birth)
        guard let epoch = RelayEpoch(bytes: Array(hash.finalize().prefix(16))) else {
            throw RelayProblem(.unavailable, "an epoch could not be made")
        }
        return epoch
    }

    func moment(_ row: ChannelRow) throws -> RelayMoment {
        RelayMoment(epoch: try epoch(row.birth), position: row.position)
    }

    // MARK: The relay

    /// Keeps a value of the relay itself in the file, unless there is one of that name.
    ///
    /// - parameters:
    ///     - value: The value.
    ///     - name: Its name.
    /// - returns: The value that is kept.
    /// - throws: ``RelayProblem``: `busy`, `unavailable`.
    public func keep(_ value: Data, as name: String) async throws -> Data {
        try await queue.run { db in
            try db.run("INSERT OR IGNORE INTO kept (name, value) VALUES (?, ?)", [name, value])
            guard let kept = try Self.kept(db, name) else {
                throw RelayProblem(.unavailable, "a value could not be kept")
            }
            return kept
        }
    }

    /// The value that is kept in the file under a name; nil when there is none.
    ///
    /// - parameter name: The name.
    /// - throws: ``RelayProblem`` of code `unavailable`.
    public func kept(_ name: String) async throws -> Data? {
        try await read { try Self.kept($0, name) }
    }

    private static func kept(_ db: Database, _ name: String) throws -> Data? {
        try db.row("SELECT value FROM kept WHERE name = ?", [name])?.decode(Data.self, atIndex: 0)
    }

    /// How much there is, by the sums of all channels. What is taken on the disk is the size of the file.
    ///
    /// - throws: ``RelayProblem`` of code `unavailable`.
    public func figures() async throws -> RelayStorageFigures {
        try await read { db in
            // As they may be in a file that another program wrote to, they could overflow.
            let sums = try db.row(
                """
                SELECT count(*), coalesce(sum(min(max(fileCount, 0), ?1)), 0),
                    coalesce(sum(min(max(byteCount, 0), ?1)), 0) FROM channel
                """, [RelayBounds.sumMax])
            let pages = try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            let pageByteCount = try Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 0
            return RelayStorageFigures(
                channelCount: try sums?.decode(Int64.self, atIndex: 0) ?? 0,
                fileCount: try sums?.decode(Int64.self, atIndex: 1) ?? 0,
                byteCount: try sums?.decode(Int64.self, atIndex: 2) ?? 0,
                storageByteCount: pages * pageByteCount)
        }
    }

    /// Removes invitations that have expired, uploads that were not written for a quarter of an hour, and those that could
    /// not be given up before. Their blocks go later, in slices.
    ///
    /// - throws: ``RelayProblem``: `busy`, `unavailable`.
    public func tidy() async throws {
        let now = options.milliseconds()
        try await queue.run { db in
            try db.run("DELETE FROM invitation WHERE expiry <= ?", [now])
            try RelaySpace.abandonUploads(db, before: now - RelayBounds.uploadMilliseconds)
        }
        let left = leftUploads.withLock { $0 }
        if !left.isEmpty {
            try await queue.run { db in for body in left { try RelaySpace.abandonUpload(db, body) } }
            leftUploads.withLock { $0.subtract(left) }
        }
        queue.noteLeisureWork()
    }
}
