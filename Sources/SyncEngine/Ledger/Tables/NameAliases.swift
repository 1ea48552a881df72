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

    private struct Subject: Hashable {
        let table: Int64
        let column: Int
    }

    /// The column number of an entry about the table itself.
    private static let ofTable = -1
    /// The other names of one table or column, those among them that it had here (see ``Source``).
    private static let countMax = 2 * AdmissionLimits.otherNameCountMax

    private let entries: [Entry]
    /// The entries of each table and column, which stand together.
    private let ranges: [Subject: Range<Int>]

    /// Reads the names.
    init(_ db: Database) throws {
        entries = try Row.fetchAll(db, sql: "SELECT tbl, col, name FROM _sync_alias ORDER BY tbl, col, name")
            .map {
                Entry(
                    table: try $0.decode(atIndex: 0), column: try $0.decode(atIndex: 1),
                    name: try $0.decode(atIndex: 2))
            }
        var ranges: [Subject: Range<Int>] = [:]
        for (index, entry) in entries.enumerated() {
            let subject = Subject(table: entry.table, column: entry.column)
            ranges[subject] = (ranges[subject]?.lowerBound ?? index)..<(index + 1)
        }
        self.ranges = ranges
    }

    /// The other names of a table.
    func names(ofTable table: Int64) -> [String] { names(ofColumn: Self.ofTable, in: table) }

    /// The other names of a column.
    ///
    /// They are told to others, who read a bounded number. A file by a program without that bound may have more.
    func names(ofColumn column: Int, in table: Int64) -> [String] {
        guard let range = ranges[Subject(table: table, column: column)] else { return [] }
        return entries[range].prefix(Self.countMax).map(\.name)
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

    /// How many there are of all tables and columns.
    static func count(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT count(*) FROM _sync_alias") ?? 0
    }

    /// The tables and columns that have more than others read, as SQL.
    static let crowded = """
        (SELECT tbl, col FROM _sync_alias GROUP BY tbl, col HAVING count(*) > \(countMax))
        """

    // MARK: Writing

    /// Where another name comes from, which says how many the table or column may have by then.
    ///
    /// What peers say never takes the last room. So the name that a table or column has here is noted when it is renamed,
    /// by which those send who have not renamed it yet.
    enum Source {
        /// A peer uses the name for it.
        case peers
        /// It was known by the name here as another one, which turned out to be the same.
        case united
        /// It had the name here. Where there is no room, another name gives way.
        case here

        fileprivate var countMax: Int {
            switch self {
            case .peers: AdmissionLimits.otherNameCountMax
            case .united: AdmissionLimits.otherNameCountMax * 3 / 2
            case .here: Int.max
            }
        }
    }

    /// Notes another name of a table, unless a table has it, or it has as many as it may.
    ///
    /// - returns: Whether it was noted.
    @discardableResult
    static func add(
        _ db: Database, _ name: String, ofTable table: Int64, from source: Source = .here
    ) throws -> Bool {
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO _sync_alias (tbl, col, name) SELECT :table, \(ofTable), :name
                WHERE NOT EXISTS (SELECT 1 FROM _sync_table WHERE name = :name)
                  AND NOT EXISTS (SELECT 1 FROM _sync_alias WHERE col = \(ofTable) AND name = :name)
                  AND (SELECT count(*) FROM _sync_alias WHERE tbl = :table AND col = \(ofTable)) < :most
                """, arguments: ["table": table, "name": name, "most": source.countMax])
        guard db.changesCount > 0 else { return false }
        if source == .here { try makeRoom(db, for: name, ofColumn: ofTable, in: table) }
        return true
    }

    /// Notes another name of a column, unless a column has it, or it has as many as it may.
    ///
    /// - returns: Whether it was noted.
    @discardableResult
    static func add(
        _ db: Database, _ name: String, ofColumn column: Int, in table: Int64, from source: Source = .here
    ) throws -> Bool {
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO _sync_alias (tbl, col, name) SELECT :table, :column, :name
                WHERE NOT EXISTS (SELECT 1 FROM _sync_column WHERE tbl = :table AND name = :name)
                  AND NOT EXISTS (SELECT 1 FROM _sync_alias WHERE tbl = :table AND col >= 0 AND name = :name)
                  AND (SELECT count(*) FROM _sync_alias WHERE tbl = :table AND col = :column) < :most
                """, arguments: ["table": table, "column": column, "name": name, "most": source.countMax])
        guard db.changesCount > 0 else { return false }
        if source == .here { try makeRoom(db, for: name, ofColumn: column, in: table) }
        return true
    }

    /// Forgets names that are too many beside one that was added.
    private static func makeRoom(_ db: Database, for name: String, ofColumn column: Int, in table: Int64)
        throws
    {
        try db.execute(
            sql: """
                DELETE FROM _sync_alias WHERE tbl = :table AND col = :column AND name <> :name AND name NOT IN (
                    SELECT name FROM _sync_alias WHERE tbl = :table AND col = :column AND name <> :name
                    ORDER BY name LIMIT \(countMax - 1))
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

    /// Gives the other names of a column to another one, with which it was united, as many as that one may have of peers.
    static func move(_ db: Database, ofColumn absent: Int, to column: Int, in table: Int64) throws {
        let count = try Int.fetchOne(
            db, sql: "SELECT count(*) FROM _sync_alias WHERE tbl = ? AND col = ?", arguments: [table, column])
        try db.execute(
            sql: """
                UPDATE OR REPLACE _sync_alias SET col = :column WHERE tbl = :table AND col = :absent
                  AND name IN (SELECT name FROM _sync_alias WHERE tbl = :table AND col = :absent
                    ORDER BY name LIMIT :room)
                """,
            arguments: [
                "table": table, "absent": absent, "column": column,
                "room": max(0, AdmissionLimits.otherNameCountMax - (count ?? 0)),
            ])
        try db.execute(
            sql: "DELETE FROM _sync_alias WHERE tbl = ? AND col = ?", arguments: [table, absent])
    }

    /// Forgets the names of tables and columns that have more than others read.
    ///
    /// - returns: How many there were.
    static func removeExcess(_ db: Database) throws -> Int64 {
        var count: Int64 = 0
        for row in try Row.fetchAll(db, sql: "SELECT tbl, col FROM \(crowded)") {
            let (table, column) = (
                try row.decode(Int64.self, atIndex: 0), try row.decode(Int64.self, atIndex: 1)
            )
            let first = try String.fetchOne(
                db,
                sql: "SELECT name FROM _sync_alias WHERE tbl = ? AND col = ? ORDER BY name LIMIT 1 OFFSET ?",
                arguments: [table, column, countMax])
            guard let first else { continue }
            try db.execute(
                sql: "DELETE FROM _sync_alias WHERE tbl = ? AND col = ? AND name >= ?",
                arguments: [table, column, first])
            count += Int64(db.changesCount)
        }
        return count
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
