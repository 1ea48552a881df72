import CipherStore
import SyncWire

/// The rows that a settlement has to look at for missing parents: those that were
/// written or removed.
///
/// Rows that are not among them, nor children of such rows, are left alone. So an
/// orphan that a program made with foreign keys off is shown where it was made,
/// until a bundle writes it, or its parent.
final class TouchedRows {
    static let name = "_sync_touched"

    private let db: Database
    private let insertion: Statement

    init(_ db: Database) throws {
        self.db = db
        try db.execute(
            sql: """
                DROP TABLE IF EXISTS temp.\(Self.name);
                CREATE TEMP TABLE \(Self.name) (tbl, pk, PRIMARY KEY (tbl, pk)) WITHOUT ROWID;
                """)
        insertion = try db.makeStatement(sql: "INSERT OR IGNORE INTO temp.\(Self.name) VALUES (?, ?)")
    }

    /// Notes a row.
    func add(_ table: Int64, _ key: RowKey) throws {
        insertion.reset()
        _ = RawBinding.int64(insertion.sqliteStatement, 1, table)
        key.value.bind(insertion.sqliteStatement, 2)
        while try insertion.step() {}
        insertion.reset()
    }

    /// Notes all rows of a table.
    func addAll(of table: SyncedTable) throws {
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO temp.\(Self.name)
                SELECT \(table.number), \(table.key.quotedDatabaseIdentifier) FROM \(table.qualifiedName)
                """)
    }

    /// Forgets all rows.
    func removeAll() throws {
        try db.execute(sql: "DELETE FROM temp.\(Self.name)")
    }

    /// Ends the record.
    func finish() {
        insertion.reset()
        try? db.execute(sql: "DROP TABLE IF EXISTS temp.\(Self.name)")
    }

    /// An orphan, and its parent's key, where the foreign key refers to that.
    struct Orphan {
        let key: OwnedValue
        let parent: OwnedValue?
    }
}
