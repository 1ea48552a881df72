/// A request that is written in SQL.
///
/// ```swift
/// extension Player {
///     static func filter(name: String) -> SQLRequest<Player> {
///         "SELECT * FROM player WHERE name = \(name)"
///     }
/// }
///
/// let players = try Player.filter(name: "O'Brien").fetchAll(db)
/// ```
public struct SQLRequest<RowDecoder>: Sendable {
    /// The adapter of the fetched rows, or nil for none.
    public var adapter: (any RowAdapter)?

    private let literal: SQL
    private let isCached: Bool

    fileprivate init(_ literal: SQL, adapter: (any RowAdapter)?, isCached: Bool) {
        self.literal = literal
        self.adapter = adapter
        self.isCached = isCached
    }

    /// Makes a request of plain SQL.
    ///
    /// - parameters:
    ///     - sql: A SELECT query.
    ///     - arguments: The values of its parameters.
    ///     - adapter: How its rows are presented.
    ///     - cached: Whether its statement is the one of ``Database/cachedStatement(sql:)``. Don't
    ///       iterate two cursors of a cached request at once. Otherwise each run has a statement that nobody
    ///       else has, which the connection may use again after it.
    public init(
        sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil, cached: Bool = false
    ) {
        self.init(SQL(sql: sql, arguments: arguments), adapter: adapter, isCached: cached)
    }

    /// Makes a request of an SQL literal.
    ///
    /// ```swift
    /// let request = SQLRequest<Player>(literal: "SELECT * FROM player WHERE name = \(name)")
    /// ```
    ///
    /// - parameters:
    ///     - literal: A SELECT query.
    ///     - adapter: How its rows are presented.
    ///     - cached: As in `init(sql:arguments:adapter:cached:)`.
    public init(literal: SQL, adapter: (any RowAdapter)? = nil, cached: Bool = false) {
        self.init(literal, adapter: adapter, isCached: cached)
    }
}

extension SQLRequest where RowDecoder == Row {
    /// Makes a request for rows of plain SQL.
    public init(
        sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil, cached: Bool = false
    ) {
        self.init(SQL(sql: sql, arguments: arguments), adapter: adapter, isCached: cached)
    }

    /// Makes a request for rows of an SQL literal.
    public init(literal: SQL, adapter: (any RowAdapter)? = nil, cached: Bool = false) {
        self.init(literal, adapter: adapter, isCached: cached)
    }
}

extension SQLRequest: FetchRequest {
    /// The request as a subquery.
    public var sqlSubquery: SQLSubquery { SQLSubquery(.literal(literal)) }

    /// Returns the request as a statement that is ready to run.
    ///
    /// - throws: A ``DatabaseError``.
    public func makePreparedRequest(
        _ db: Database, forSingleResult singleResult: Bool = false
    ) throws -> PreparedRequest {
        let (sql, arguments) = try literal.build(db)
        let statement = try isCached ? db.cachedStatement(sql: sql) : db.makeRequestStatement(sql: sql)
        try statement.setArguments(arguments)
        return PreparedRequest(statement: statement, adapter: adapter)
    }

    /// Returns the number of rows of the request.
    ///
    /// - throws: A ``DatabaseError``.
    public func fetchCount(_ db: Database) throws -> Int {
        try sqlSubquery.fetchCount(db)
    }
}

extension SQLSubquery {
    func fetchCount(_ db: Database) throws -> Int {
        let (sql, arguments) = try SQL("SELECT COUNT(*) FROM (\(self))").build(db)
        return try Int.fetchOne(db, sql: sql, arguments: arguments) ?? 0
    }
}

extension SQLRequest: ExpressibleByStringInterpolation {
    /// Makes a request of plain SQL.
    public init(unicodeScalarLiteral sql: String) {
        self.init(sql: sql)
    }

    /// Makes a request of plain SQL.
    public init(extendedGraphemeClusterLiteral sql: String) {
        self.init(sql: sql)
    }

    /// Makes a request of plain SQL.
    public init(stringLiteral sql: String) {
        self.init(sql: sql)
    }

    /// Makes a request of SQL with values in it.
    public init(stringInterpolation: SQLInterpolation) {
        self.init(literal: SQL(stringInterpolation: stringInterpolation))
    }
}
