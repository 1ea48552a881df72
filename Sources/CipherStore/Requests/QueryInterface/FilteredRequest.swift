/// A request that can be restricted.
public protocol FilteredRequest {
    /// Returns a request for the rows that satisfy what a connection tells, among
    /// those of this one.
    func filterWhenConnected(
        _ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible
    ) -> Self
}

extension FilteredRequest {
    /// Returns a request for the rows that satisfy a condition, among those of
    /// this one.
    ///
    /// ```swift
    /// // SELECT * FROM player WHERE (score > 1000) AND (name = 'Arthur')
    /// Player.all().filter(Column("score") > 1000).filter(Column("name") == "Arthur")
    /// ```
    public func filter(_ predicate: some SQLSpecificExpressible) -> Self {
        let predicate = predicate.sqlExpression
        return filterWhenConnected { _ in predicate }
    }

    /// Returns a request for the rows that satisfy a condition in plain SQL.
    ///
    /// ```swift
    /// Player.all().filter(sql: "name = ?", arguments: ["Arthur"])
    /// ```
    public func filter(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        filter(SQL(sql: sql, arguments: arguments))
    }

    /// Returns a request for the rows that satisfy a condition in an SQL literal.
    public func filter(literal: SQL) -> Self {
        filter(literal)
    }

    /// Returns a request without rows.
    public func none() -> Self {
        filter(false.databaseValue)
    }
}

extension FilteredRequest where Self: TypedRequest, RowDecoder: TableRecord {
    /// Returns a request for the rows that satisfy a condition.
    ///
    /// ```swift
    /// Player.all().filter { $0.score > 1000 && $0.name == "Arthur" }
    /// ```
    public func filter(
        _ predicate: (RowDecoder.DatabaseComponents) throws -> any SQLSpecificExpressible
    ) rethrows -> Self {
        try filter(predicate(RowDecoder.databaseComponents).sqlExpression)
    }
}
