/// A request that is built from Swift.
///
/// ```swift
/// let request = Player
///     .filter { $0.score > 1000 }
///     .order(\.name)
///     .limit(10)
/// let players = try request.fetchAll(db)
/// ```
///
/// A request is a value: its methods return others, and it can be kept, sent to
/// other threads and fetched again.
public struct QueryInterfaceRequest<RowDecoder>: Sendable {
    var relation: Relation
}

extension QueryInterfaceRequest: FetchRequest {
    /// The request as a subquery.
    public var sqlSubquery: SQLSubquery { SQLSubquery(.relation(relation)) }

    /// Returns the request as a statement that is ready to run.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - singleResult: Whether only the first row will be read. `LIMIT 1` is
    ///       added then, unless there is one row at most anyway.
    /// - throws: A ``DatabaseError``.
    public func makePreparedRequest(
        _ db: Database, forSingleResult singleResult: Bool = false
    ) throws -> PreparedRequest {
        var relation = relation
        if singleResult && relation.limit.map({ $0.limit > 1 }) ?? true,
            try !relation.hasOneRowAtMost(db)
        {
            relation.limit = Relation.Limit(limit: 1, offset: relation.limit?.offset)
        }
        return try relation.makePreparedRequest(db)
    }

    /// Returns the number of rows of the request.
    ///
    /// - throws: A ``DatabaseError``.
    public func fetchCount(_ db: Database) throws -> Int {
        try relation.fetchCount(db)
    }
}

extension QueryInterfaceRequest {
    /// Returns whether the request has no rows.
    ///
    /// - throws: A ``DatabaseError``.
    public func isEmpty(_ db: Database) throws -> Bool {
        let (sql, arguments) = try SQL("SELECT \(exists())").build(db)
        return try Bool.fetchOne(db, sql: sql, arguments: arguments) != true
    }
}

extension QueryInterfaceRequest: DerivableRequest {
    /// The name of the table, or of the common table expression.
    public var databaseTableName: String { relation.source.name }

    /// Returns a request for other rows.
    public func changing(_ change: RelationChange) -> Self {
        var request = self
        change.apply(&request.relation)
        return request
    }
}

extension QueryInterfaceRequest {
    /// Returns the request itself.
    public func all() -> Self { self }

    /// Returns a request for some rows only: `LIMIT 10 OFFSET 20`.
    ///
    /// A limit replaces the one before.
    public func limit(_ limit: Int, offset: Int? = nil) -> Self {
        with { $0.limit = Relation.Limit(limit: limit, offset: offset) }
    }

    /// Returns a request whose rows are decoded as another type.
    ///
    /// ```swift
    /// let request = Player.including(required: Player.team).asRequest(of: PlayerInfo.self)
    /// ```
    public func asRequest<OtherDecoder>(of type: OtherDecoder.Type) -> QueryInterfaceRequest<OtherDecoder> {
        QueryInterfaceRequest<OtherDecoder>(relation: relation)
    }
}
