import CipherStore

/// The versions that stand over the rows of tables without triggers before the tail of the log is folded, in so far as the
/// fold may replace them.
///
/// Others may have what belongs to them, and nothing of the tail. When such a table turns out to be gone, or columns of it,
/// the log has been folded already, and a row that was edited since the last fold says only that it was.
struct ReplacedVersions {
    private static let name = "_sync_replaced_version"

    private let db: Database
    private let hasTable: Bool
    /// The last entry of the log that had a version. Nobody else can have later changes of this replica: copies are made of
    /// folded stores.
    let folded: Int64

    /// Reads them. The log must not have been folded since its tail was written.
    ///
    /// - parameters:
    ///     - tables: The numbers of the tables.
    ///     - folded: The last entry of the log that has a version.
    init(_ db: Database, of tables: [Int64], after folded: Int64) throws {
        self.db = db
        self.folded = folded
        hasTable = !tables.isEmpty
        guard hasTable else { return }
        let numbers = tables.map(String.init).joined(separator: ", ")
        try db.execute(
            sql: """
                DROP TABLE IF EXISTS temp.\(Self.name);
                CREATE TEMP TABLE \(Self.name) (r INTEGER, col INTEGER, sid INTEGER, oseq INTEGER);
                INSERT INTO temp.\(Self.name)
                SELECT r.r, -1, r.sid, r.oseq
                FROM (SELECT DISTINCT tbl, pk FROM _sync_log WHERE seq > \(folded) AND tbl IN (\(numbers))) AS l
                CROSS JOIN _sync_row AS r ON r.tbl = l.tbl AND r.pk = l.pk;
                INSERT INTO temp.\(Self.name)
                SELECT c.r, c.col, c.sid, c.oseq
                FROM temp.\(Self.name) AS v CROSS JOIN _sync_cell AS c ON c.r = v.r WHERE v.col = -1;
                """)
    }

    /// Drops what was read.
    func drop() {
        guard hasTable else { return }
        try? db.execute(sql: "DROP TABLE IF EXISTS temp.\(Self.name)")
    }

    /// What to select them from, as SQL: the number `r` of the row, the column `col` or -1 for the row as a whole, and `sid`
    /// and `oseq` of its last write.
    var source: String {
        hasTable ? "temp.\(Self.name)" : "(SELECT 0 AS r, 0 AS col, 0 AS sid, 0 AS oseq WHERE 0)"
    }
}
