import CipherStore
import SyncWire

/// The part of this replica's changes that goes into one bundle, when a receiver takes only so many at once.
///
/// The bundle is what the store would send if this replica had not made its later changes: it reaches to one of them,
/// which is a point of its chain, and leaves out all that come after it. Changes of other replicas all go with the first
/// bundle. A change that was replaced after that point is in no bundle, and counts as known: what replaced it follows.
struct BundlePortion {
    /// The last of this replica's changes that go; nil for all.
    let last: Int64?
    /// Whether others follow.
    let isPart: Bool

    /// - parameters:
    ///     - store: The store, in the transaction of the export.
    ///     - request: What the receiver knows, and how much it takes.
    ///     - end: The last of this replica's changes that may go; nil for all.
    init(_ store: FoldedStore, _ request: TransferRequest, upTo end: Int64? = nil) throws {
        let metadata = store.metadata
        let whole = end ?? metadata.replicas.first { $0.sid == metadata.selfNumber }?.sequence ?? 0
        let portion = try request.changeCountMax.flatMap {
            try Self.last(store.db, metadata, request, $0, whole)
        }
        last = portion ?? end
        isPart = portion != nil
        assert(portion.map { $0 < whole } ?? true, "a part is less than the whole")
    }

    /// The last change of a part; nil when everything goes at once.
    private static func last(
        _ db: Database, _ metadata: StoreMetadata, _ request: TransferRequest, _ count: Int64, _ whole: Int64
    ) throws -> Int64? {
        let replica = try metadata.replicaID()
        // Nearly every push: so few numbers need no look at anything.
        guard whole > request.base[replica].addingSaturated(count) else { return nil }
        let groups = try ExportedParts(db, metadata, request).all
        // What is not in a bundle of everything counts as deleted, so that can't be divided.
        guard !groups.contains(where: \.isResync), let first = groups.map({ $0.base[replica] }).min() else {
            return nil
        }
        let search = PortionSearch(db: db, own: metadata.selfNumber, first: first, whole: whole)
        guard var last = try search.point(after: max(1, count)) else { return nil }
        let others = metadata.replicas.filter {
            $0.sid != metadata.selfNumber && $0.sequence > request.base[$0.id]
        }.map { (sid: $0.sid, known: request.base[$0.id]) }
        // Each step takes more in. After some, everything does as well.
        for _ in 0..<searchCountMax {
            let needed = try search.needed(last, others, dividesRows: request.dividesRows)
            guard let needed else { return last }
            guard let next = try search.point(from: needed) else { return nil }
            assert(last < needed && needed <= next, "a step takes nothing more in")
            last = next
        }
        return nil
    }

    private static let searchCountMax = 16
}

/// Looks for the change at which a bundle may end.
private struct PortionSearch {
    let db: Database
    /// The local number of this replica.
    let own: Int64
    /// The last change that the receiver knows.
    let first: Int64
    /// The last change there is.
    let whole: Int64

    /// The point after so many changes: the last one before, or else the first one; nil when fewer are left.
    func point(after count: Int64) throws -> Int64? {
        let ends = try ["_sync_row", "_sync_cell"].compactMap { table in
            try Int64.fetchOne(
                db,
                sql: "SELECT oseq FROM \(table) WHERE sid = ? AND oseq > ? ORDER BY oseq LIMIT 1 OFFSET ?",
                arguments: [own, first, count])
        }
        guard let end = ends.min() else { return nil }
        let point = try Int64.fetchOne(
            db, sql: "SELECT max(oseq) FROM _sync_chain WHERE sid = ? AND oseq > ? AND oseq < ?",
            arguments: [own, first, min(end, whole)])
        return try point ?? self.point(from: end)
    }

    /// The first point from a change on; nil when it is the last one of all.
    func point(from sequence: Int64) throws -> Int64? {
        try Int64.fetchOne(
            db, sql: "SELECT min(oseq) FROM _sync_chain WHERE sid = ? AND oseq >= ? AND oseq < ?",
            arguments: [own, max(sequence, first + 1), whole])
    }

    /// The change to which a bundle has to reach as well if it reaches to one; nil when it may end there.
    ///
    /// - parameters:
    ///     - others: The replicas of which the receiver does not know everything, and what it knows of them.
    ///     - dividesRows: Whether a row may go without values that were written to it later.
    func needed(
        _ last: Int64, _ others: [(sid: Int64, known: Int64)], dividesRows: Bool
    ) throws -> Int64? {
        var needed: Int64?
        func need(_ sequence: Int64?) { needed = sequence.map { max($0, needed ?? 0) } ?? needed }
        for other in others {
            // Others' changes count as known: the rows that they are in have to go with them.
            need(
                try Int64.fetchOne(
                    db,
                    sql: """
                        SELECT max(s.oseq) FROM _sync_cell AS c CROSS JOIN _sync_row AS s ON s.r = c.r
                        WHERE c.sid = ?1 AND c.oseq > ?2 AND s.sid = ?3 AND s.oseq > ?4
                        """, arguments: [other.sid, other.known, own, last]))
        }
        guard !dividesRows else { return needed }
        for new in others + [(sid: own, known: first)] {
            need(
                try Int64.fetchOne(
                    db,
                    sql: """
                        SELECT max(c.oseq) FROM _sync_row AS s CROSS JOIN _sync_cell AS c ON c.r = s.r
                        WHERE s.sid = ?1 AND s.oseq > ?2 AND s.oseq <= ?3 AND c.sid = ?4 AND c.oseq > ?5
                        """,
                    arguments: [new.sid, new.known, new.sid == own ? last : Int64.max, own, last]))
        }
        return needed
    }
}
