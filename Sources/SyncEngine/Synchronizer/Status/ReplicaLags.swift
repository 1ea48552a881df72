import CipherStore
import Foundation
import SyncWire

/// How far other replicas are behind this one: from what they acknowledged, and without a look at the rows.
///
/// What it looks up is bounded: beyond that, no oldest change is told, and no number of changes of some tables.
package struct ReplicaLags {
    /// How far a replica is behind.
    package struct Lag: Equatable {
        /// The changes that it lacks.
        package let changeCount: Int64
        /// When the first of them was made, in milliseconds of Unix time, as far as that is known.
        package let oldestMilliseconds: Int64?
        /// Whether some of these changes may be of tables that it does not exchange.
        package let isAtMost: Bool
    }

    private struct Unfolded {
        let table: Int64
        let count: Int64
        let oldest: Int64?
    }

    private let numbers: [ReplicaID: Int64]
    /// By number: the last change of each replica that is here.
    private let reach: [Int64: Int64]
    /// By number: the last change of each replica that it has.
    private let known: [Int64: [Int64: Int64]]
    private let retired: Set<Int64>
    /// Local changes that have no version yet, and when the first one was made.
    private let unfolded: [Unfolded]
    /// Tables by the keys of their names.
    private let tables: [String: Int64]
    private let db: Database

    /// So many changes are looked at one by one, to find out which tables they are of: of one replica, and of all.
    private static let filteredCountMax: Int64 = 5000
    private var filteredCountLeft: Int64 = 50_000
    /// So many first changes are looked for.
    private var lookupCountLeft = 4000

    /// Reads what is known. The value is used while the database is read.
    package init(_ db: Database) throws {
        var numbers: [ReplicaID: Int64] = [:]
        var reach: [Int64: Int64] = [:]
        let replicas = """
            SELECT p.sid, p.rid, max(p.oseq, coalesce((SELECT max(oseq) FROM _sync_coverage WHERE sid = p.sid), 0))
            FROM _sync_replica AS p
            """
        for row in try Row.fetchAll(db, sql: replicas) {
            let bytes: Data = try row.decode(atIndex: 1)
            let sid: Int64 = try row.decode(atIndex: 0)
            if let replica = bytes.withUnsafeBytes({ ReplicaID(bytes: $0) }) { numbers[replica] = sid }
            reach[sid] = try row.decode(atIndex: 2)
        }
        var known: [Int64: [Int64: Int64]] = [:]
        let vectors = """
            SELECT sid, origin, max(oseq) FROM (
                SELECT sid, origin, oseq FROM main._sync_known
                UNION ALL SELECT sid, origin, oseq FROM main._sync_acknowledged) GROUP BY sid, origin
            """
        for row in try Row.fetchAll(db, sql: vectors) {
            let (sid, origin): (Int64, Int64) = (try row.decode(atIndex: 0), try row.decode(atIndex: 1))
            known[sid, default: [:]][origin] = try row.decode(Int64.self, atIndex: 2)
        }
        self.numbers = numbers
        self.reach = reach
        self.known = known
        retired = Set(try Int64.fetchAll(db, sql: "SELECT sid FROM _sync_retired"))
        unfolded = try Row.fetchAll(
            db,
            sql: """
                SELECT tbl, count(*), min(ms) FROM _sync_log
                WHERE seq > (SELECT folded FROM _sync_state) AND op <> 0 GROUP BY tbl
                """
        ).map {
            Unfolded(
                table: try $0.decode(atIndex: 0), count: try $0.decode(atIndex: 1),
                oldest: try $0.decodeIfPresent(atIndex: 2))
        }
        let names = try Row.fetchAll(db, sql: "SELECT name, tbl FROM _sync_table").map {
            (try $0.decode(String.self, atIndex: 0).identifierKey, try $0.decode(Int64.self, atIndex: 1))
        }
        tables = Dictionary(names, uniquingKeysWith: { first, _ in first })
        self.db = db
    }

    /// When the first change of a replica was made after another one, of those that still have a version.
    private mutating func oldest(_ origin: Int64, after last: Int64) throws -> Int64? {
        guard lookupCountLeft > 0 else { return nil }
        lookupCountLeft -= 1
        let stamps = try ["_sync_row", "_sync_cell"].compactMap { table in
            try Row.fetchOne(
                db,
                sql: "SELECT oseq, hlc FROM main.\(table) WHERE sid = ? AND oseq > ? ORDER BY oseq LIMIT 1",
                arguments: [origin, last])
        }
        return try stamps.map {
            (try $0.decode(Int64.self, atIndex: 0), try $0.decode(Int64.self, atIndex: 1))
        }
        .min { $0.0 < $1.0 }.map { $0.1 >> 16 }
    }

    /// How many changes of a replica are there after another one, of some tables, and when the first was made.
    private func changes(
        _ origin: Int64, after last: Int64, of tables: [Int64]
    ) throws -> (count: Int64, oldest: Int64?) {
        let list = tables.map(String.init).joined(separator: ", ")
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT count(*), min(hlc) FROM (
                    SELECT hlc FROM main._sync_row WHERE sid = ?1 AND oseq > ?2 AND tbl IN (\(list))
                    UNION ALL SELECT c.hlc FROM main._sync_cell AS c JOIN _sync_row AS r ON r.r = c.r
                    WHERE c.sid = ?1 AND c.oseq > ?2 AND r.tbl IN (\(list)))
                """, arguments: [origin, last])
        return (
            try row?.decode(atIndex: 0) ?? 0,
            try row?.decodeIfPresent(Int64.self, atIndex: 1).map { $0 >> 16 }
        )
    }

    /// Whether nobody waits for a replica.
    package func isRetired(_ replica: ReplicaID) -> Bool { numbers[replica].map(retired.contains) ?? false }

    /// How far a replica is behind.
    ///
    /// - parameters:
    ///     - names: The tables that it exchanges; nil for all.
    ///     - taken: What it took besides, of what it exchanges; nil when it exchanges everything.
    package mutating func lag(
        of replica: ReplicaID, tables names: [String]? = nil, taken: VersionVector? = nil
    ) throws -> Lag {
        let sid = numbers[replica]
        var known = sid.flatMap { self.known[$0] } ?? [:]
        for (origin, sequence) in taken?.sequences ?? [:] {
            if let number = numbers[origin] { known[number] = max(known[number] ?? 0, sequence) }
        }
        let missing = reach.filter { $0.key != sid && $0.value > known[$0.key] ?? 0 }
        // Numbers of changes that replicas claim to have are bounded, their sum is not.
        let total = missing.reduce(Int64(0)) {
            $0.addingSaturated($1.value.addingSaturated(-(known[$1.key] ?? 0)))
        }
        let own = names?.compactMap { tables[$0.identifierKey] }
        let isFiltered = own != nil && total <= min(Self.filteredCountMax, filteredCountLeft)
        if isFiltered { filteredCountLeft -= total }
        let waiting = unfolded.filter { own?.contains($0.table) ?? true }
        var count = waiting.reduce(Int64(0)) { $0.addingSaturated($1.count) }
        if !isFiltered { count = count.addingSaturated(total) }
        var times = waiting.compactMap(\.oldest)
        for origin in missing.keys {
            let since = known[origin] ?? 0
            if let own, isFiltered {
                let changes = try changes(origin, after: since, of: own)
                count = count.addingSaturated(changes.count)
                times += [changes.oldest].compactMap { $0 }
            } else {
                times += [try oldest(origin, after: since)].compactMap { $0 }
            }
        }
        return Lag(
            changeCount: count, oldestMilliseconds: times.min(),
            isAtMost: count > 0 && !isFiltered && (own != nil || taken != nil))
    }
}
