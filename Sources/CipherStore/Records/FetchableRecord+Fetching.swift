extension FetchableRecord {
    // MARK: From a statement

    /// Returns a cursor of the records of a statement.
    ///
    /// - throws: A ``DatabaseError`` when the arguments or the adapter do not fit.
    @inlinable
    public static func fetchCursor(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> RecordCursor<Self> {
        try RecordCursor<Self>(statement, arguments, adapter)
    }

    /// Returns all records of a statement.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public static func fetchAll(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> [Self] {
        try fetchCursor(statement, arguments: arguments, adapter: adapter).collect()
    }

    /// Returns the first record of a statement, or nil.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public static func fetchOne(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> Self? {
        let cursor = try fetchCursor(statement, arguments: arguments, adapter: adapter)
        let record = try cursor.next()
        try cursor.run.finish()
        return record
    }

    // MARK: From SQL

    /// Returns a cursor of the records of a query.
    ///
    /// - throws: A ``DatabaseError`` when the query, the arguments or the adapter do not fit.
    @inlinable
    public static func fetchCursor(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> RecordCursor<Self> {
        try fetchCursor(db.makeStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Returns all records of a query.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public static func fetchAll(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> [Self] {
        try db.withStatement(sql: sql) { try fetchAll($0, arguments: arguments, adapter: adapter) }
    }

    /// Returns the first record of a query, or nil.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public static func fetchOne(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Self? {
        try db.withStatement(sql: sql) { try fetchOne($0, arguments: arguments, adapter: adapter) }
    }

    // MARK: From a request

    /// Returns a cursor of the records of a request.
    ///
    /// - throws: A ``DatabaseError``, also for a request that prefetches the rows of other requests.
    @inlinable
    public static func fetchCursor(
        _ db: Database, _ request: some FetchRequest
    ) throws -> RecordCursor<Self> {
        let request = try request.makePreparedRequest(db, forSingleResult: false)
        try request.checkAllowsCursor()
        return try fetchCursor(request.statement, adapter: request.adapter)
    }

    /// Returns all records of a request.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public static func fetchAll(
        _ db: Database, _ request: some FetchRequest
    ) throws -> [Self] {
        var request = try request.makePreparedRequest(db, forSingleResult: false)
        defer { request.returnStatement(to: db) }
        var records: [Self] = []
        let isCompleted = try request.forEachCompletedRow(db) { records.append(try Self(row: $0)) }
        return isCompleted ? records : try fetchAll(request.statement, adapter: request.adapter)
    }

    /// Returns the first record of a request, or nil.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public static func fetchOne(
        _ db: Database, _ request: some FetchRequest
    ) throws -> Self? {
        var request = try request.makePreparedRequest(db, forSingleResult: true)
        defer { request.returnStatement(to: db) }
        guard let rows = try request.completedRows(db, limit: 1) else {
            return try fetchOne(request.statement, adapter: request.adapter)
        }
        return try rows.first.map { try Self(row: $0) }
    }
}

extension FetchableRecord where Self: Hashable {
    /// Returns the set of the records of a statement.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public static func fetchSet(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) throws -> Set<Self> {
        try Set(fetchCursor(statement, arguments: arguments, adapter: adapter))
    }

    /// Returns the set of the records of a query.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public static func fetchSet(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Set<Self> {
        try db.withStatement(sql: sql) { try fetchSet($0, arguments: arguments, adapter: adapter) }
    }

    /// Returns the set of the records of a request.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    @inlinable
    public static func fetchSet(
        _ db: Database, _ request: some FetchRequest
    ) throws -> Set<Self> {
        var request = try request.makePreparedRequest(db, forSingleResult: false)
        defer { request.returnStatement(to: db) }
        guard let rows = try request.completedRows(db) else {
            return try fetchSet(request.statement, adapter: request.adapter)
        }
        return try Set(rows.map { try Self(row: $0) })
    }
}
