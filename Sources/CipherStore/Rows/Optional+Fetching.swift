extension Optional where Wrapped: DatabaseValueConvertible {
    /// Returns the first value of a statement.
    ///
    /// - returns: nil when there is no row, and `.some(nil)` when the value is NULL.
    /// - throws: A ``DatabaseError``, or a ``RowDecodingError`` when the value does not fit.
    public static func fetchOne(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> Wrapped?? {
        try DatabaseValueCursor<Wrapped?>(statement, arguments, adapter).next()
    }

    /// Returns the first value of a query.
    ///
    /// - returns: nil when there is no row, and `.some(nil)` when the value is NULL.
    /// - throws: A ``DatabaseError``, or a ``RowDecodingError`` when the value does not fit.
    public static func fetchOne(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Wrapped?? {
        try fetchOne(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Returns the first value of a request.
    ///
    /// - returns: nil when there is no row, and `.some(nil)` when the value is NULL.
    /// - throws: A ``DatabaseError``, or a ``RowDecodingError`` when the value does not fit.
    public static func fetchOne(_ db: Database, _ request: some FetchRequest) throws -> Wrapped?? {
        let request = try request.makePreparedRequest(db, forSingleResult: true)
        return try fetchOne(request.statement, adapter: request.adapter)
    }
}
