import CipherStore

/// Finds the newest changes of a store, however many there are.
///
/// The changes of one replica have numbers that grow with time, and an index. So those of each are read from the newest
/// on, as long as they are newer than what was found of others.
struct NewestChanges {
    let db: Database
    /// How many are wanted.
    let limit: Int

    private typealias Change = (milliseconds: Int64, sequence: Int64, row: Row)

    /// The changes, newest first. The columns: `ms`, `sid`, `tbl`, `pk`, `op`, `mask`, `col`, `seq`.
    func rows(_ metadata: StoreMetadata) throws -> [Row] {
        guard limit > 0 else { return [] }
        var found: [Change] = []
        try read(
            """
            SELECT ms, ?1 AS sid, tbl, pk, op, mask, NULL AS col, seq FROM _sync_log WHERE op <> 0
            ORDER BY seq DESC LIMIT ?2
            """, of: metadata.selfNumber, into: &found)
        for replica in metadata.replicas where replica.sid != metadata.selfNumber {
            try read(Self.rows, of: replica.sid, into: &found)
            try read(Self.cells, of: replica.sid, into: &found)
        }
        return found.map(\.row)
    }

    private static let rows = """
        SELECT hlc >> 16 AS ms, sid, tbl, pk, CASE WHEN cl & 1 THEN 1 ELSE 3 END AS op, NULL AS mask, NULL AS col,
            oseq AS seq
        FROM _sync_row WHERE sid = ?1 ORDER BY oseq DESC LIMIT ?2
        """

    private static let cells = """
        SELECT c.hlc >> 16 AS ms, c.sid, r.tbl, r.pk, 2 AS op, NULL AS mask, c.col, c.oseq AS seq
        FROM (SELECT r, sid, col, hlc, oseq FROM _sync_cell WHERE sid = ?1 ORDER BY oseq DESC LIMIT ?2) AS c
        JOIN _sync_row AS r ON r.r = c.r
        ORDER BY c.oseq DESC
        """

    private func read(_ sql: String, of sid: Int64, into found: inout [Change]) throws {
        let oldest = found.count < limit ? Int64.min : found.last?.milliseconds ?? Int64.min
        let cursor = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: [sid, limit])
        let countBefore = found.count
        while let row = try cursor.next() {
            let milliseconds: Int64 = try row.decode(atIndex: 0)
            guard milliseconds >= oldest else { break }
            found.append((milliseconds, try row.decode(atIndex: 7), row.copy()))
        }
        guard found.count > countBefore else { return }
        found.sort { ($0.milliseconds, $0.sequence) > ($1.milliseconds, $1.sequence) }
        found.removeLast(max(0, found.count - limit))
    }
}
