// One closure gives one thing, another gives several: as in GRDB, Swift tells them apart.
// swift-format-ignore-file: AmbiguousTrailingClosureOverload

/// A request whose rows can be grouped.
public protocol AggregatingRequest {
    /// Returns a request with the groups that a connection tells, in place of its own.
    func groupWhenConnected(
        _ expressions: @escaping @Sendable (Database) throws -> [any SQLExpressible]
    ) -> Self

    /// Returns a request for the groups that satisfy what a connection tells,
    /// among those of this one.
    func havingWhenConnected(
        _ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible
    ) -> Self
}

extension AggregatingRequest {
    /// Returns a request with other groups.
    ///
    /// ```swift
    /// // SELECT teamId, MAX(score) FROM player GROUP BY teamId
    /// Player.select(Column("teamId"), max(Column("score"))).group([Column("teamId")])
    /// ```
    ///
    /// Groups replace those before.
    public func group(_ expressions: [any SQLExpressible]) -> Self {
        let expressions = expressions.map(\.sqlExpression)
        return groupWhenConnected { _ in expressions }
    }

    /// Returns a request with other groups.
    public func group(_ expressions: any SQLExpressible...) -> Self {
        group(expressions)
    }

    /// Returns a request with other groups, in plain SQL.
    public func group(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        group(literal: SQL(sql: sql, arguments: arguments))
    }

    /// Returns a request with other groups, in an SQL literal.
    public func group(literal: SQL) -> Self {
        group([literal])
    }

    /// Returns a request for the groups that satisfy a condition.
    ///
    /// ```swift
    /// Player.select(max(Column("score"))).group(Column("teamId")).having(count(Column("id")) > 10)
    /// ```
    public func having(_ predicate: some SQLSpecificExpressible) -> Self {
        let predicate = predicate.sqlExpression
        return havingWhenConnected { _ in predicate }
    }

    /// Returns a request for the groups that satisfy a condition in plain SQL.
    public func having(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        having(SQL(sql: sql, arguments: arguments))
    }

    /// Returns a request for the groups that satisfy a condition in an SQL literal.
    public func having(literal: SQL) -> Self {
        having(literal)
    }
}

extension AggregatingRequest where Self: TypedRequest, RowDecoder: TableRecord {
    /// Returns a request with another group: `group { $0.teamId }`.
    public func group(
        _ expression: (RowDecoder.DatabaseComponents) throws -> any SQLExpressible
    ) rethrows -> Self {
        try group([expression(RowDecoder.databaseComponents)])
    }

    /// Returns a request with other groups: `group { [$0.teamId, $0.year] }`.
    public func group(
        _ expressions: (RowDecoder.DatabaseComponents) throws -> [any SQLExpressible]
    ) rethrows -> Self {
        try group(expressions(RowDecoder.databaseComponents))
    }

    /// Returns a request for the groups that satisfy a condition: `having { max($0.score) > 1000 }`.
    public func having(
        _ predicate: (RowDecoder.DatabaseComponents) throws -> any SQLSpecificExpressible
    ) rethrows -> Self {
        try having(predicate(RowDecoder.databaseComponents).sqlExpression)
    }
}
