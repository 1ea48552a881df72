// The rows that are fetched at once are copies; those of a cursor are one object.

extension Row {
    // MARK: From a statement

    /// Returns a cursor of the rows of a statement.
    ///
    /// - throws: A ``DatabaseError`` when the arguments or the adapter do not fit.
    public static func fetchCursor(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> RowCursor {
        try RowCursor(statement, arguments, adapter)
    }

    /// Returns all rows of a statement.
    ///
    /// - throws: A ``DatabaseError``.
    public static func fetchAll(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> [Row] {
        try Array(fetchCursor(statement, arguments: arguments, adapter: adapter).map { $0.copy() })
    }

    /// Returns the first row of a statement, or nil.
    ///
    /// - throws: A ``DatabaseError``.
    public static func fetchOne(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> Row? {
        let cursor = try fetchCursor(statement, arguments: arguments, adapter: adapter)
        let row = try cursor.next()?.copy()
        try cursor.run.finish()
        return row
    }

    // MARK: From SQL

    /// Returns a cursor of the rows of a query.
    ///
    /// - throws: A ``DatabaseError`` when the query, the arguments or the adapter do not fit.
    public static func fetchCursor(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> RowCursor {
        try fetchCursor(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Returns all rows of a query.
    ///
    /// - throws: A ``DatabaseError``.
    public static func fetchAll(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> [Row] {
        try db.withStatement(sql: sql) { try fetchAll($0, arguments: arguments, adapter: adapter) }
    }

    /// Returns the first row of a query, or nil.
    ///
    /// - throws: A ``DatabaseError``.
    public static func fetchOne(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Row? {
        try db.withStatement(sql: sql) { try fetchOne($0, arguments: arguments, adapter: adapter) }
    }

    // MARK: From a request

    /// Returns a cursor of the rows of a request.
    ///
    /// - throws: A ``DatabaseError``, also for a request that prefetches the rows of other requests.
    public static func fetchCursor(
        _ db: Database, _ request: some FetchRequest
    ) throws -> RowCursor {
        let request = try request.makePreparedRequest(db, forSingleResult: false)
        try request.checkAllowsCursor()
        return try fetchCursor(request.statement, adapter: request.adapter)
    }

    /// Returns all rows of a request.
    ///
    /// - throws: A ``DatabaseError``.
    public static func fetchAll(
        _ db: Database, _ request: some FetchRequest
    ) throws -> [Row] {
        var request = try request.makePreparedRequest(db, forSingleResult: false)
        defer { request.returnStatement(to: db) }
        return try request.completedRows(db)
            ?? fetchAll(request.statement, adapter: request.adapter)
    }

    /// Returns the first row of a request, or nil.
    ///
    /// - throws: A ``DatabaseError``.
    public static func fetchOne(
        _ db: Database, _ request: some FetchRequest
    ) throws -> Row? {
        var request = try request.makePreparedRequest(db, forSingleResult: true)
        defer { request.returnStatement(to: db) }
        guard let rows = try request.completedRows(db, limit: 1) else {
            return try fetchOne(request.statement, adapter: request.adapter)
        }
        return rows.first
    }
}

extension Row {
    /// Returns the set of the rows of a statement.
    ///
    /// - throws: A ``DatabaseError``.
    public static func fetchSet(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> Set<Row> {
        try Set(fetchCursor(statement, arguments: arguments, adapter: adapter).map { $0.copy() })
    }

    /// Returns the set of the rows of a query.
    ///
    /// - throws: A ``DatabaseError``.
    public static func fetchSet(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Set<Row> {
        try db.withStatement(sql: sql) { try fetchSet($0, arguments: arguments, adapter: adapter) }
    }

    /// Returns the set of the rows of a request.
    ///
    /// - throws: A ``DatabaseError``.
    public static func fetchSet(
        _ db: Database, _ request: some FetchRequest
    ) throws -> Set<Row> {
        try Set(fetchAll(db, request))
    }
}
