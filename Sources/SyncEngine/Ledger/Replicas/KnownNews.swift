import CipherStore
import SyncWire

/// What is new in a vector that a replica knows, and what of that is noted where there is room for some of it only.
///
/// What is not noted counts as unknown to the replica. Its other entries are right without it, but for the one of its
/// own changes: with what a replica knows of others, and without what it wrote itself, its changes would be forgotten
/// that are not here yet (see ``Tombstones/commonVector(_:within:)``). So that entry always has room, which is one for
/// each replica, and an entry that is there is raised in any case.
struct KnownNews<Origin: Hashable & Comparable> {
    typealias Entry = (origin: Origin, sequence: Int64)

    private let certain: [Entry]
    private let additional: [Entry]
    private let ownIsNew: Bool

    /// - parameters:
    ///     - vector: What the replica knows, of replicas that are known here.
    ///     - own: The replica itself.
    ///     - noted: What was noted of it before.
    init(_ vector: some Sequence<Entry>, of own: Origin, beside noted: [Origin: Int64]) {
        let news = vector.filter { $0.sequence > noted[$0.origin] ?? 0 }
        certain = news.filter { noted[$0.origin] != nil || $0.origin == own }
        additional = news.filter { noted[$0.origin] == nil && $0.origin != own }
        ownIsNew = noted[own] == nil && certain.contains { $0.origin == own }
    }

    var isEmpty: Bool { certain.isEmpty && additional.isEmpty }

    /// Whether some of it is noted only where there is room.
    var needsRoom: Bool { !additional.isEmpty }

    /// What is noted.
    ///
    /// - parameter room: How many entries there may be more.
    /// - returns: The entries, and how many of them are new.
    func admitted(room: Int) -> (entries: [Entry], addedCount: Int) {
        let admitted = additional.sorted { $0.origin < $1.origin }.prefix(max(0, room))
        return (certain + admitted, admitted.count + (ownIsNew ? 1 : 0))
    }
}

/// How many entries there may be more of what replicas know, or have acknowledged.
package struct KnownRoom {
    let db: Database
    /// `_sync_known` or `_sync_acknowledged`.
    let table: String

    private static let most = AdmissionLimits.knownEntryCountMax

    /// The numbers of the replicas that this one met, as SQL.
    static let met = "SELECT p.sid FROM _sync_replica AS p JOIN _sync_peer AS e ON e.rid = p.rid"

    /// Whether a store has no room left for what its replicas know, or have acknowledged, of changes of replicas that are
    /// new.
    package static func isUsedUp(_ db: Database) throws -> Bool {
        try [ReplicaRegister(db: db).room, Acknowledgement(db: db).room].contains { room in
            try db.tableExists(room.table, in: "main") && room.forOwnWords() <= 0
        }
    }

    /// How many there are.
    func count() throws -> Int {
        try Int.fetchOne(db, sql: "SELECT count(*) FROM main.\(table)") ?? 0
    }

    /// The room for what a replica says of itself.
    func forOwnWords() throws -> Int { Self.most - (try count()) }

    /// The room for what somebody says of others: of those that this replica never met, a quarter of all is kept.
    func forHearsay() throws -> Int {
        let count = try count()
        // They are no more than all are, and to tell them apart takes a look at each replica.
        if count <= Self.most / 8 { return Self.most / 4 - count }
        let hearsay =
            try Int.fetchOne(
                db, sql: "SELECT count(*) FROM main.\(table) WHERE sid NOT IN (\(Self.met))") ?? 0
        return min(Self.most / 4 - hearsay, Self.most - count)
    }

    /// Forgets what is known of replicas that this one never met, when there is no room left for others.
    ///
    /// - parameter limit: The number of entries from which on there is none.
    func removeExcess(from limit: Int? = nil) throws {
        guard try count() >= limit ?? Self.most else { return }
        try db.execute(sql: "DELETE FROM main.\(table) WHERE sid NOT IN (\(Self.met))")
    }
}
