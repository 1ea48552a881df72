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

/// The part of a compaction that is one transaction.
struct Compaction {
    let store: FoldedStore
    let options: CompactionOptions

    private var db: Database { store.db }
    private var environment: SyncEnvironment { store.environment }

    func run() throws -> CompactionReport {
        assert(db.isInsideTransaction, "a deletion is forgotten with what says that everybody knows it")
        var report = CompactionReport()
        report.retiredReplicas = try retire()
        let metadata = try store.currentMetadata()
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
        try ReplicaRegister(db: db).removeKnownOfRetired()
        try Acknowledgement(db: db).removeOfRetired()
        try ReplicaRegister(db: db).room.removeExcess()
        try Acknowledgement(db: db).room.removeExcess()
        return report
    }

    /// Retires the replicas of which nothing was heard for too long.
    private func retire() throws -> [ReplicaID] {
        guard let lease = options.leaseMilliseconds else { return [] }
        let now = environment.milliseconds()
        // Nobody knows how long ago that was, so it begins now.
        let register = ReplicaRegister(db: db)
        try register.beginLeases(at: now)
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT p.rid FROM _sync_replica AS p LEFT JOIN _sync_peer AS e ON e.rid = p.rid
                WHERE \(ReplicaRegister.lastHeard) < ? AND p.sid <> (SELECT self FROM _sync_state)
                AND p.sid NOT IN (SELECT sid FROM _sync_retired) ORDER BY p.sid
                """, arguments: [now - lease])
        let replicas = try rows.map { try StoreMetadata.identifier($0.decode(atIndex: 0)) }
        for replica in replicas { try register.retire(replica, at: now, .unseen) }
        return replicas
    }
}
