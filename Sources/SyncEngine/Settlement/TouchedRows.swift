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

    /// The tables of the rows.
    private(set) var tables: Set<Int64> = []

    private let db: Database
    private let insertion: Statement
    private var lastTable: Int64?

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
        if table != lastTable {
            tables.insert(table)
            lastTable = table
        }
        insertion.reset()
        _ = RawBinding.int64(insertion.sqliteStatement, 1, table)
        key.value.bind(insertion.sqliteStatement, 2)
        while try insertion.step() {}
        insertion.reset()
    }

    /// Notes all rows of a table.
    func addAll(of table: SyncedTable) throws {
        tables.insert(table.number)
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO temp.\(Self.name)
                SELECT \(table.number), \(table.key.quotedDatabaseIdentifier) FROM \(table.qualifiedName)
                """)
    }

    /// Whether a table lacks any of its rows that are noted. Where none is gone, no child lost its parent.
    func areGone(from table: SyncedTable) throws -> Bool {
        guard tables.contains(table.number) else { return false }
        return try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS(
                    SELECT 1 FROM temp.\(Self.name) AS t WHERE t.tbl = \(table.number) AND NOT EXISTS (
                        SELECT 1 FROM \(table.qualifiedName) AS p
                        WHERE p.\(table.key.quotedDatabaseIdentifier) = t.pk))
                """) == true
    }

    /// Forgets all rows.
    func removeAll() throws {
        tables = []
        lastTable = nil
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
