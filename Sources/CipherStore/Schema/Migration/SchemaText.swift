/// The statements that made a schema, for comparing it with another one.
struct SchemaText: Equatable {
    private struct Object: Hashable {
        let type: String
        let name: String
        let table: String
        let sql: String?
    }

    private let objects: Set<Object>

    /// Reads the main schema, without what belongs to SQLite or to the library.
    init(_ db: Database) throws {
        var objects: Set<Object> = []
        let rows = try Row.fetchCursor(db, sql: "SELECT type, name, tbl_name, sql FROM main.sqlite_master")
        while let row = try rows.next() {
            let object = Object(
                type: try row.decode(atIndex: 0), name: try row.decode(atIndex: 1),
                table: try row.decode(atIndex: 2), sql: try row.decodeIfPresent(atIndex: 3))
            let isInternal = [object.name, object.table].contains {
                Database.isSQLiteInternalTable($0) || Database.isGRDBInternalTable($0)
            }
            if !isInternal { objects.insert(object) }
        }
        self.objects = objects
    }
}

extension Database {
    /// Opens a new database in memory that is set up as this one.
    func emptyCopyInMemory() throws -> Database {
        var configuration = configuration
        configuration.readonly = false
        configuration.requiresExistingFile = false
        return try Database(path: ":memory:", configuration: configuration, keyCache: KeyCache())
    }

    /// Drops all that is in the main schema, in one transaction, and gives the
    /// space back.
    ///
    /// - throws: A ``DatabaseError``. In a transaction nothing can be erased,
    ///   because foreign keys can't be switched off there.
    func eraseContent() throws {
        guard !isInsideTransaction else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "a database can't be erased inside of a transaction")
        }
        let enforcesForeignKeys = try Bool.fetchOne(self, sql: "PRAGMA foreign_keys") ?? false
        try execute(sql: "PRAGMA foreign_keys = OFF")
        let result = Result {
            try inTransaction(.immediate) {
                try dropAll()
                try execute(sql: "PRAGMA user_version = 0; PRAGMA application_id = 0")
                return .commit
            }
        }
        if enforcesForeignKeys { try execute(sql: "PRAGMA foreign_keys = ON") }
        try result.get()
        clearSchemaCache()
        try execute(sql: "VACUUM")
    }

    private func dropAll() throws {
        // A virtual table takes its own tables with it, so it goes before them.
        let steps = [
            ("TRIGGER", "type = 'trigger'"), ("VIEW", "type = 'view'"),
            ("TABLE", "type = 'table' AND sql LIKE 'CREATE VIRTUAL%'"),
            (
                "TABLE",
                "type = 'table' AND (name NOT LIKE 'sqlite!_%' ESCAPE '!' OR name LIKE 'sqlite!_stat%' ESCAPE '!')"
            ),
        ]
        for (kind, condition) in steps {
            let names = try String.fetchAll(
                self, sql: "SELECT name FROM main.sqlite_master WHERE \(condition)")
            for name in names { try execute(sql: "DROP \(kind) main.\(name.quotedDatabaseIdentifier)") }
        }
    }
}
