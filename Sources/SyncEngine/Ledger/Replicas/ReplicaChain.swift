import CipherStore
import SyncWire

/// The chains of replicas, as far as they are known here: our own, and those of others
/// as they came with their changes.
///
/// A version vector only ever names points of a chain. So one that names another number
/// than the chain has there, or has another hash for it, comes from another copy of the
/// replica's file, even when both copies made the same number of changes.
struct ReplicaChain {
    static let schema = """
        CREATE TABLE _sync_chain (
            sid INTEGER NOT NULL,
            oseq INTEGER NOT NULL,
            previous INTEGER NOT NULL,
            hash BLOB NOT NULL,
            PRIMARY KEY (sid, oseq)
        ) WITHOUT ROWID;

        """

    /// What a chain says about a point of somebody else's.
    enum Finding { case same, fork, unknown }

    /// So many of the newest points of each replica are all kept; of the older ones, ever fewer.
    private static let denseCount = 128
    /// A fold adds so many points at most.
    private static let addedPointCountMax: Int64 = 4096
    /// So many log entries, at most, go into a hash.
    private static let hashedEntryCountMax = 256

    let db: Database

    // MARK: Our own

    /// Adds the point at which a fold ends, and some on the way to it when it is long: a bundle ends at a point.
    ///
    /// The hash holds what was written, so that copies of one file differ as soon as they
    /// are used differently, and a random number, so that they differ even if not.
    ///
    /// - parameters:
    ///     - last: The last entry of the log.
    ///     - tables: The tables that are in the file, with the names that they have there.
    func append(
        _ metadata: StoreMetadata, upTo last: Int64, rowsOf tables: [SyncedTable],
        _ environment: SyncEnvironment
    ) throws {
        let sid = metadata.selfNumber
        let known = metadata.replicas.first { $0.sid == sid }?.sequence ?? 0
        var before = try point(of: sid, at: known)?.hash ?? metadata.replicaID()
        var previous = known
        // Other programs may write to these tables: what are no numbers of changes has no points in between.
        let span = known >= 0 && last > known ? last - known : 0
        let stride = max(environment.chainStride, span / Self.addedPointCountMax)
        assert(stride > 0, "there would be no end of points")
        while span > 0, last - previous > stride {
            let next = previous + stride
            assert(previous < next && next < last)
            let hash = Self.hash(next, after: before, environment)
            try insert(ChainPoint(sequence: next, previous: previous, hash: hash.value), of: sid)
            (before, previous) = (hash.value, next)
        }
        var hash = Self.hash(last, after: before, environment)
        try add(entriesAfter: metadata.folded, rowsOf: tables, to: &hash)
        try insert(ChainPoint(sequence: last, previous: previous, hash: hash.value), of: sid)
        try thin(sid)
    }

    private static func hash(
        _ sequence: Int64, after before: Identifier128, _ environment: SyncEnvironment
    ) -> ChainHash {
        var hash = ChainHash(after: before)
        hash.add(sequence)
        hash.add(environment.milliseconds())
        hash.add(environment.identifier().bytes)
        return hash
    }

    /// Takes in the newest entries of the log, and the rows that they name.
    private func add(
        entriesAfter folded: Int64, rowsOf tables: [SyncedTable], to hash: inout ChainHash
    ) throws {
        let entries = try Row.fetchAll(
            db,
            sql: "SELECT seq, tbl, op, pk, mask, ms FROM _sync_log WHERE seq > ? ORDER BY seq DESC LIMIT ?",
            arguments: [folded, Self.hashedEntryCountMax])
        var rows: [Int64: Statement] = [:]
        for table in tables {
            rows[table.number] = try db.cachedStatement(
                sql: "SELECT * FROM \(table.qualifiedName) WHERE \(table.keyMatch("?1"))")
        }
        for entry in entries {
            for value in entry.databaseValues { hash.add(value) }
            guard let statement = rows[try entry.decode(atIndex: 1)] else { continue }
            let key: DatabaseValue = try entry.decode(atIndex: 3)
            let row = try Row.fetchOne(statement, arguments: [key])
            for value in row?.databaseValues ?? [] { hash.add(value) }
        }
    }

    // MARK: All

    private func point(_ row: Row) throws -> ChainPoint {
        ChainPoint(
            sequence: try row.decodeStrictly(atIndex: 0), previous: try row.decodeStrictly(atIndex: 1),
            hash: try StoreMetadata.identifier(row.decodeStrictly(atIndex: 2)))
    }

    /// The point at a number.
    func point(of sid: Int64, at sequence: Int64) throws -> ChainPoint? {
        let statement = try db.cachedStatement(
            sql: "SELECT oseq, previous, hash FROM _sync_chain WHERE sid = ? AND oseq = ?")
        let row = try Row.fetchOne(statement, arguments: [sid, sequence])
        return try row.map { try point($0) }
    }

    /// Says whether a point is one of the chain.
    func find(_ other: ChainPoint, of sid: Int64) throws -> Finding {
        switch try position(other.sequence, of: sid) {
        case .point(let hash): hash == other.hash ? .same : .fork
        case .between: .fork
        case .unknown: .unknown
        }
    }

    /// Says whether the chain goes through a number, when its hash is not known.
    func passes(_ sequence: Int64, of sid: Int64) throws -> Bool {
        if case .between = try position(sequence, of: sid) { return false }
        return true
    }

    private enum Position {
        case point(Identifier128)
        case between, unknown
    }

    private func position(_ sequence: Int64, of sid: Int64) throws -> Position {
        let statement = try db.cachedStatement(
            sql: """
                SELECT oseq, previous, hash FROM _sync_chain WHERE sid = ? AND oseq >= ? ORDER BY oseq LIMIT 1
                """)
        let row = try Row.fetchOne(statement, arguments: [sid, sequence])
        guard let next = try row.map({ try point($0) }) else { return .unknown }
        if next.sequence == sequence { return .point(next.hash) }
        return next.previous < sequence ? .between : .unknown
    }

    /// Keeps a point of another replica's chain.
    func insert(_ point: ChainPoint, of sid: Int64) throws {
        try db.execute(
            sql: "INSERT OR IGNORE INTO _sync_chain (sid, oseq, previous, hash) VALUES (?, ?, ?, ?)",
            arguments: [sid, point.sequence, point.previous, point.hash.data])
    }

    /// The points to tell of all replicas.
    ///
    /// - parameters:
    ///     - reach: The last change of each replica that is told of.
    ///     - base: What the peer knows, around which it needs the points; nil when that is not known.
    func points(
        _ metadata: StoreMetadata, upTo reach: VersionVector, peer base: VersionVector?
    ) throws -> [ReplicaID: [ChainPoint]] {
        // One statement for all: one for each replica takes longer than what it reads. Other programs may write to the
        // table: what is no number of a change sorts behind all numbers.
        let statement = try db.cachedStatement(
            sql: """
                SELECT oseq, previous, hash, sid FROM _sync_chain
                WHERE sid IN (SELECT sid FROM _sync_replica) AND oseq <= ? ORDER BY sid, oseq
                """)
        let replicas = Dictionary(
            metadata.replicas.map { ($0.sid, $0.id) }, uniquingKeysWith: { first, _ in first })
        var points: [ReplicaID: [ChainPoint]] = [:]
        var told: (replica: ReplicaID, points: [ChainPoint])?
        func conclude() {
            guard let (replica, all) = told, !all.isEmpty else { return }
            points[replica] =
                base.map { Self.points(of: all, around: $0[replica]) } ?? Self.locator(of: all)
        }
        // Of one replica at a time, so that they take no more memory the more there are.
        let cursor = try Row.fetchCursor(statement, arguments: [Int64.max])
        while let row = try cursor.next() {
            guard let replica = replicas[try row.decodeStrictly(atIndex: 3)], reach[replica] > 0 else {
                continue
            }
            if told?.replica != replica {
                conclude()
                told = (replica, [])
            }
            if try row.decodeStrictly(Int64.self, atIndex: 0) <= reach[replica] {
                told?.points.append(try point(row))
            }
        }
        conclude()
        assert(
            points.allSatisfy { replica, points in points.allSatisfy { $0.sequence <= reach[replica] } },
            "a point is told beyond what is sent")
        return points
    }

    /// Points by which another replica finds the last one that it has in common with us,
    /// newest first: the last ones, and then ever fewer (as Bitcoin's block locators).
    ///
    /// - parameter chain: The points of one replica, from the oldest on.
    private static func locator(of chain: [ChainPoint]) -> [ChainPoint] {
        var points: [ChainPoint] = []
        var index = chain.count - 1
        var step = 1
        while index >= 0 {
            points.append(chain[index])
            if points.count >= 4 { step *= 2 }
            index -= step
        }
        if let oldest = chain.first, points.count > 1, oldest != points.last { points.append(oldest) }
        assert(points.isOrdered { $0.sequence > $1.sequence }, "a locator goes from the newest point back")
        return points
    }

    /// What a peer needs that knows the replica up to a number: the neighbours of that
    /// number, which prove whether it is a point, and a locator.
    private static func points(of chain: [ChainPoint], around known: Int64) -> [ChainPoint] {
        let before = chain.lastIndex { $0.sequence <= known } ?? 0
        return Set(chain[before...].prefix(2) + locator(of: chain)).sorted { $0.sequence > $1.sequence }
    }

    /// Forgets the points after the last one that two files have in common, which wrote under one replica id.
    func cut(_ sid: Int64, after common: Int64) throws {
        try db.execute(
            sql: "DELETE FROM _sync_chain WHERE sid = ? AND oseq > ?", arguments: [sid, common])
    }

    /// Forgets points at numbers of changes that no replica reaches.
    ///
    /// - returns: How many there were.
    func removeImplausible() throws -> Int64 {
        try db.execute(sql: "DELETE FROM main.\(ImplausibleMetadata.beyond("_sync_chain"))")
        return Int64(db.changesCount)
    }

    /// Forgets every second of the older points now and then.
    func thin(_ sid: Int64) throws {
        let count = try Int.fetchOne(
            db, sql: "SELECT count(*) FROM _sync_chain WHERE sid = ?", arguments: [sid])
        guard let count, count > Self.denseCount * 2 else { return }
        let older = try Int64.fetchAll(
            db, sql: "SELECT oseq FROM _sync_chain WHERE sid = ? ORDER BY oseq DESC LIMIT -1 OFFSET ?",
            arguments: [sid, Self.denseCount])
        for (index, sequence) in older.enumerated() where index % 2 == 0 {
            try db.execute(
                sql: "DELETE FROM _sync_chain WHERE sid = ? AND oseq = ?", arguments: [sid, sequence])
        }
    }
}

extension ChainHash {
    /// Takes a value in; of a long one, its length and its beginning.
    fileprivate mutating func add(_ value: DatabaseValue) {
        switch value.storage {
        case .null: add(Int64(0))
        case .int64(let number): add(number)
        case .double(let number): add(Int64(bitPattern: number.bitPattern))
        case .string(let text):
            add(Int64(text.utf8.count))
            add(Array(text.utf8.prefix(1024)))
        case .blob(let data):
            add(Int64(data.count))
            add(Array(data.prefix(1024)))
        }
    }
}
