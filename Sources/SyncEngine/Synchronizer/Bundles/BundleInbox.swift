import CipherStore
import Foundation
import SyncWire

/// Keeps the parts of a bundle as they come, in the store itself, until all are there: a transfer
/// that breaks goes on with what is missing, and nothing of it is applied before.
///
/// It is for transports whose connection can break. A file is read again instead, and two stores on
/// one machine need neither.
public struct BundleInbox: Sendable {
    /// How much of a bundle is here.
    public struct State: Equatable, Sendable {
        /// The bundle.
        public let identifier: [UInt8]
        /// The first chunk that is missing. Chunks after it may be here; when none is missing, the
        /// number of chunks that are.
        public let firstMissingChunk: UInt32
        /// The bytes of what is here, before compression.
        public let byteCount: Int64
        /// Whether all parts are here, and the bundle can be applied.
        public let isComplete: Bool
    }

    /// Bounds on what strangers can make a store keep.
    public struct Limits: Sendable {
        /// The most bytes of one bundle, before compression.
        public var byteCountMax: Int64 = 4 << 30
        /// The most bundles that are kept; the oldest one makes room.
        public var bundleCountMax = 4
        /// How long a bundle waits for its next part, in milliseconds.
        public var millisecondsMax: Int64 = 7 * 86_400_000

        /// Makes the default limits: 4 GiB, 4 bundles, 7 days.
        public init() {}

        /// The most chunks of one bundle: each takes its time while nobody else can write, however small it is, and ours have
        /// four times as many bytes.
        package var chunkCountMax: Int64 { max(1024, byteCountMax / (64 << 10)) }
    }

    /// Where the header and the end stand among the parts of a bundle; chunk n stands at n + 1.
    private static let headerPosition: Int64 = 0
    private static let endPosition: Int64 = 1 << 33
    /// The parts of bundle i stand from i << 34.
    private static let shift: Int64 = 34

    private let synchronizer: Synchronizer
    private let limits: Limits

    /// Makes the inbox of a store.
    public init(_ synchronizer: Synchronizer, limits: Limits = Limits()) {
        self.synchronizer = synchronizer
        self.limits = limits
    }

    var database: any DatabaseWriter { synchronizer.database }
    private var environment: SyncEnvironment { synchronizer.environment }

    /// Begins a bundle, or goes on with it, by its header's frame.
    ///
    /// - returns: What is here already. An unfinished bundle of the same sender with another header is
    ///   forgotten: its snapshot is no longer what the sender sends.
    /// - throws: ``SyncError``: `otherStore`, `missingChanges`; `WireError`; `DatabaseError`.
    public func begin(_ frame: UnsafeRawBufferPointer) throws -> State {
        guard case .header(let identifier) = try BundleParts.part(of: frame) else {
            throw WireError(.malformed, "a bundle begins with its header")
        }
        let header = try BundleParts.header(of: frame)
        let content = Data(frame)
        return try database.write { db in
            let metadata = try StoreMetadata.require(db)
            guard header.store == metadata.store else {
                throw SyncError(.otherStore, "the bundle belongs to another database")
            }
            guard metadata.vector.covers(header.base) else {
                throw SyncError(
                    .missingChanges, BundleReception.missing(header.base, in: metadata.vector))
            }
            if let id = try Self.find(db, identifier) { return try Self.state(db, id, identifier) }
            try Self.remove(db, "sender = ?", [header.sender.data])
            try Self.remove(db, "at < ?", [environment.milliseconds() - limits.millisecondsMax])
            try Self.remove(
                db, "id NOT IN (SELECT id FROM _sync_inbox ORDER BY at DESC, id DESC LIMIT ?)",
                [limits.bundleCountMax - 1])
            try db.execute(
                sql: "INSERT INTO _sync_inbox (bundle, sender, bytes, at) VALUES (?, ?, 0, ?)",
                arguments: [Data(identifier), header.sender.data, environment.milliseconds()])
            let id = db.lastInsertedRowID
            try self.insert(db, id, Self.headerPosition, content, content.count)
            return try Self.state(db, id, identifier)
        }
    }

    /// Keeps a chunk, or the end. A part that is here already changes nothing.
    ///
    /// - throws: `WireError`: a chunk that is damaged, a bundle that was not begun, or one that is
    ///   larger than the limit, or has far more chunks than its bytes need, which is forgotten; `DatabaseError`.
    @discardableResult
    public func add(_ frame: UnsafeRawBufferPointer, to identifier: [UInt8]) throws -> State {
        try add([Array(frame)], to: identifier)
    }

    /// Keeps parts in one transaction: all of them, or none.
    ///
    /// - throws: As ``add(_:to:)-(UnsafeRawBufferPointer,_)``.
    public func add(_ frames: some Sequence<[UInt8]>, to identifier: [UInt8]) throws -> State {
        let frames = Array(frames)
        return try add(to: identifier) { body in
            for frame in frames { try frame.withUnsafeBytes { try body($0) } }
        }
    }

    /// Keeps parts where they lie, in one transaction: all of them, or none.
    ///
    /// - parameter forEachFrame: Calls a closure with each frame. It is called twice.
    package func add(
        to identifier: [UInt8],
        _ forEachFrame: (_ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> State {
        // Checked before the transaction, in which others wait.
        var parts: [(position: Int64, byteCount: Int)] = []
        try forEachFrame { parts.append(try Self.position(of: $0)) }
        let isDivided = parts.contains {
            $0.position != Self.endPosition && $0.position > limits.chunkCountMax
        }
        if !isDivided, let state = try state(of: identifier, having: parts.map(\.position)) { return state }
        var isTooLarge = false
        let state: State? = try database.write { db in
            guard let id = try Self.find(db, identifier) else {
                throw WireError(.malformed, "the bundle was not begun, or waited too long")
            }
            if isDivided {
                try Self.remove(db, "id = ?", [id])
                return nil
            }
            var rest = parts[...]
            try forEachFrame { frame in
                guard let part = rest.popFirst(), try !Self.has(db, id, part.position) else { return }
                try self.insert(db, id, part.position, Data(frame), part.byteCount)
            }
            let bytes = try Int64.fetchOne(
                db, sql: "SELECT bytes FROM _sync_inbox WHERE id = ?", arguments: [id])
            if bytes ?? 0 > limits.byteCountMax {
                isTooLarge = true
                try Self.remove(db, "id = ?", [id])
                return nil
            }
            return try Self.state(db, id, identifier)
        }
        guard !isDivided else {
            throw WireError(.tooLarge, "the bundle has over \(limits.chunkCountMax) chunks")
        }
        guard let state, !isTooLarge else {
            throw WireError(.tooLarge, "the bundle has over \(limits.byteCountMax) bytes")
        }
        return state
    }

    private static func position(
        of frame: UnsafeRawBufferPointer
    ) throws -> (position: Int64, byteCount: Int) {
        switch try BundleParts.part(of: frame) {
        case .header: throw WireError(.malformed, "a bundle has one header")
        case .chunk(let number, let byteCount): (Int64(number) + 1, max(byteCount, frame.count))
        case .end: (endPosition, frame.count)
        }
    }

    /// Applies a bundle that is complete, and forgets its parts: both in one transaction.
    ///
    /// A bundle whose parts don't make a whole is forgotten, because its transfer has to begin anew.
    ///
    /// - throws: `WireError`, ``SyncError``, `DatabaseError`.
    public func apply(_ identifier: [UInt8]) throws -> ApplySummary {
        try apply(identifier) { _ in .unbounded }
    }

    /// The same for a bundle of a device.
    ///
    /// - parameter terms: Says in the bundle's transaction what its device may bring. It may throw.
    package func apply(
        _ identifier: [UInt8], on terms: (Database) throws -> UploadTerms
    ) throws -> ApplySummary {
        let isComplete = try database.read { db in
            try Self.find(db, identifier).map { try Self.state(db, $0, identifier).isComplete } ?? false
        }
        guard isComplete else { throw SyncError(.invalidBundle, "the bundle is not complete yet") }
        let peer = synchronizer.peer
        do {
            return try peer.receiveStored(on: terms) { db, sink in
                guard let id = try Self.find(db, identifier) else {
                    throw SyncError(.invalidBundle, "the bundle was not begun, or waited too long")
                }
                try Self.takeOut(db, id, sink)
                try Self.remove(db, "id = ?", [id])
            }
        } catch {
            let code = (error as? SyncError)?.code
            // What was refused may be sent anew with other rows under the same header.
            let isUnusable =
                error is WireError || code == .invalidBundle || code == .outsideScope
                || code == .capacityExceeded || code == .tooMuchAtOnce || code == .rowsMissing
            if isUnusable { try forget(identifier) }
            throw error
        }
    }

    // MARK: Tables

    /// Hands out the parts of a bundle in order. Each goes when it was handed out, so that the pages that it
    /// was in take up what is written next.
    private static func takeOut(
        _ db: Database, _ id: Int64, _ sink: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let statement = try db.makeStatement(
            sql: """
                SELECT frame, id FROM _sync_inbox_part WHERE id BETWEEN ? AND ? ORDER BY id LIMIT 1
                """)
        let raw = statement.sqliteStatement
        var position = id << shift
        while true {
            _ = RawBinding.int64(raw, 1, position)
            _ = RawBinding.int64(raw, 2, id << shift + endPosition)
            guard try statement.step() else { break }
            position = RawColumn.int64(raw, 1)
            try sink(RawColumn.blob(raw, 0))
            statement.reset()
            try db.execute(sql: "DELETE FROM _sync_inbox_part WHERE id = ?", arguments: [position])
        }
        statement.reset()
    }

    private func insert(
        _ db: Database, _ id: Int64, _ position: Int64, _ frame: Data, _ byteCount: Int
    ) throws {
        assert(
            (Self.headerPosition...Self.endPosition).contains(position), "it would be another bundle's part")
        try db.execute(
            sql: "INSERT INTO _sync_inbox_part (id, frame) VALUES (?, ?)",
            arguments: [id << Self.shift + position, frame])
        try db.execute(
            sql: "UPDATE _sync_inbox SET bytes = bytes + ?, at = ? WHERE id = ?",
            arguments: [byteCount, environment.milliseconds(), id])
    }

    static func find(_ db: Database, _ identifier: [UInt8]) throws -> Int64? {
        try Int64.fetchOne(
            db, sql: "SELECT id FROM _sync_inbox WHERE bundle = ?", arguments: [Data(identifier)])
    }

    static func has(_ db: Database, _ id: Int64, _ position: Int64) throws -> Bool {
        try Bool.fetchOne(
            db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_inbox_part WHERE id = ?)",
            arguments: [id << shift + position]) ?? false
    }

    static func remove(_ db: Database, _ condition: String, _ arguments: StatementArguments) throws {
        let ids = try Int64.fetchAll(
            db, sql: "SELECT id FROM _sync_inbox WHERE \(condition)", arguments: arguments)
        for id in ids {
            try db.execute(
                sql: "DELETE FROM _sync_inbox_part WHERE id BETWEEN ? AND ?",
                arguments: [id << shift, id << shift + endPosition])
            try db.execute(sql: "DELETE FROM _sync_inbox WHERE id = ?", arguments: [id])
        }
    }

    static func state(_ db: Database, _ id: Int64, _ identifier: [UInt8]) throws -> State {
        let first = id << shift + 1
        let last = id << shift + endPosition - 1
        // A chunk is the first missing one when it is gone and the part before it, or the header, is here.
        let missing = try Int64.fetchOne(
            db,
            sql: """
                SELECT min(p.id + 1) FROM _sync_inbox_part AS p WHERE p.id BETWEEN ? AND ?
                AND NOT EXISTS (SELECT 1 FROM _sync_inbox_part AS n WHERE n.id = p.id + 1)
                """, arguments: [first - 1, last])
        let end = try Data.fetchOne(
            db, sql: "SELECT frame FROM _sync_inbox_part WHERE id = ?", arguments: [id << shift + endPosition]
        )
        let count = (missing ?? first) - first
        assert(count >= 0)
        var isComplete = false
        if let end, case .end(let chunkCount) = try end.withUnsafeBytes({ try BundleParts.part(of: $0) }) {
            isComplete = chunkCount == UInt64(count)
        }
        let bytes = try Int64.fetchOne(
            db, sql: "SELECT bytes FROM _sync_inbox WHERE id = ?", arguments: [id])
        return State(
            identifier: identifier, firstMissingChunk: UInt32(clamping: count), byteCount: bytes ?? 0,
            isComplete: isComplete)
    }
}
