import CipherStore

/// The other names of tables and columns: those that they had before they were
/// renamed here, and those that peers gave them.
///
/// Names are what replicas know tables and columns by. A peer that has not
/// migrated yet uses the old name, and one that has migrated before uses the new
/// one. With both known, their changes are of one column.
struct NameAliases {
    private struct Entry {
        let table: Int64
        let column: Int
        let name: String
    }

    /// The column number of an entry about the table itself.
    private static let ofTable = -1

    private let entries: [Entry]

    /// Reads the names.
    init(_ db: Database) throws {
        entries = try Row.fetchAll(db, sql: "SELECT tbl, col, name FROM _sync_alias ORDER BY tbl, col, name")
            .map {
                Entry(
                    table: try $0.decode(atIndex: 0), column: try $0.decode(atIndex: 1),
                    name: try $0.decode(atIndex: 2))
            }
    }

    /// The other names of a table.
    func names(ofTable table: Int64) -> [String] {
        entries.filter { $0.table == table && $0.column == Self.ofTable }.map(\.name)
    }

    /// The other names of a column.
    func names(ofColumn column: Int, in table: Int64) -> [String] {
        entries.filter { $0.table == table && $0.column == column }.map(\.name)
    }

    /// The table that has another name.
    func table(named name: String) -> Int64? {
        entries.first { $0.column == Self.ofTable && $0.name.isSameIdentifier(as: name) }?.table
    }

    /// The column that has another name.
    func column(named name: String, in table: Int64) -> Int? {
        entries.first {
            $0.table == table && $0.column != Self.ofTable && $0.name.isSameIdentifier(as: name)
        }?.column
    }

    /// Each name, with the number of its table, and that of its column unless it is the table's.
    var all: some Sequence<(table: Int64, column: Int?, name: String)> {
        entries.lazy.map { ($0.table, $0.column == Self.ofTable ? nil : $0.column, $0.name) }
    }

    // MARK: Writing

    /// Notes another name of a table, unless a table has it.
    static func add(_ db: Database, _ name: String, ofTable table: Int64) throws {
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO _sync_alias (tbl, col, name) SELECT :table, -1, :name
                WHERE NOT EXISTS (SELECT 1 FROM _sync_table WHERE name = :name)
                  AND NOT EXISTS (SELECT 1 FROM _sync_alias WHERE col = -1 AND name = :name)
                """, arguments: ["table": table, "name": name])
    }

    /// Notes another name of a column, unless a column has it.
    static func add(_ db: Database, _ name: String, ofColumn column: Int, in table: Int64) throws {
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO _sync_alias (tbl, col, name) SELECT :table, :column, :name
                WHERE NOT EXISTS (SELECT 1 FROM _sync_column WHERE tbl = :table AND name = :name)
                  AND NOT EXISTS (SELECT 1 FROM _sync_alias WHERE tbl = :table AND col >= 0 AND name = :name)
                """, arguments: ["table": table, "column": column, "name": name])
    }

    /// Forgets a name that a table has now.
    static func release(_ db: Database, table name: String) throws {
        try db.execute(sql: "DELETE FROM _sync_alias WHERE col = -1 AND name = ?", arguments: [name])
    }

    /// Forgets a name that a column has now.
    static func release(_ db: Database, column name: String, of table: Int64) throws {
        try db.execute(
            sql: "DELETE FROM _sync_alias WHERE tbl = ? AND col >= 0 AND name = ?", arguments: [table, name])
    }

    /// Gives the other names of a column to another one, with which it was united.
    static func move(_ db: Database, ofColumn absent: Int, to column: Int, in table: Int64) throws {
        try db.execute(
            sql: "UPDATE OR REPLACE _sync_alias SET col = :column WHERE tbl = :table AND col = :absent",
            arguments: ["table": table, "absent": absent, "column": column])
    }

    /// Forgets the other names of a table and of its columns.
    static func remove(_ db: Database, ofTable table: Int64) throws {
        try db.execute(sql: "DELETE FROM _sync_alias WHERE tbl = ?", arguments: [table])
    }

    /// Forgets the other names of tables and of their columns.
    ///
    /// - parameter tables: A query that selects the numbers of the tables.
    static func removeAll(_ db: Database, ofTables tables: String) throws {
        try db.execute(sql: "DELETE FROM main._sync_alias WHERE tbl IN (\(tables))")
    }

    /// Forgets the other names of columns.
    ///
    /// - parameter listed: A table that lists their numbers, as `tbl` and `col`.
    static func removeAll(_ db: Database, ofColumnsListed listed: String) throws {
        try db.execute(
            sql: """
                DELETE FROM main._sync_alias WHERE EXISTS (
                    SELECT 1 FROM \(listed) AS u WHERE u.tbl = _sync_alias.tbl AND u.col = _sync_alias.col)
                """)
    }
}
