/// Whether a dump of tables has their names.
public enum DumpTableHeaderOptions: Sendable {
    /// When there is more than one table.
    case automatic
    /// Always.
    case always
}

extension Database {
    /// Writes the rows of statements as text, for debugging.
    ///
    /// ```swift
    /// try db.dumpSQL("SELECT * FROM player ORDER BY id")
    /// // 1|Arthur|500
    /// // 2|Barbara|1000
    /// ```
    ///
    /// A dump holds data in the clear: mind where it goes.
    ///
    /// - parameters:
    ///     - sql: The statements, separated by semicolons.
    ///     - format: How rows are written.
    ///     - stream: Where they are written; standard output when nil.
    /// - throws: A ``DatabaseError``, after the rows before it were written.
    public func dumpSQL(
        _ sql: SQL, format: some DumpFormat = .debug(), to stream: (any TextOutputStream)? = nil
    ) throws {
        var stream = DumpStream(stream)
        let (sql, arguments) = try sql.build(self)
        let statements = try allStatements(sql: sql, arguments: arguments)
        while let statement = try statements.next() {
            try dump(statement, format, to: &stream)
        }
    }

    /// Writes the rows of a request as text, for debugging.
    ///
    /// The rows of other requests that it prefetches follow, under their names.
    ///
    /// - parameters:
    ///     - request: The request.
    ///     - format: How rows are written.
    ///     - stream: Where they are written; standard output when nil.
    /// - throws: A ``DatabaseError``.
    public func dumpRequest(
        _ request: some FetchRequest, format: some DumpFormat = .debug(),
        to stream: (any TextOutputStream)? = nil
    ) throws {
        var stream = DumpStream(stream)
        let request = try request.makePreparedRequest(self, forSingleResult: false)
        try dump(request.statement, format, to: &stream)
        guard let completion = request.completion else { return }
        let rows = try Row.fetchAll(request.statement, adapter: request.adapter)
        for associated in try completion(self, .rows(rows)) {
            stream.margin()
            stream.writeln(associated.path.last ?? "")
            try dump(associated.all.rows.map(\.withoutInternalColumns), format, to: &stream)
        }
    }

    /// Writes the rows of tables or views as text, for debugging.
    ///
    /// - parameters:
    ///     - tables: The names of the tables or views.
    ///     - format: How rows are written.
    ///     - tableHeader: Whether the name of each table is written.
    ///     - stableOrder: Whether the rows of a view are sorted, by its primary
    ///       key if a schema source gives one. Those of a table always are.
    ///     - stream: Where they are written; standard output when nil.
    /// - throws: A ``DatabaseError``.
    public func dumpTables(
        _ tables: [String], format: some DumpFormat = .debug(),
        tableHeader: DumpTableHeaderOptions = .automatic, stableOrder: Bool = false,
        to stream: (any TextOutputStream)? = nil
    ) throws {
        var stream = DumpStream(stream)
        let hasHeader = tableHeader == .always || tables.count > 1
        try dump(tables, format, hasHeader: hasHeader, stableOrder: stableOrder, to: &stream)
    }

    /// Writes the schema and the rows of all tables as text, for debugging.
    ///
    /// Tables that belong to SQLite, to the library or to a virtual table are left out.
    ///
    /// - parameters:
    ///     - format: How rows are written.
    ///     - stream: Where they are written; standard output when nil.
    /// - throws: A ``DatabaseError``.
    public func dumpContent(
        format: some DumpFormat = .debug(), to stream: (any TextOutputStream)? = nil
    ) throws {
        var stream = DumpStream(stream)
        let objects = try dumpedObjects()
        write(objects, to: &stream)
        let tables = objects.filter { $0.type == "table" }.map(\.name)
        try dump(tables, format, hasHeader: true, stableOrder: true, to: &stream)
    }

    /// Writes the schema as text, for debugging.
    ///
    /// What belongs to SQLite, to the library or to a virtual table is left out.
    ///
    /// - parameter stream: Where it is written; standard output when nil.
    /// - throws: A ``DatabaseError``.
    public func dumpSchema(to stream: (any TextOutputStream)? = nil) throws {
        var stream = DumpStream(stream)
        write(try dumpedObjects(), to: &stream)
    }

    // MARK: Rows

    private func dump(
        _ tables: [String], _ format: some DumpFormat, hasHeader: Bool, stableOrder: Bool,
        to stream: inout DumpStream
    ) throws {
        for table in tables {
            if hasHeader {
                stream.margin()
                stream.writeln(table)
            }
            let order = try dumpOrder(of: table, stable: stableOrder)
            try dump(
                makeStatement(sql: "SELECT * FROM \(table.quotedDatabaseIdentifier)\(order)"), format,
                to: &stream)
        }
    }

    private func dump(
        _ statement: Statement, _ format: some DumpFormat, to stream: inout DumpStream
    ) throws {
        var format = format
        let rows = try Row.fetchCursor(statement)
        while let row = try rows.next() { try format.writeRow(row, to: &stream) }
        try format.finalize(columnNames: statement.columnNames, to: &stream)
    }

    private func dump(_ rows: [Row], _ format: some DumpFormat, to stream: inout DumpStream) throws {
        var format = format
        for row in rows { try format.writeRow(row, to: &stream) }
        try format.finalize(columnNames: rows.first?.columnNames ?? ["rows"], to: &stream)
    }

    private func dumpOrder(of table: String, stable: Bool) throws -> String {
        let columns: [String]
        if try tableExists(table) {
            columns = try primaryKey(table).columns
        } else if stable {
            let key = try? primaryKey(table).columns
            columns = try key ?? self.columns(in: table).map(\.name)
        } else {
            return ""
        }
        return " ORDER BY " + columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
    }

    // MARK: Schema

    private struct SchemaObject {
        let type: String
        let name: String
        let sql: String
    }

    private func write(_ objects: [SchemaObject], to stream: inout DumpStream) {
        stream.writeln("sqlite_master")
        for object in objects { stream.writeln(object.sql + ";") }
    }

    /// The objects of the main schema that belong to the application: each
    /// table with its indexes and triggers, in the order of their names.
    private func dumpedObjects() throws -> [SchemaObject] {
        let shadowTables = try shadowTables()
        let rows = try Row.fetchCursor(
            self,
            sql: """
                SELECT type, name, tbl_name, sql FROM main.sqlite_master WHERE sql IS NOT NULL
                ORDER BY tbl_name COLLATE NOCASE,
                CASE type WHEN 'index' THEN 1 WHEN 'trigger' THEN 2 ELSE 0 END, name COLLATE NOCASE
                """)
        var objects: [SchemaObject] = []
        while let row = try rows.next() {
            let object = SchemaObject(type: row[0], name: row[1], sql: row[3])
            let table: String = row[2]
            let isInternal = [object.name, table].contains {
                Database.isSQLiteInternalTable($0) || Database.isGRDBInternalTable($0)
                    || shadowTables.contains($0.foldedIdentifier)
            }
            if !isInternal { objects.append(object) }
        }
        return objects
    }

    /// The folded names of the tables that virtual tables keep their data in.
    private func shadowTables() throws -> Set<String> {
        if Database.sqliteLibVersionNumber >= 3_037_000 {
            return try Set(
                String.fetchCursor(self, sql: "SELECT name FROM pragma_table_list WHERE type = 'shadow'")
                    .map(\.foldedIdentifier))
        }
        // Older libraries don't tell, but the modules that come with SQLite have fixed names for them.
        let suffixes = [
            "content", "segments", "segdir", "docsize", "stat", "data", "idx", "config", "node", "rowid",
            "parent",
        ]
        let tables = try String.fetchAll(
            self,
            sql: """
                SELECT name FROM main.sqlite_master
                WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%'
                """)
        return Set(tables.flatMap { table in suffixes.map { "\(table.foldedIdentifier)_\($0)" } })
    }
}

extension Row {
    /// The row without the columns by which it was dealt out to other rows.
    fileprivate var withoutInternalColumns: Row {
        Row(zip(columnNames, databaseValues).filter { !$0.0.hasPrefix("grdb_") })
    }
}
