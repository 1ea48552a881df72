import CipherStore
import SyncWire

/// A table that is known to the sync metadata.
struct SyncedTable {
    /// A column other than the key.
    struct Column {
        let number: Int
        let name: String
        /// Whether the local table has the column.
        let isPresent: Bool
    }

    let number: Int64
    let name: String
    let key: String
    /// Whether the local database has the table and tracks it.
    let isTracked: Bool
    let columns: [Column]

    /// Reads all tables.
    static func loadAll(_ db: Database) throws -> [SyncedTable] {
        let columnRows = try Row.fetchAll(
            db, sql: "SELECT tbl, col, name, present FROM _sync_column ORDER BY tbl, col")
        var columns: [Int64: [Column]] = [:]
        for row in columnRows {
            let table: Int64 = try row.decode(atIndex: 0)
            let column = Column(
                number: try row.decode(atIndex: 1), name: try row.decode(atIndex: 2),
                isPresent: try row.decode(atIndex: 3))
            columns[table, default: []].append(column)
        }
        return try Row.fetchAll(db, sql: "SELECT tbl, name, key, tracked FROM _sync_table ORDER BY tbl").map {
            let number: Int64 = try $0.decode(atIndex: 0)
            return SyncedTable(
                number: number, name: try $0.decode(atIndex: 1), key: try $0.decode(atIndex: 2),
                isTracked: try $0.decode(atIndex: 3), columns: columns[number] ?? [])
        }
    }

    /// The table in SQL. The schema is named, because a temporary table of the
    /// same name would stand before it.
    var qualifiedName: String { "main." + name.quotedDatabaseIdentifier }

    /// The SQL that finds a row by its key, byte for byte, whatever the
    /// collation of the key column is.
    func keyMatch(_ parameter: String) -> String {
        let key = key.quotedDatabaseIdentifier
        return "\(key) = \(parameter) AND \(key) = \(parameter) COLLATE BINARY"
    }

    /// The columns that the local table has.
    var presentColumns: [Column] { columns.filter(\.isPresent) }

    /// Adds a table to the metadata.
    static func register(
        _ db: Database, name: String, key: String, columns: [String], isTracked: Bool
    ) throws -> SyncedTable {
        try db.execute(
            sql: "INSERT INTO _sync_table (name, key, tracked) VALUES (?, ?, ?)",
            arguments: [name, key, isTracked])
        let number = db.lastInsertedRowID
        let table = SyncedTable(number: number, name: name, key: key, isTracked: isTracked, columns: [])
        return try table.addingColumns(db, columns, isPresent: isTracked)
    }

    /// Adds columns to the metadata of the table.
    func addingColumns(_ db: Database, _ names: [String], isPresent: Bool) throws -> SyncedTable {
        var columns = self.columns
        for name in names {
            let column = Column(
                number: (columns.map(\.number).max() ?? -1) + 1, name: name, isPresent: isPresent)
            try db.execute(
                sql: "INSERT INTO _sync_column (tbl, col, name, present) VALUES (?, ?, ?, ?)",
                arguments: [number, column.number, name, isPresent])
            columns.append(column)
        }
        return SyncedTable(number: number, name: name, key: key, isTracked: isTracked, columns: columns)
    }
}
