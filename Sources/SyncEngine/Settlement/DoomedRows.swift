import CipherStore

/// Rows that are about to be deleted because peers deleted them, while what peers wrote to others is written before.
///
/// A row that comes meanwhile, or moves, must not come to refer to one of them: the deletion would take it along, or be
/// refused because of it. For the peers it has no parent either.
struct DoomedRows {
    private static let name = "_sync_doomed"

    private let db: Database

    /// Lists rows until ``forget()``.
    init(_ db: Database, _ rows: [(table: SyncedTable, key: DatabaseValue)]) throws {
        self.db = db
        // The keys have no type, so that each of them stays what it is.
        try db.execute(
            sql: """
                DROP TABLE IF EXISTS temp.\(Self.name);
                CREATE TEMP TABLE \(Self.name) (tbl INTEGER, pk, PRIMARY KEY (tbl, pk)) WITHOUT ROWID;
                """)
        for row in rows {
            try db.execute(
                sql: "INSERT OR IGNORE INTO temp.\(Self.name) (tbl, pk) VALUES (?, ?)",
                arguments: [row.table.number, row.key])
        }
    }

    func forget() { try? db.execute(sql: "DROP TABLE IF EXISTS temp.\(Self.name)") }

    /// The condition that a row `p` of a table is none of them, as SQL.
    static func excludes(_ db: Database, in table: String) throws -> String {
        guard try db.tableExists(name, in: "temp"),
            let table = try SyncedTable.loadAll(db).first(where: {
                $0.isTracked && $0.name.isSameIdentifier(as: table)
            })
        else { return "1" }
        return """
            NOT EXISTS (
                SELECT 1 FROM temp.\(name) AS d
                WHERE d.tbl = \(table.number) AND d.pk = \(table.untypedKey(of: "p")))
            """
    }
}
