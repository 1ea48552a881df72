// One closure gives one thing, another gives several: as in GRDB, Swift tells them apart.
// swift-format-ignore-file: AmbiguousTrailingClosureOverload

/// A request whose rows can be sorted.
public protocol OrderedRequest {
    /// Returns a request that is sorted as a connection tells, in place of its order.
    func orderWhenConnected(
        _ orderings: @escaping @Sendable (Database) throws -> [any SQLOrderingTerm]
    ) -> Self

    /// Returns a request in the opposite order. A request that is not sorted stays
    /// as it is.
    func reversed() -> Self

    /// Returns a request that is not sorted.
    func unordered() -> Self

    /// Returns a request that sorts rows which its order takes for equal, always
    /// in the same way.
    func withStableOrder() -> Self
}

extension OrderedRequest {
    /// Returns a request in another order.
    ///
    /// ```swift
    /// // SELECT * FROM player ORDER BY score DESC, name
    /// Player.all().order([Column("score").desc, Column("name")])
    /// ```
    ///
    /// An order replaces the one before.
    public func order(_ orderings: [any SQLOrderingTerm]) -> Self {
        let orderings = orderings.map(\.sqlOrdering)
        return orderWhenConnected { _ in orderings }
    }

    /// Returns a request in another order.
    public func order(_ orderings: any SQLOrderingTerm...) -> Self {
        order(orderings)
    }

    /// Returns a request in another order, in plain SQL.
    public func order(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        order(literal: SQL(sql: sql, arguments: arguments))
    }

    /// Returns a request in another order, in an SQL literal.
    public func order(literal: SQL) -> Self {
        order([literal])
    }
}

extension OrderedRequest where Self: TypedRequest, RowDecoder: TableRecord {
    /// Returns a request in another order: `order { $0.score.desc }`, `order(\.score)`.
    public func order(
        _ ordering: (RowDecoder.DatabaseComponents) throws -> any SQLOrderingTerm
    ) rethrows -> Self {
        try order([ordering(RowDecoder.databaseComponents)])
    }

    /// Returns a request in another order: `order { [$0.score.desc, $0.name] }`.
    public func order(
        _ orderings: (RowDecoder.DatabaseComponents) throws -> [any SQLOrderingTerm]
    ) rethrows -> Self {
        try order(orderings(RowDecoder.databaseComponents))
    }
}
