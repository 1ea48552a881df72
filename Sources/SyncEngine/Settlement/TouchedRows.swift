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

    /// The orphans of a foreign key among the rows, and among their children.
    func orphans(of reference: ForeignKey) throws -> [Orphan] {
        assert(reference.child.isTracked && reference.parent.isTracked, "rows of others are not judged")
        let child = reference.child
        let key = "c.\(child.key.quotedDatabaseIdentifier)"
        let column = reference.keyColumn.map { "c.\($0.quotedDatabaseIdentifier)" }
        let selection = "SELECT \(key), \(column ?? "NULL")"
        let parents = "SELECT pk FROM temp.\(Self.name) WHERE tbl = \(reference.parent.number)"
        // What columns other than the key held before is not known, so all children are looked at.
        let isChild = column.map { "\($0)\(reference.collate) IN (\(parents))" } ?? "EXISTS (\(parents))"
        return try Row.fetchAll(
            db,
            sql: """
                \(selection) FROM temp.\(Self.name) AS t
                CROSS JOIN \(child.qualifiedName) AS c ON \(key) = t.pk AND \(key) = t.pk COLLATE BINARY
                WHERE t.tbl = \(child.number) AND \(reference.isOrphan)
                UNION \(selection) FROM \(child.qualifiedName) AS c WHERE \(isChild) AND \(reference.isOrphan)
                """
        ).map { row in
            let parent = try row.decode(DatabaseValue.self, atIndex: 1)
            return Orphan(
                key: OwnedValue.make(try row.decode(atIndex: 0)),
                parent: parent.isNull ? nil : OwnedValue.make(parent))
        }
    }
}
