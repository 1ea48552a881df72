// The same functions for types that decode themselves from a statement.

extension DatabaseValueConvertible where Self: StatementColumnConvertible {
    // MARK: From a statement

    /// Returns a cursor of the values of a statement.
    ///
    /// - throws: A ``DatabaseError`` when the arguments or the adapter do not fit.
    @inlinable
    public static func fetchCursor(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> FastDatabaseValueCursor<Self> {
        try FastDatabaseValueCursor<Self>(statement, arguments, adapter)
    }

    /// Returns all values of a statement.
    ///
    /// - throws: A ``DatabaseError``, or a ``RowDecodingError`` when a value does not fit.
    @inlinable
    public static func fetchAll(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> [Self] {
        try fetchCursor(statement, arguments: arguments, adapter: adapter).collect()
    }

    /// Returns the first value of a statement, or nil when there is no row or it is NULL.
    ///
    /// - throws: A ``DatabaseError``, or a ``RowDecodingError`` when a value does not fit.
    @inlinable
    public static func fetchOne(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> Self? {
        try fetchFirst(statement, arguments, adapter)
    }

    // MARK: From SQL

    /// Returns a cursor of the values of a query.
    ///
    /// - throws: A ``DatabaseError`` when the query, the arguments or the adapter do not fit.
    @inlinable
    public static func fetchCursor(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> FastDatabaseValueCursor<Self> {
        try fetchCursor(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Returns all values of a query.
    ///
    /// - throws: A ``DatabaseError``, or a ``RowDecodingError`` when a value does not fit.
    @inlinable
    public static func fetchAll(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> [Self] {
        try db.withStatement(sql: sql) { try fetchAll($0, arguments: arguments, adapter: adapter) }
    }

    /// Returns the first value of a query, or nil when there is no row or it is NULL.
    ///
    /// - throws: A ``DatabaseError``, or a ``RowDecodingError`` when a value does not fit.
    @inlinable
    public static func fetchOne(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Self? {
        try db.withStatement(sql: sql) { try fetchOne($0, arguments: arguments, adapter: adapter) }
    }

    // MARK: From a request

    /// Returns a cursor of the values of a request.
    ///
    /// - throws: A ``DatabaseError``.
    @inlinable
    public static func fetchCursor(
        _ db: Database, _ request: some FetchRequest
    ) throws -> FastDatabaseValueCursor<Self> {
        let request = try request.makePreparedRequest(db, forSingleResult: false)
        return try fetchCursor(request.statement, adapter: request.adapter)
    }

    /// Returns all values of a request.
    ///
    /// - throws: A ``DatabaseError``, or a ``RowDecodingError`` when a value does not fit.
    @inlinable
    public static func fetchAll(
        _ db: Database, _ request: some FetchRequest
    ) throws -> [Self] {
        var request = try request.makePreparedRequest(db, forSingleResult: false)
        defer { request.returnStatement(to: db) }
        return try fetchAll(request.statement, adapter: request.adapter)
    }

    /// Returns the first value of a request, or nil when there is no row or it is NULL.
    ///
    /// - throws: A ``DatabaseError``, or a ``RowDecodingError`` when a value does not fit.
    @inlinable
    public static func fetchOne(
        _ db: Database, _ request: some FetchRequest
    ) throws -> Self? {
        var request = try request.makePreparedRequest(db, forSingleResult: true)
        defer { request.returnStatement(to: db) }
        return try fetchOne(request.statement, adapter: request.adapter)
    }
}

extension DatabaseValueConvertible where Self: StatementColumnConvertible & Hashable {
    /// Returns the set of the values of a statement.
    ///
    /// - throws: A ``DatabaseError``, or a ``RowDecodingError`` when a value does not fit.
    @inlinable
    public static func fetchSet(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> Set<Self> {
        try Set(fetchCursor(statement, arguments: arguments, adapter: adapter))
    }

    /// Returns the set of the values of a query.
    ///
    /// - throws: A ``DatabaseError``, or a ``RowDecodingError`` when a value does not fit.
    @inlinable
    public static func fetchSet(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Set<Self> {
        try db.withStatement(sql: sql) { try fetchSet($0, arguments: arguments, adapter: adapter) }
    }

    /// Returns the set of the values of a request.
    ///
    /// - throws: A ``DatabaseError``, or a ``RowDecodingError`` when a value does not fit.
    @inlinable
    public static func fetchSet(
        _ db: Database, _ request: some FetchRequest
    ) throws -> Set<Self> {
        var request = try request.makePreparedRequest(db, forSingleResult: false)
        defer { request.returnStatement(to: db) }
        return try fetchSet(request.statement, adapter: request.adapter)
    }
}

extension DatabaseValueConvertible where Self: StatementColumnConvertible {
    @inlinable static func fetchFirst(
        _ statement: Statement, _ arguments: StatementArguments?, _ adapter: (any RowAdapter)?
    ) throws -> Self? {
        let cursor = try FastDatabaseValueCursor<Self?>(statement, arguments, adapter)
        let value = try cursor.next() ?? nil
        try cursor.run.finish()
        return value
    }
}
