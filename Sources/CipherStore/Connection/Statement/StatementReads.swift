import CSQLCipher

/// What a statement reads.
struct StatementReads {
    var region: DatabaseRegion

    /// How many SELECTs it is made of.
    var selectCount: Int

    init(region: DatabaseRegion, selectCount: Int) {
        self.region = region
        self.selectCount = selectCount
    }

    /// Prepares the statement once more, and listens to what SQLite asks.
    ///
    /// Pragmas act when they are prepared, so they are left alone, and read nothing.
    init(database: Database, sql: String) {
        region = DatabaseRegion()
        selectCount = 0
        let word = SQLText.firstWord(sql)
        guard word != "pragma", word != "explain" else { return }
        var statement: SQLiteStatement?
        var code: CInt = 0
        let recorded = database.authorizer.recordingReads {
            code = sqlite3_prepare_v2(database.handle, sql, -1, &statement, nil)
        }
        defer { sqlite3_finalize(statement) }
        selectCount = recorded.selectCount
        // What can't be prepared any longer may read everything.
        region = code == SQLITE_OK ? recorded.region : .fullDatabase
        if EngineFeatures.current.supportsGeneratedColumns {
            database.authorizer.trusting {
                database.withoutTracing { widenToGeneratedColumns(database.handle) }
            }
        }
        guard let statement, !EngineFeatures.current.authorizesTablesWithoutColumns,
            sqlite3_stmt_readonly(statement) != 0, sqlite3_column_count(statement) > 0
        else { return }
        database.withoutTracing { addOpenedTables(database.handle, sql) }
    }

    /// Adds all columns of the tables of which a generated column is read.
    ///
    /// SQLite does not ask about those that it is computed from, and names only those as updated.
    private mutating func widenToGeneratedColumns(_ handle: SQLiteConnection) {
        let tables = (region.tables ?? [:]).values.filter { $0.columns != nil }
        guard !tables.isEmpty else { return }
        let schemas = Self.texts(handle, "PRAGMA database_list", column: 1)
        for table in tables {
            let name = table.name.quotedDatabaseIdentifier
            // The region does not tell in which schema a table is.
            let generated = schemas.flatMap { schema in
                Self.texts(
                    handle, "PRAGMA \(schema.quotedDatabaseIdentifier).table_xinfo(\(name))", column: 1,
                    where: { [2, 3].contains(sqlite3_column_int($0, 6)) })
            }
            if generated.contains(where: { table.columns?[$0.foldedIdentifier] != nil }) {
                region.insert(column: "", of: table.name)
            }
        }
    }

    /// The texts in a column of the rows that a condition takes, as far as they can be read.
    private static func texts(
        _ handle: SQLiteConnection, _ sql: String, column: CInt,
        where isIncluded: (SQLiteStatement) -> Bool = { _ in true }
    ) -> [String] {
        var statement: SQLiteStatement?
        defer { sqlite3_finalize(statement) }
        var texts: [String] = []
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
            return texts
        }
        while sqlite3_step(statement) == SQLITE_ROW {
            guard isIncluded(statement), let text = sqlite3_column_text(statement, column) else { continue }
            texts.append(String(cString: text))
        }
        return texts
    }

    /// Adds the tables of which no column is read, as in `SELECT count(*)`.
    ///
    /// SQLite before 3.19 does not ask about them, but the program of the
    /// statement opens them, or one of their indexes.
    private mutating func addOpenedTables(_ handle: SQLiteConnection, _ sql: String) {
        var program: SQLiteStatement?
        defer { sqlite3_finalize(program) }
        guard sqlite3_prepare_v2(handle, "EXPLAIN " + sql, -1, &program, nil) == SQLITE_OK else {
            region = .fullDatabase
            return
        }
        var roots: Set<[CInt]> = []
        // A program names a virtual table by its address only.
        var virtualTables: Set<String> = []
        var code = sqlite3_step(program)
        while code == SQLITE_ROW {
            let opcode = sqlite3_column_text(program, 1).map { String(cString: $0) }
            if opcode == "OpenRead" {
                roots.insert([sqlite3_column_int(program, 4), sqlite3_column_int(program, 3)])
            } else if opcode == "VOpen", let address = sqlite3_column_text(program, 5) {
                virtualTables.insert(String(cString: address))
            }
            code = sqlite3_step(program)
        }
        if code != SQLITE_DONE { region = .fullDatabase }
        for root in roots {
            guard let table = Self.table(handle, schema: root[0], rootPage: root[1]) else {
                region = .fullDatabase
                return
            }
            if !region.contains(table: table) { region.insert(column: "", of: table) }
        }
        addVirtualTables(handle, opened: virtualTables.count)
    }

    /// Adds all virtual tables of the schemas when a program opens more of them than the region names.
    ///
    /// Which one has no name in the region is not known. Those that a module has without a schema, such as
    /// `json_each`, never change.
    private mutating func addVirtualTables(_ handle: SQLiteConnection, opened: Int) {
        guard opened > 0, let tables = region.tables else { return }
        var virtual: [String] = []
        var others: Set<String> = ["sqlite_master", "sqlite_temp_master"]
        for schema in Self.texts(handle, "PRAGMA database_list", column: 1) {
            let master = schema == "temp" ? "sqlite_temp_master" : "sqlite_master"
            let source = "\(schema.quotedDatabaseIdentifier).\(master)"
            virtual += Self.texts(
                handle, "SELECT name FROM \(source) WHERE type = 'table' AND rootpage = 0", column: 0)
            let named = Self.texts(
                handle, "SELECT name FROM \(source) WHERE type = 'view' OR rootpage <> 0", column: 0)
            others.formUnion(named.map(\.foldedIdentifier))
        }
        guard tables.keys.filter({ !others.contains($0) }).count < opened else { return }
        for table in virtual where !region.contains(table: table) {
            region.insert(column: "", of: table)
        }
    }

    /// The table that has a root page, or an index with that page.
    private static func table(_ handle: SQLiteConnection, schema: CInt, rootPage: CInt) -> String? {
        let master = schema == 1 ? "sqlite_temp_master" : "sqlite_master"
        if rootPage == 1 { return master }
        guard let name = schemaName(handle, schema) else { return nil }
        return SQLiteHandle.text(
            handle,
            """
            SELECT tbl_name FROM \(name.quotedDatabaseIdentifier).\(master)
            WHERE rootpage = \(rootPage) AND type IN ('table', 'index')
            """)
    }

    private static func schemaName(_ handle: SQLiteConnection, _ index: CInt) -> String? {
        if index == 0 { return "main" }
        if index == 1 { return "temp" }
        var statement: SQLiteStatement?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(handle, "PRAGMA database_list", -1, &statement, nil) == SQLITE_OK else {
            return nil
        }
        while sqlite3_step(statement) == SQLITE_ROW {
            guard sqlite3_column_int(statement, 0) == index else { continue }
            return sqlite3_column_text(statement, 1).map { String(cString: $0) }
        }
        return nil
    }
}

extension Statement {
    /// The region that the statement reads.
    ///
    /// ```swift
    /// let statement = try db.makeStatement(sql: "SELECT name FROM player")
    /// statement.databaseRegion   // player(name)
    /// ```
    ///
    /// It is found when it is first asked for, and costs as much as to prepare
    /// the statement. The region of a pragma is empty.
    public var databaseRegion: DatabaseRegion {
        guard !watch.isClosed, let requestRegion else { return reads.region }
        do {
            return try requestRegion(reads)
        } catch {
            // What is not known may be anything: better a change too many than one too few.
            return .fullDatabase
        }
    }
}
