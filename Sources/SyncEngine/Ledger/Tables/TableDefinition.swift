import CipherStore

/// The key and the columns of a table in the local schema.
struct TableDefinition {
    let name: String
    let key: String
    /// The columns other than the key.
    let columns: [String]
    /// The columns' defaults as expressions, by lowercased name.
    let defaults: [String: String]

    /// Reads the definition of a table that can be tracked.
    ///
    /// - throws: ``SyncError`` that names what stands against it.
    static func load(_ db: Database, _ name: String) throws -> TableDefinition {
        guard !MetadataSchema.isReserved(name) else {
            throw SyncError(.unsuitableTable, "table \(name) belongs to the library")
        }
        let sql =
            "SELECT name, type, sql FROM main.sqlite_master WHERE lower(name) = lower(?) AND type IN ('table', 'view')"
        guard let row = try Row.fetchOne(db, sql: sql, arguments: [name]) else {
            throw SyncError(.noSuchTable, "there is no table \(name)")
        }
        let realName: String = try row.decode(atIndex: 0)
        let type: String = try row.decode(atIndex: 1)
        let text: String = try row.decodeIfPresent(atIndex: 2) ?? ""
        guard type == "table", !text.uppercased().hasPrefix("CREATE VIRTUAL") else {
            throw SyncError(.unsuitableTable, "\(name) is a \(type == "view" ? "view" : "virtual table")")
        }
        let columns = try Row.fetchAll(
            db, sql: "PRAGMA main.table_info(\(realName.quotedDatabaseIdentifier))")
        let keys = try columns.filter { try $0.decode(Int.self, forColumn: "pk") > 0 }
        guard keys.count == 1, let key = keys.first else {
            throw SyncError(
                .unsuitableKey,
                keys.isEmpty
                    ? "table \(name) has no primary key; synchronization needs one UUID column as its key"
                    : "table \(name) has a primary key of \(keys.count) columns; synchronization needs one UUID column"
            )
        }
        let keyType = try key.decode(String.self, forColumn: "type")
        guard keyType.uppercased() != "INTEGER" else {
            throw SyncError(
                .unsuitableKey,
                "the key of table \(name) is an integer; two devices would give the same number to different rows, so synchronization needs a UUID"
            )
        }
        let keyName = try key.decode(String.self, forColumn: "name")
        let names = try columns.map { try $0.decode(String.self, forColumn: "name") }
        // What comes of a row is written by one statement, with an argument for each column.
        let countMax = db.maximumStatementArgumentCount
        guard names.count <= countMax else {
            throw SyncError(
                .unsuitableTable,
                """
                table \(name) has \(names.count) columns, and this version of SQLite can write rows of \(countMax) at most; \
                split the table
                """)
        }
        var defaults: [String: String] = [:]
        for column in columns {
            let name = try column.decode(String.self, forColumn: "name").identifierKey
            defaults[name] = try column.decodeIfPresent(String.self, atIndex: 4).map {
                ColumnInfo.expression(ofDefault: $0)
            }
        }
        return TableDefinition(
            name: realName, key: keyName, columns: names.filter { !$0.isSameIdentifier(as: keyName) },
            defaults: defaults)
    }

    /// Checks that each key is a UUID.
    func checkKeys(_ db: Database) throws {
        let key = key.quotedDatabaseIdentifier
        let count = try Int.fetchOne(
            db,
            sql: "SELECT count(*) FROM main.\(name.quotedDatabaseIdentifier) WHERE NOT \(Self.isUUID(key))")
        guard let count, count > 0 else { return }
        throw SyncError(
            .unsuitableKey,
            "table \(name) has \(count) \(count == 1 ? "row" : "rows") whose key is no UUID: a blob of 16 bytes, or text of 36 characters"
        )
    }

    /// Refuses triggers that would run for ever (``SelfFiringTriggers``).
    func checkTriggers(_ db: Database) throws {
        guard let trigger = try SelfFiringTriggers(db).names(of: name).first else { return }
        throw SyncError(.unsuitableTable, SelfFiringTriggers.complaint(trigger, table: name))
    }

    /// The SQL that tells whether a key is a UUID.
    static func isUUID(_ key: String) -> String {
        let group = "[0-9a-fA-F]"
        let pattern = [8, 4, 4, 4, 12].map { String(repeating: group, count: $0) }.joined(separator: "-")
        return """
            ((typeof(\(key)) = 'blob' AND length(\(key)) = 16)
            OR (typeof(\(key)) = 'text' AND \(key) GLOB '\(pattern)' AND length(CAST(\(key) AS BLOB)) = 36))
            """
    }
}
