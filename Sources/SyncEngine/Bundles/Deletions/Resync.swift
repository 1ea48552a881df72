import CipherStore
import SyncWire

/// Brings a replica up to date that was away for so long that deletions which it does not
/// know were forgotten everywhere else.
///
/// It gets a bundle of all rows, so what the sender knows and does not mention was deleted
/// meanwhile:
/// - A row that the bundle does not mention goes when the sender knows any write of it.
/// - A row of which anything would win over what the bundle says, by a write that the sender knows, is of
///   a life before a deletion that was forgotten: it makes room for the one of the bundle.
///
/// Edits of such rows that the sender does not know go to the conflict journal. Rows of which
/// it knows nothing were made here; they stay, and are sent as usual.
final class Resync {
    private let db: Database
    private let insertion: Statement

    init(_ db: Database) throws {
        self.db = db
        try db.execute(
            sql: """
                DROP TABLE IF EXISTS temp._sync_mentioned;
                CREATE TEMP TABLE _sync_mentioned (tbl INTEGER, pk, PRIMARY KEY (tbl, pk)) WITHOUT ROWID;
                """)
        insertion = try db.makeStatement(sql: "INSERT OR IGNORE INTO temp._sync_mentioned VALUES (?, ?)")
    }

    /// Notes a row of the bundle.
    func mention(_ table: Int64, _ key: RowKey) throws {
        insertion.reset()
        _ = RawBinding.int64(insertion.sqliteStatement, 1, table)
        key.value.bind(insertion.sqliteStatement, 2)
        while try insertion.step() {}
        insertion.reset()
    }

    /// A row that has to go.
    struct Row {
        let row: Int64
        let table: Int64
        let key: DatabaseValue
    }

    /// The rows that were deleted elsewhere, of tables of which the bundle holds everything.
    ///
    /// - parameter vector: What the sender knows of these tables.
    func deletedRows(_ tables: [Int64], knownTo vector: VersionVector) throws -> [Row] {
        defer { insertion.reset() }
        let numbers = tables.map(String.init).joined(separator: ", ")
        var found: [Int64: Row] = [:]
        for (origin, sequence) in vector.sequences {
            let rows = try CipherStore.Row.fetchAll(
                db,
                sql: """
                    SELECT s.r, s.tbl, s.pk FROM (
                        SELECT b.r FROM _sync_replica AS p
                        CROSS JOIN _sync_row AS b ON b.sid = p.sid AND b.oseq <= ?1 WHERE p.rid = ?2
                        UNION
                        SELECT c.r FROM _sync_replica AS p
                        CROSS JOIN _sync_cell AS c ON c.sid = p.sid AND c.oseq <= ?1 WHERE p.rid = ?2) AS known
                    CROSS JOIN _sync_row AS s ON s.r = known.r
                    WHERE +s.tbl IN (\(numbers)) AND NOT EXISTS (
                        SELECT 1 FROM temp._sync_mentioned AS m WHERE m.tbl = s.tbl AND m.pk = s.pk)
                    """, arguments: [sequence, origin.data])
            for row in rows {
                let number: Int64 = try row.decode(atIndex: 0)
                found[number] = Row(
                    row: number, table: try row.decode(atIndex: 1), key: try row.decode(atIndex: 2))
            }
        }
        return found.values.sorted { $0.row < $1.row }
    }

    /// Whether a row here is of a life before a deletion that the sender has forgotten.
    ///
    /// - parameters:
    ///     - vector: What the sender knows of the row's table.
    ///     - shares: Columns that no write of the whole row takes away: one that the sender knows and does
    ///       not mention ended with a life, even when the row of the next life is newer.
    func isOutlived(
        _ local: RowVersion, by change: RowChange, knownTo vector: VersionVector, shares: Set<Int> = []
    ) -> Bool {
        guard let base = change.base, base != local.base, vector.contains(local.base) else { return false }
        guard local.life == change.life else { return local.life > change.life }
        if local.base.isNewer(than: base) { return true }
        return local.cells.contains { column, stamp in
            guard vector.contains(stamp) else { return false }
            let told = change.writes[column]?.stamp
            return shares.contains(column) ? told == nil : stamp.isNewer(than: told ?? base)
        }
    }

    /// Forgets the versions of a row, and what is parked of it.
    func forget(_ row: Row) throws {
        try VersionTable.forget(db, row: row.row)
        try Parking.forget(db, valuesOf: row.key, in: row.table)
    }

    /// Ends it.
    func finish() throws {
        insertion.reset()
        try db.execute(sql: "DROP TABLE IF EXISTS temp._sync_mentioned")
    }
}
