/// What is known of a table that is being defined, for keys that refer to it.
struct TableContext {
    /// The columns of a primary key with their types.
    typealias Key = [(name: String, type: Database.ColumnType?)]

    /// The name of the table.
    let table: String

    /// Its primary key; nil for a table that exists, whose key the schema tells.
    let key: Key?

    /// Whether the key is being found out, and can't be referred to.
    var isIncomplete = false

    /// The columns of the primary key of a table.
    func primaryKey(_ db: Database, of name: String) throws -> [String] {
        try key(db, of: name).map(\.name)
    }

    /// The columns of the primary key of a table, with their types.
    func key(_ db: Database, of name: String) throws -> Key {
        if name.isSameIdentifier(as: table), let key {
            guard !isIncomplete else {
                throw DatabaseError(
                    resultCode: .SQLITE_ERROR,
                    message: "the primary key of table \(table) refers to itself")
            }
            return key.isEmpty ? Self.rowID : key
        }
        let info = try db.primaryKey(name)
        return info.columnInfos?.map { ($0.name, $0.columnType) } ?? Self.rowID
    }

    private static let rowID: Key = [("rowid", .integer)]

    /// Whether a table is this one, or exists.
    func isTable(_ db: Database, _ name: String) throws -> Bool {
        try name.isSameIdentifier(as: table) || db.tableExists(name)
    }
}
