import CipherStore
import SyncWire

/// What a compaction may drop.
public struct CompactionOptions: Sendable {
    /// A replica of which nothing was heard for so many milliseconds is retired; nil retires
    /// none. The default is 90 days.
    public var leaseMilliseconds: Int64? = 90 * 24 * 60 * 60 * 1000
    /// How many changes the history keeps, from now on; nil leaves that as it is.
    public var historyCount: Int64?
    /// For how many milliseconds the history keeps changes, from now on; nil leaves that as it is.
    public var historyMilliseconds: Int64?
    /// Whether free pages are given back to the file system. That takes as much memory as the
    /// file is large, and as much disk again.
    public var reclaimsSpace = true

    /// Makes the default options.
    public init() {}
}

/// What a compaction dropped, or would drop.
public struct CompactionReport: Equatable, Sendable {
    /// The deletions that were forgotten, because every replica knows them.
    public internal(set) var forgottenDeletionCount: Int64 = 0
    /// The deletions that are still remembered.
    public internal(set) var keptDeletionCount: Int64 = 0
    /// The changes that left the history.
    public internal(set) var historyEntryCount: Int64 = 0
    /// The replicas that were retired, because nothing was heard of them for too long.
    public internal(set) var retiredReplicas: [ReplicaID] = []
    /// The replicas that are not known to know the deletions that are kept.
    public internal(set) var awaitedReplicas: [ReplicaID] = []
    /// What was taken out because other stores would refuse it.
    public internal(set) var repair = MetadataRepairReport()
    /// The size of the file before, in bytes.
    public internal(set) var byteCountBefore: Int64 = 0
    /// The size of the file afterwards, in bytes.
    public internal(set) var byteCountAfter: Int64 = 0
}

extension Synchronizer {
    /// Drops what nobody needs any more: deletions that every replica knows, history beyond its
    /// bound, and free pages.
    ///
    /// ```swift
    /// let report = try synchronizer.compact()
    /// print(report.forgottenDeletionCount, "deletions forgotten")
    /// ```
    ///
    /// A replica that was away for longer than the lease is retired. It loses nothing: when it
    /// comes back, it gets a new identity, what was deleted meanwhile goes, and what it wrote
    /// stays.
    ///
    /// - parameters:
    ///     - options: What may be dropped.
    ///     - isDryRun: Whether everything is undone again.
    /// - returns: What was dropped, or would be.
    /// - throws: ``SyncError``, ``DatabaseError``. Nothing is dropped then, unless the file only
    ///   could not be made smaller.
    @discardableResult
    public func compact(
        _ options: CompactionOptions = CompactionOptions(), isDryRun: Bool = false
    ) throws -> CompactionReport {
        // Local edits may have made room for rows that wait, and are about to become history.
        if !isDryRun { try database.settle(environment, isFull: false) }
        return try database.writeWithoutTransaction { db in
            var report = CompactionReport()
            try db.inTransaction(.immediate) {
                try TableTracking(db: db, environment: environment).refresh()
                let repair = try MetadataRepair(db: db, environment: environment).run()
                report = try Compaction(db: db, environment: environment, options: options).run()
                report.repair = repair
                return isDryRun ? .rollback : .commit
            }
            report.byteCountBefore = try Self.byteCount(db)
            if !isDryRun && options.reclaimsSpace { try Self.reclaim(db) }
            report.byteCountAfter = try Self.byteCount(db)
            return report
        }
    }

    private static func byteCount(_ db: Database) throws -> Int64 {
        let pages = try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0
        return pages * (try Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 0)
    }

    /// Gives free pages back when there are many of them.
    private static func reclaim(_ db: Database) throws {
        let free = try Int64.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
        let all = try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0
        guard free * 20 > all else { return }
        let isIncremental = try Int64.fetchOne(db, sql: "PRAGMA auto_vacuum") == 2
        try db.execute(sql: isIncremental ? "PRAGMA incremental_vacuum" : "VACUUM")
    }
}

/// The part of a compaction that is one transaction.
struct Compaction {
    let db: Database
    let environment: SyncEnvironment
    let options: CompactionOptions

    func run() throws -> CompactionReport {
        var report = CompactionReport()
        report.retiredReplicas = try retire()
        let metadata = try StoreMetadata.require(db)
        let tombstones = Tombstones(db: db)
        report.forgottenDeletionCount = try tombstones.raiseFloor(
            to: tombstones.commonVector(metadata, within: metadata.vector), metadata)
        let coverage = try Coverage.load(db, metadata)
        for (table, part) in coverage.parts {
            report.forgottenDeletionCount += try tombstones.raiseFloor(
                ofTable: table, to: tombstones.commonVector(metadata, within: part.known), coverage)
        }
        report.keptDeletionCount =
            try Int64.fetchOne(db, sql: "SELECT count(*) FROM _sync_row WHERE NOT cl & 1") ?? 0
        report.awaitedReplicas = try tombstones.laggards(metadata)
        if let count = options.historyCount { try HistoryBound.setCount(db, count) }
        if let age = options.historyMilliseconds { try HistoryBound.setAge(db, age) }
        report.historyEntryCount = try HistoryBound.prune(
            db, folded: metadata.folded, now: environment.milliseconds())
        // What a retired replica knows is of no use.
        for table in ["_sync_known", "_sync_acknowledged"] {
            try db.execute(
                sql: "DELETE FROM main.\(table) WHERE sid IN (SELECT sid FROM _sync_retired)")
        }
        return report
    }

    /// Retires the replicas of which nothing was heard for too long.
    private func retire() throws -> [ReplicaID] {
        guard let lease = options.leaseMilliseconds else { return [] }
        let now = environment.milliseconds()
        // Nobody knows how long ago that was, so it begins now.
        try db.execute(sql: "UPDATE _sync_replica SET seen = ? WHERE seen IS NULL", arguments: [now])
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT rid FROM _sync_replica WHERE seen < ? AND sid <> (SELECT self FROM _sync_state)
                AND sid NOT IN (SELECT sid FROM _sync_retired) ORDER BY sid
                """, arguments: [now - lease])
        let replicas = try rows.map { try StoreMetadata.identifier($0.decode(atIndex: 0)) }
        for replica in replicas { try ReplicaRegister(db: db).retire(replica, at: now, .unseen) }
        return replicas
    }
}

/// How much history a store keeps.
enum HistoryBound {
    private static let countName = "history.count"
    private static let ageName = "history.milliseconds"

    /// How many changes are kept unless somebody says otherwise.
    static let defaultCount: Int64 = 500_000

    static func count(_ db: Database) throws -> Int64 {
        try SyncSetting.integer(db, countName) ?? defaultCount
    }

    static func setCount(_ db: Database, _ count: Int64) throws {
        try SyncSetting.set(db, countName, max(0, count))
    }

    static func setAge(_ db: Database, _ milliseconds: Int64) throws {
        try SyncSetting.set(db, ageName, max(0, milliseconds))
    }

    /// Drops what lies beyond the bound. The last entry stays: it numbers the next one.
    ///
    /// - returns: How many entries were dropped.
    static func prune(_ db: Database, folded: Int64, now: Int64) throws -> Int64 {
        let last = try Int64.fetchOne(db, sql: "SELECT max(seq) FROM _sync_log") ?? 0
        var first = last - (try count(db)) + 1
        if let age = try SyncSetting.integer(db, ageName) {
            let kept = try Int64.fetchOne(
                db, sql: "SELECT min(seq) FROM _sync_log WHERE ms >= ?", arguments: [now - age])
            first = max(first, kept ?? last)
        }
        first = min(first, folded + 1, last)
        try db.execute(sql: "DELETE FROM _sync_log WHERE seq < ?", arguments: [first])
        return Int64(db.changesCount)
    }
}
