import CipherStore

/// A table or view of a store as it is defined, with what hangs on it.
struct StoreSchema: Encodable {
    struct Column: Encodable {
        let name: String
        let type: String
        let notNull: Bool
        let defaultValue: String?
        /// The place in the primary key, from 1; 0 for columns that are not in it.
        let key: Int
    }
    struct Part: Encodable {
        let name: String
        let sql: String
    }

    let name: String
    /// `table`, `virtual` or `view`.
    let kind: String
    let sql: String
    let columns: [Column]
    let indexes: [Part]
    let triggers: [Part]

    /// The definitions as statements. Their texts may hold anything, so only line ends are kept of what acts.
    var text: String {
        ([sql] + indexes.map(\.sql) + triggers.map(\.sql)).map { statement in
            statement.split(separator: "\n", omittingEmptySubsequences: false)
                .map { PrintableText.escaped(String($0)) }.joined(separator: "\n") + ";"
        }.joined(separator: "\n")
    }

    /// What belongs to SQLite and to synchronization is left out.
    private static func isOwn(_ column: String) -> String {
        "substr(\(column), 1, 6) <> '_sync_' AND substr(\(column), 1, 7) <> 'sqlite_'"
    }

    /// The names of the tables and views.
    static func names(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND \(isOwn("name")) ORDER BY name
                """)
    }

    /// Reads definitions.
    ///
    /// - parameter tables: The tables and views; none for all.
    /// - throws: ``Failure`` when there is no such table.
    static func load(_ db: Database, tables: [String]) throws -> [StoreSchema] {
        let names = try names(db)
        guard !tables.isEmpty else { return try names.map { try load(db, $0) } }
        return try tables.map { table in
            guard let name = names.first(where: { $0.isSameIdentifier(as: table) }) else {
                throw Failure(
                    "there is no table \(table)", hints: ["tables: \(names.joined(separator: ", "))"])
            }
            return try load(db, name)
        }
    }

    private static func load(_ db: Database, _ name: String) throws -> StoreSchema {
        let row = try Row.fetchOne(
            db, sql: "SELECT type, sql FROM sqlite_master WHERE type IN ('table', 'view') AND name = ?",
            arguments: [name])
        let sql = try row?.decodeIfPresent(String.self, atIndex: 1) ?? ""
        let type = try row?.decode(String.self, atIndex: 0) ?? "table"
        let columns = try Row.fetchAll(db, sql: "PRAGMA table_info(\(name.quotedDatabaseIdentifier))").map {
            Column(
                name: try $0.decode(atIndex: 1), type: try $0.decodeIfPresent(atIndex: 2) ?? "",
                notNull: try $0.decode(Int.self, atIndex: 3) != 0,
                defaultValue: try $0.decodeIfPresent(atIndex: 4), key: try $0.decode(atIndex: 5))
        }
        return StoreSchema(
            name: name, kind: sql.uppercased().hasPrefix("CREATE VIRTUAL") ? "virtual" : type, sql: sql,
            columns: columns, indexes: try parts(db, "index", of: name),
            triggers: try parts(db, "trigger", of: name))
    }

    private static func parts(_ db: Database, _ type: String, of table: String) throws -> [Part] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT name, sql FROM sqlite_master WHERE type = ? AND tbl_name = ? AND sql IS NOT NULL
                AND \(isOwn("name")) ORDER BY name
                """, arguments: [type, table]
        ).map { Part(name: try $0.decode(atIndex: 0), sql: try $0.decode(atIndex: 1)) }
    }
}
