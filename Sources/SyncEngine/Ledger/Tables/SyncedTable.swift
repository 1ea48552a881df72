import CipherStore
import SyncWire

/// A table that is known to the sync metadata.
struct SyncedTable {
    /// Where the rows of a table are.
    enum Place: Int64 {
        /// At peers only; values that came of it are parked.
        case elsewhere = 0
        /// In the user's table, which has triggers.
        case tracked = 1
        /// In a table of the library, because the user's was dropped: peers may
        /// still use theirs, and get the rows from here.
        case dropped = -1
    }

    /// A column other than the key.
    struct Column {
        /// Where the values of a column are.
        enum Place: Int64 {
            /// At peers only; values that came of it are parked.
            case elsewhere = 0
            /// In the table.
            case table = 1
            /// Parked, because the column was dropped: as with ``SyncedTable/Place/dropped``.
            case dropped = -1
        }

        let number: Int
        let name: String
        let place: Place

        /// Whether the local table has the column.
        var isPresent: Bool { place == .table }
    }

    let number: Int64
    let name: String
    let key: String
    let place: Place
    let columns: [Column]

    /// Whether the local database has the table and tracks it.
    var isTracked: Bool { place == .tracked }

    /// Whether the rows of the table are in this file, where they can be written.
    var hasRows: Bool { place != .elsewhere }

    /// Reads all tables.
    static func loadAll(_ db: Database) throws -> [SyncedTable] { try load(db, where: "") }

    /// Reads a table. What is done for each table must not read all of them.
    static func load(_ db: Database, number: Int64) throws -> SyncedTable {
        guard let table = try load(db, where: "WHERE tbl = ?", [number]).first else {
            throw SyncError(.damagedMetadata, "table \(number) is gone from the sync metadata")
        }
        return table
    }

    private static func load(
        _ db: Database, where condition: String, _ arguments: StatementArguments = StatementArguments()
    ) throws -> [SyncedTable] {
        var columns: [Int64: [Column]] = [:]
        let list = try db.rows(
            "SELECT tbl, col, name, present FROM _sync_column \(condition) ORDER BY tbl, col", arguments
        ) { row in
            let column = Column(
                number: try row.decodeStrictly(atIndex: 1), name: try row.decodeStrictly(atIndex: 2),
                place: try known(Column.Place(rawValue: row.decodeStrictly(atIndex: 3))))
            return (table: try row.decodeStrictly(Int64.self, atIndex: 0), column: column)
        }
        for (table, column) in list { columns[table, default: []].append(column) }
        return try db.rows(
            "SELECT tbl, name, key, tracked FROM _sync_table \(condition) ORDER BY tbl", arguments
        ) { row in
            let number: Int64 = try row.decodeStrictly(atIndex: 0)
            return SyncedTable(
                number: number, name: try row.decodeStrictly(atIndex: 1),
                key: try row.decodeStrictly(atIndex: 2),
                place: try known(Place(rawValue: row.decodeStrictly(atIndex: 3))),
                columns: columns[number] ?? [])
        }
    }

    private static func known<Place>(_ place: Place?) throws -> Place {
        guard let place else {
            throw SyncError(.damagedMetadata, "the sync metadata say of a table or column what nobody knows")
        }
        return place
    }

    /// The name of the table that holds the rows.
    var storageName: String { place == .dropped ? "_sync_dropped_\(number)" : name }

    /// What a tracked table is called now.
    ///
    /// Another program may have renamed it, which the metadata follow later. The triggers go with their table.
    func currentName(_ db: Database) throws -> String {
        try String.fetchOne(
            db, sql: "SELECT tbl_name FROM main.sqlite_master WHERE type = 'trigger' AND name = ?",
            arguments: ["_sync_i_\(number)"]) ?? name
    }

    /// The table in SQL. The schema is named, because a temporary table of the
    /// same name would stand before it.
    var qualifiedName: String { "main." + storageName.quotedDatabaseIdentifier }

    /// The SQL that finds a row by its key, byte for byte, whatever the
    /// collation of the key column is.
    ///
    /// The first comparison is the one that an index of the key serves, the second one counts.
    ///
    /// - parameters:
    ///     - parameter: The key that is looked for, as SQL.
    ///     - alias: What the statement calls the table, if it has another name there.
    func keyMatch(_ parameter: String, of alias: String? = nil) -> String {
        let key = (alias.map { $0 + "." } ?? "") + key.quotedDatabaseIdentifier
        return "\(key) = \(parameter) AND \(key) = \(parameter) COLLATE BINARY"
    }

    /// The key in SQL, as the left side of a comparison: byte for byte, whatever the collation of the key column is.
    var keyAsBytes: String { "\(key.quotedDatabaseIdentifier) COLLATE BINARY" }

    /// The key in SQL, for subqueries: where it had no table, a column of the same name there would stand before it, such as
    /// the `pk` of the metadata.
    var qualifiedKey: String { "\(qualifiedName).\(key.quotedDatabaseIdentifier)" }

    /// The key in SQL, as the right side of a comparison with a key of the metadata, in a subquery that looks for it there.
    ///
    /// Keys of the metadata have no type. A key of the affinity NUMERIC, such as `id UUID`, would turn them into numbers in
    /// the comparison, which no index of theirs serves. `+` takes the type away, and a UUID is no number.
    ///
    /// - parameter alias: What the statement calls the table, if it has another name there.
    func untypedKey(of alias: String? = nil) -> String {
        "+" + (alias.map { "\($0).\(key.quotedDatabaseIdentifier)" } ?? qualifiedKey)
    }

    /// What others are told that the key is called.
    ///
    /// Others may have a column of the key's name, because they call their key otherwise, or because somebody said so before
    /// the table was here. No header names both, and no receiver looks for a key by its name.
    var announcedKey: String {
        let names = Set(columns.map { $0.name.identifierKey })
        guard names.contains(key.identifierKey) else { return key }
        return (0...columns.count).lazy.map { "key\($0)" }.first { !names.contains($0) } ?? key
    }

    /// The columns that the local table has.
    var presentColumns: [Column] { columns.filter(\.isPresent) }
}

extension Sequence {
    /// The first element that has one of some names.
    func named(_ names: [String], by name: (Element) -> String) -> Element? {
        let keys = Set(names.map { $0.identifierKey })
        return first { keys.contains(name($0).identifierKey) }
    }
}
