// The refinements that requests and associations share.

extension JoinableRequest {
    func with(_ change: @escaping @Sendable (inout Relation) -> Void) -> Self {
        changing(RelationChange(change))
    }
}

extension DerivableRequest {
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

    /// Returns a request for the rows that satisfy what a connection tells.
    public func filterWhenConnected(
        _ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible
    ) -> Self {
        with { $0.filters.append(SQLExpression(.deferred { try predicate($0).sqlExpression })) }
    }

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

    /// Returns a request whose table has an alias.
    public func aliased<AliasDecoder>(_ alias: TableAlias<AliasDecoder>) -> Self {
        let identity = alias.identity
        return with { $0.aliases.append(identity) }
    }

    /// Returns a request for different rows.
    public func distinct() -> Self {
        with { $0.isDistinct = true }
    }

    /// Returns a request that can use a common table expression.
    public func with<CTERowDecoder>(_ cte: CommonTableExpression<CTERowDecoder>) -> Self {
        let commonTable = cte.commonTable
        return with { $0.add(commonTable) }
    }
}
