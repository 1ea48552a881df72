import CipherStore
import SyncWire

/// Keeps sums of hashes of all versions, by table and column, so that replicas can tell in a
/// handshake whether they hold the same.
///
/// A sum has a member for each row that exists (its key, life and base) and for each cell. What
/// a fold adds is not summed at once: its numbers are above the last that was summed, so it is
/// found by the index of the feed when somebody asks (``catchUp()``). What a fold or a merge
/// replaces is taken out before it is gone, and a merge, which has each row at hand anyway, adds
/// what it writes. All of that is in the transaction of the change.
///
/// Sums hold for one identity of the file: a new one makes them anew, as does everything that
/// changes versions in another way (``invalidate(_:)``).
final class DigestLedger {
    static let schema = """
        CREATE TABLE _sync_digest (
            tbl INTEGER NOT NULL,
            col INTEGER NOT NULL,
            n INTEGER NOT NULL,
            first INTEGER NOT NULL,
            second INTEGER NOT NULL,
            PRIMARY KEY (tbl, col)
        ) WITHOUT ROWID;

        """

    /// A table, and one of its columns, or ``rows``.
    struct Part: Hashable {
        let table: Int64
        let column: Int
    }

    /// The column number of sums of rows.
    static let rows = -1

    private static let replicaName = "digest.replica"
    private static let sequenceName = "digest.sequence"

    private let db: Database
    private let hasher: StateHasher
    private let selfNumber: Int64
    /// The last of our changes that is here.
    private let sequence: Int64
    /// The last of our changes that is summed; nil when the sums don't hold.
    private var summed: Int64?
    private var replicas: [ReplicaID?] = []
    private var changes: [Part: DigestSum] = [:]
    /// Finds the cells of the rows that a fold works on, if these have some.
    private var foldedCells: String?

    init(_ db: Database, _ metadata: StoreMetadata) throws {
        self.db = db
        hasher = StateHasher(store: metadata.store)
        selfNumber = metadata.selfNumber
        sequence = metadata.replicas.first { $0.sid == metadata.selfNumber }?.sequence ?? 0
        for replica in metadata.replicas { register(replica.id, as: replica.sid) }
        if try SyncSetting.integer(db, Self.replicaName) == selfNumber {
            summed = try SyncSetting.integer(db, Self.sequenceName)
        }
    }

    /// Whether there are sums, if not of the newest changes.
    var isValid: Bool { summed != nil }

    /// Whether the sums are those of everything that has a version.
    var isCurrent: Bool { summed == sequence }

    /// Forgets all sums; the next handshake makes them anew.
    static func invalidate(_ db: Database) throws {
        try SyncSetting.set(db, replicaName, nil as Int64?)
    }

    /// Forgets all sums, and what was to be added to them.
    func invalidate() throws {
        summed = nil
        changes = [:]
        try Self.invalidate(db)
    }

    /// Takes note of a replica.
    func register(_ replica: ReplicaID, as number: Int64) {
        // Numbers are given from 1 on; one that is far beyond is no number.
        guard number >= 0, number < 1 << 24 else { return }
        while replicas.count <= Int(number) { replicas.append(nil) }
        replicas[Int(number)] = replica
    }

    // MARK: Single members

    /// Whether a version of this replica and number is in the sums.
    @inline(__always)
    private func isSummed(_ replica: Int64, _ sequence: Int64) -> Bool {
        guard let summed else { return false }
        return replica != selfNumber || sequence <= summed
    }

    @inline(__always)
    private func replica(_ number: Int64) throws -> ReplicaID {
        guard number >= 0, number < replicas.count, let id = replicas[Int(number)] else {
            throw SyncError(.damagedMetadata, "a stamp names replica \(number), which is not known")
        }
        return id
    }

    /// Adds a row that exists, or takes it out.
    @inline(__always)
    func row(
        _ table: Int64, _ key: RowKey, life: Int64, _ stamp: VersionTable.LocalStamp, isAdded: Bool
    ) throws {
        guard life & 1 == 1, isSummed(stamp.replica, stamp.sequence) else { return }
        let hash = hasher.row(
            key.bytes, isText: key.isText, life: life, timestamp: stamp.timestamp,
            replica: try replica(stamp.replica))
        change(Part(table: table, column: Self.rows), hash, isAdded)
    }

    /// Adds a cell of a row that exists, or takes it out.
    func cell(
        _ table: Int64, _ key: RowKey, column: Int, _ stamp: VersionTable.LocalStamp, isAdded: Bool
    ) throws {
        guard isSummed(stamp.replica, stamp.sequence) else { return }
        let hash = hasher.cell(
            key.bytes, isText: key.isText, timestamp: stamp.timestamp, replica: try replica(stamp.replica))
        change(Part(table: table, column: column), hash, isAdded)
    }

    @inline(__always)
    private func change(_ part: Part, _ hash: DigestSum, _ isAdded: Bool) {
        if isAdded {
            changes[part, default: DigestSum()] += hash
        } else {
            changes[part, default: DigestSum()] -= hash
        }
    }

    // MARK: Many members

    /// Takes out what a fold is about to replace, as far as it is summed: the bases of rows that
    /// begin or end a life, and the cells of all rows that the log names.
    func beginFold() throws {
        assert(changes.isEmpty && foldedCells == nil, "a fold was begun before")
        guard isValid else { return }
        try scan(
            """
            SELECT f.tbl, f.pk, s.hlc, s.sid, s.oseq, s.cl
            FROM temp._sync_fold AS f CROSS JOIN _sync_row AS s ON s.r = f.r
            WHERE f.turns > 0 OR f.cl & 1 <> f.alive
            """, ofCells: false, false)
        try takeOutCells(
            """
            SELECT f.tbl, f.pk, c.hlc, c.sid, c.oseq, c.col
            FROM temp._sync_fold AS f CROSS JOIN _sync_cell AS c ON c.r = f.r
            """)
    }

    /// The same, for a fold that only updates rows that are known.
    func beginFold(ofKnownRowsAfter folded: Int64) throws {
        assert(changes.isEmpty, "what is to be summed is of something else than a fold")
        guard isValid else { return }
        try takeOutCells(
            """
            SELECT l.tbl, l.pk, c.hlc, c.sid, c.oseq, c.col
            FROM (SELECT DISTINCT tbl, pk FROM _sync_log WHERE seq > \(folded)) AS l
            CROSS JOIN _sync_row AS r ON r.tbl = l.tbl AND r.pk = l.pk
            CROSS JOIN _sync_cell AS c ON c.r = r.r
            """)
    }

    private func takeOutCells(_ sql: String) throws {
        guard try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_cell)") == true else { return }
        foldedCells = try scan(sql, ofCells: true, false) > 0 ? sql : nil
    }

    /// Adds the cells again that the fold left as they were. Those that it wrote are above what is summed.
    func endFold() throws {
        assert(foldedCells == nil || isValid, "cells were taken out of no sums")
        if let foldedCells { try scan(foldedCells, ofCells: true, true) }
        try flush()
    }

    /// Adds the versions that a query finds, or takes them out.
    ///
    /// - returns: How many it found.
    @discardableResult
    private func scan(_ sql: String, ofCells: Bool, _ isAdded: Bool) throws -> Int {
        let statement = try db.makeStatement(sql: sql)
        defer { statement.reset() }
        let raw = statement.sqliteStatement
        var count = 0
        while try statement.step() {
            count += 1
            let isText = RawColumn.storageClass(raw, 1) == RawColumn.textClass
            let key = RowKey(bytes: isText ? RawColumn.text(raw, 1) : RawColumn.blob(raw, 1), isText: isText)
            let stamp = VersionTable.LocalStamp(
                timestamp: RawColumn.int64(raw, 2), replica: RawColumn.int64(raw, 3),
                sequence: RawColumn.int64(raw, 4))
            let table = RawColumn.int64(raw, 0)
            if ofCells {
                try cell(table, key, column: Int(RawColumn.int64(raw, 5)), stamp, isAdded: isAdded)
            } else {
                try row(table, key, life: RawColumn.int64(raw, 5), stamp, isAdded: isAdded)
            }
        }
        return count
    }

    /// Adds everything that is not in the sums yet. The log must be folded.
    func catchUp() throws {
        let first = summed
        guard first == nil || sequence > first ?? 0 else { return try flush() }
        if first == nil {
            changes = [:]
            try db.execute(sql: "DELETE FROM _sync_digest")
        }
        summed = sequence
        let isNew = first.map { "WHERE x.sid = \(selfNumber) AND x.oseq > \($0)" } ?? ""
        try scan(
            "SELECT x.tbl, x.pk, x.hlc, x.sid, x.oseq, x.cl FROM _sync_row AS x \(isNew)", ofCells: false,
            true)
        try scan(
            """
            SELECT s.tbl, s.pk, x.hlc, x.sid, x.oseq, x.col
            FROM _sync_cell AS x CROSS JOIN _sync_row AS s ON s.r = x.r AND s.cl & 1 \(isNew)
            """, ofCells: true, true)
        try flush()
        try SyncSetting.set(db, Self.replicaName, selfNumber)
        try SyncSetting.set(db, Self.sequenceName, sequence)
        assert(isCurrent && changes.isEmpty)
    }

    // MARK: The sums

    /// Writes what has changed.
    func flush() throws {
        guard isValid else {
            changes = [:]
            return
        }
        for (part, change) in changes where !change.isZero {
            try db.execute(
                sql: "INSERT OR IGNORE INTO _sync_digest (tbl, col, n, first, second) VALUES (?, ?, 0, 0, 0)",
                arguments: [part.table, part.column])
            // SQL's addition turns what is too large into a floating-point number.
            var sum = try sum(of: part)
            sum += change
            try db.execute(
                sql: "UPDATE _sync_digest SET n = ?, first = ?, second = ? WHERE tbl = ? AND col = ?",
                arguments: [
                    sum.count, Int64(bitPattern: sum.first), Int64(bitPattern: sum.second), part.table,
                    part.column,
                ])
        }
        changes = [:]
    }

    private func sum(of part: Part) throws -> DigestSum {
        let row = try Row.fetchOne(
            db, sql: "SELECT n, first, second FROM _sync_digest WHERE tbl = ? AND col = ?",
            arguments: [part.table, part.column])
        return try row.map { try Self.sum($0, at: 0) } ?? DigestSum()
    }

    private static func sum(_ row: Row, at index: Int) throws -> DigestSum {
        DigestSum(
            count: try row.decode(atIndex: index),
            first: UInt64(bitPattern: try row.decode(Int64.self, atIndex: index + 1)),
            second: UInt64(bitPattern: try row.decode(Int64.self, atIndex: index + 2)))
    }

    /// The sums that are kept, without those of nothing.
    func sums() throws -> [Part: DigestSum] {
        var sums: [Part: DigestSum] = [:]
        for row in try Row.fetchAll(db, sql: "SELECT tbl, col, n, first, second FROM _sync_digest") {
            let sum = try Self.sum(row, at: 2)
            guard !sum.isZero else { continue }
            sums[Part(table: try row.decode(atIndex: 0), column: try row.decode(atIndex: 1))] = sum
        }
        return sums
    }

    /// What the sums would have to be, as far as they go; nothing is written.
    func recomputed() throws -> [Part: DigestSum] {
        precondition(changes.isEmpty)
        defer { changes = [:] }
        try scan(
            "SELECT x.tbl, x.pk, x.hlc, x.sid, x.oseq, x.cl FROM _sync_row AS x", ofCells: false, true)
        try scan(
            """
            SELECT s.tbl, s.pk, x.hlc, x.sid, x.oseq, x.col
            FROM _sync_cell AS x CROSS JOIN _sync_row AS s ON s.r = x.r AND s.cl & 1
            """, ofCells: true, true)
        return changes.filter { !$0.value.isZero }
    }
}
