import CipherStore
import SyncWire

/// Brings a replica up to date that was away for so long that deletions which it does not
/// know were forgotten everywhere else.
///
/// It gets a bundle of all rows. A row that it has, that the bundle does not mention and whose
/// last whole write lies at or below the sender's floor was deleted meanwhile: it goes, and
/// edits of it that nobody else has go to the conflict journal. Rows that were made here and
/// never sent lie above the floor; they stay, and are sent as usual.
final class Resync {
    private let db: Database
    private let header: BundleHeader
    private let insertion: Statement

    init(_ db: Database, _ header: BundleHeader) throws {
        self.db = db
        self.header = header
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
    func deletedRows(_ tables: [Int64]) throws -> [Row] {
        defer { insertion.reset() }
        let numbers = tables.map(String.init).joined(separator: ", ")
        return try CipherStore.Row.fetchAll(
            db,
            sql: """
                SELECT s.r, s.tbl, s.pk FROM _sync_row AS s
                WHERE s.tbl IN (\(numbers)) AND NOT EXISTS (
                    SELECT 1 FROM temp._sync_mentioned AS m WHERE m.tbl = s.tbl AND m.pk = s.pk)
                AND (s.oseq <= (SELECT f.oseq FROM _sync_floor AS f WHERE f.sid = s.sid)
                    OR s.oseq <= (SELECT c.floor FROM _sync_coverage AS c WHERE c.tbl = s.tbl AND c.sid = s.sid))
                """
        ).map {
            Row(
                row: try $0.decode(atIndex: 0), table: try $0.decode(atIndex: 1),
                key: try $0.decode(atIndex: 2))
        }
    }

    /// Forgets the versions of a row, and what is parked of it.
    func forget(_ row: Row) throws {
        try db.execute(sql: "DELETE FROM _sync_cell WHERE r = ?", arguments: [row.row])
        try db.execute(sql: "DELETE FROM _sync_row WHERE r = ?", arguments: [row.row])
        try db.execute(
            sql: "DELETE FROM _sync_shadow WHERE tbl = ? AND pk = ?", arguments: [row.table, row.key])
    }

    /// Ends it.
    func finish() throws {
        insertion.reset()
        try db.execute(sql: "DROP TABLE IF EXISTS temp._sync_mentioned")
    }
}
