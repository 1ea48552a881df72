import CipherStore

/// A table of a store: its size, its key, and whether its rows are synchronized.
struct StoreTable: Encodable {
    let name: String
    /// Absent for a table that cannot be read.
    let rows: Int64?
    let key: [String]
    let tracked: Bool
    /// Why it cannot be tracked as it is; absent when it can.
    let obstacle: String?

    /// Reads the tables.
    ///
    /// - parameters:
    ///   - tracked: The keys of the names of those that are tracked.
    ///   - table: The one that is read; nil for all.
    static func load(_ db: Database, tracked: Set<String>, named table: String? = nil) throws -> [StoreTable]
    {
        let names = try TextExport.tables(db).filter { table?.isSameIdentifier(as: $0) ?? true }
        return try names.map { name in
            let isTracked = tracked.contains(name.identifierKey)
            let columns = try Row.fetchAll(db, sql: "PRAGMA table_info(\(name.quotedDatabaseIdentifier))")
            let keys = try columns.filter { try $0.decode(Int.self, forColumn: "pk") > 0 }
            return StoreTable(
                name: name,
                rows: try? Int64.fetchOne(db, sql: "SELECT count(*) FROM \(name.quotedDatabaseIdentifier)"),
                key: try keys.map { try $0.decode(String.self, forColumn: "name") }, tracked: isTracked,
                obstacle: isTracked ? nil : try obstacle(db, name, keys))
        }
    }

    private static func obstacle(_ db: Database, _ table: String, _ keys: [Row]) throws -> String? {
        let sql = try String.fetchOne(
            db, sql: "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", arguments: [table])
        if sql?.uppercased().hasPrefix("CREATE VIRTUAL") ?? false { return "it is a virtual table" }
        guard keys.count == 1, let key = keys.first else {
            return keys.isEmpty ? "it has no primary key" : "its key has \(keys.count) columns"
        }
        if try key.decode(String.self, forColumn: "type").uppercased() == "INTEGER" {
            return "its key is an integer"
        }
        let name = try key.decode(String.self, forColumn: "name").quotedDatabaseIdentifier
        let group = "[0-9a-fA-F]"
        let pattern = [8, 4, 4, 4, 12].map { String(repeating: group, count: $0) }.joined(separator: "-")
        let count = try Int.fetchOne(
            db,
            sql: """
                SELECT count(*) FROM \(table.quotedDatabaseIdentifier) WHERE NOT
                ((typeof(\(name)) = 'blob' AND length(\(name)) = 16)
                OR (typeof(\(name)) = 'text' AND \(name) GLOB '\(pattern)' AND length(CAST(\(name) AS BLOB)) = 36))
                """)
        guard let count, count > 0 else { return nil }
        return
            "\(HumanFormat.count(count, "row has a key", plural: "rows have keys")) that \(count == 1 ? "is" : "are") no UUID"
    }
}
