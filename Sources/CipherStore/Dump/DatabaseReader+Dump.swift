extension DatabaseReader {
    /// Writes the rows of statements as text, for debugging.
    ///
    /// ```swift
    /// try dbQueue.dumpSQL("SELECT * FROM player ORDER BY id")
    /// // 1|Arthur|500
    /// // 2|Barbara|1000
    /// ```
    ///
    /// Each function of this kind can also be called in an access block, and in a debugger.
    ///
    /// - parameters:
    ///     - sql: The statements, separated by semicolons.
    ///     - format: How rows are written.
    ///     - stream: Where they are written; standard output when nil.
    /// - throws: A ``DatabaseError``, after the rows before it were written.
    public func dumpSQL(
        _ sql: SQL, format: some DumpFormat = .debug(), to stream: (any TextOutputStream)? = nil
    ) throws {
        try unsafeReentrantRead { try $0.dumpSQL(sql, format: format, to: stream) }
    }

    /// Writes the rows of a request as text; see ``Database/dumpRequest(_:format:to:)``.
    ///
    /// - throws: A ``DatabaseError``.
    public func dumpRequest(
        _ request: some FetchRequest, format: some DumpFormat = .debug(),
        to stream: (any TextOutputStream)? = nil
    ) throws {
        try unsafeReentrantRead { try $0.dumpRequest(request, format: format, to: stream) }
    }

    /// Writes the rows of tables or views as text; see
    /// ``Database/dumpTables(_:format:tableHeader:stableOrder:to:)``.
    ///
    /// - throws: A ``DatabaseError``.
    public func dumpTables(
        _ tables: [String], format: some DumpFormat = .debug(),
        tableHeader: DumpTableHeaderOptions = .automatic, stableOrder: Bool = false,
        to stream: (any TextOutputStream)? = nil
    ) throws {
        try unsafeReentrantRead { db in
            try db.dumpTables(
                tables, format: format, tableHeader: tableHeader, stableOrder: stableOrder, to: stream)
        }
    }

    /// Writes the schema and the rows of all tables as text; see ``Database/dumpContent(format:to:)``.
    ///
    /// - throws: A ``DatabaseError``.
    public func dumpContent(
        format: some DumpFormat = .debug(), to stream: (any TextOutputStream)? = nil
    ) throws {
        try unsafeReentrantRead { try $0.dumpContent(format: format, to: stream) }
    }

    /// Writes the schema as text; see ``Database/dumpSchema(to:)``.
    ///
    /// - throws: A ``DatabaseError``.
    public func dumpSchema(to stream: (any TextOutputStream)? = nil) throws {
        try unsafeReentrantRead { try $0.dumpSchema(to: stream) }
    }
}
