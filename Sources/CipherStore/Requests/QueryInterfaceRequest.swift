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

    fileprivate func with(_ change: (inout Relation) -> Void) -> Self {
        var request = self
        change(&request.relation)
        return request
    }
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
        let writer = SQLWriter(db)
        try relation.writeSelect(to: writer)
        let statement = try db.makeStatement(sql: writer.sql)
        try statement.setArguments(writer.arguments)
        return PreparedRequest(statement: statement)
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

extension QueryInterfaceRequest: SelectionRequest {
    /// Returns a request that selects what a connection tells.
    public func selectWhenConnected(
        _ selection: @escaping @Sendable (Database) throws -> [any SQLSelectable]
    ) -> Self {
        with { $0.selection = [SQLSelection(.deferred { try selection($0).map(\.sqlSelection) })] }
    }

    /// Returns a request that selects what a connection tells as well.
    public func annotatedWhenConnected(
        with selection: @escaping @Sendable (Database) throws -> [any SQLSelectable]
    ) -> Self {
        with { $0.selection.append(SQLSelection(.deferred { try selection($0).map(\.sqlSelection) })) }
    }
}

extension QueryInterfaceRequest: FilteredRequest {
    /// Returns a request for the rows that satisfy what a connection tells.
    public func filterWhenConnected(
        _ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible
    ) -> Self {
        with { $0.filters.append(SQLExpression(.deferred { try predicate($0).sqlExpression })) }
    }
}

extension QueryInterfaceRequest: OrderedRequest {
    /// Returns a request that is sorted as a connection tells.
    public func orderWhenConnected(
        _ orderings: @escaping @Sendable (Database) throws -> [any SQLOrderingTerm]
    ) -> Self {
        with {
            $0.ordering = RelationOrdering()
            $0.ordering.append(.deferred { try orderings($0).map(\.sqlOrdering) })
        }
    }

    /// Returns a request in the opposite order.
    public func reversed() -> Self {
        with { $0.reverse() }
    }

    /// Returns a request that is not sorted.
    public func unordered() -> Self {
        with { $0.removeOrdering() }
    }

    /// Returns a request that sorts equal rows by primary key as well, or by all
    /// their columns when they have none.
    public func withStableOrder() -> Self {
        with { $0.stabilizeOrdering() }
    }
}

extension QueryInterfaceRequest: AggregatingRequest {
    /// Returns a request with the groups that a connection tells.
    public func groupWhenConnected(
        _ expressions: @escaping @Sendable (Database) throws -> [any SQLExpressible]
    ) -> Self {
        with { $0.grouping = [.deferred { try expressions($0).map(\.sqlExpression) }] }
    }

    /// Returns a request for the groups that satisfy what a connection tells.
    public func havingWhenConnected(
        _ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible
    ) -> Self {
        with { $0.groupFilters.append(SQLExpression(.deferred { try predicate($0).sqlExpression })) }
    }
}

extension QueryInterfaceRequest: TableRequest {
    /// The name of the table, or of the common table expression.
    public var databaseTableName: String { relation.source.name }

    /// Returns a request whose table has an alias.
    public func aliased<AliasDecoder>(_ alias: TableAlias<AliasDecoder>) -> Self {
        with { $0.aliases.append(alias.identity) }
    }
}

extension QueryInterfaceRequest: DerivableRequest {
    /// Returns a request for different rows.
    public func distinct() -> Self {
        with { $0.isDistinct = true }
    }

    /// Returns a request that can use a common table expression.
    public func with<CTERowDecoder>(_ cte: CommonTableExpression<CTERowDecoder>) -> Self {
        with { $0.add(cte.commonTable) }
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
