// One closure gives one thing, another gives several: as in GRDB, Swift tells them apart.
// swift-format-ignore-file: AmbiguousTrailingClosureOverload

/// A request whose selection can change.
public protocol SelectionRequest {
    /// Returns a request that selects what a connection tells, in place of what
    /// it selected.
    func selectWhenConnected(
        _ selection: @escaping @Sendable (Database) throws -> [any SQLSelectable]
    ) -> Self

    /// Returns a request that selects what a connection tells as well.
    func annotatedWhenConnected(
        with selection: @escaping @Sendable (Database) throws -> [any SQLSelectable]
    ) -> Self
}

extension SelectionRequest {
    /// Returns a request that selects something else.
    ///
    /// ```swift
    /// // SELECT id, score + bonus FROM player
    /// let request = Player.all().select([Column("id"), Column("score") + Column("bonus")])
    /// ```
    ///
    /// A selection replaces the one before.
    public func select(_ selection: [any SQLSelectable]) -> Self {
        let selection = selection.map(\.sqlSelection)
        return selectWhenConnected { _ in selection }
    }

    /// Returns a request that selects something else.
    public func select(_ selection: any SQLSelectable...) -> Self {
        select(selection)
    }

    /// Returns a request that selects something else, in plain SQL.
    ///
    /// ```swift
    /// Player.all().select(sql: "id, score + ?", arguments: [1000])
    /// ```
    public func select(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        select(literal: SQL(sql: sql, arguments: arguments))
    }

    /// Returns a request that selects something else, in an SQL literal.
    public func select(literal: SQL) -> Self {
        select([literal])
    }

    /// Returns a request that selects more columns.
    ///
    /// ```swift
    /// // SELECT *, score + bonus AS total FROM player
    /// Player.all().annotated(with: [(Column("score") + Column("bonus")).forKey("total")])
    /// ```
    public func annotated(with selection: [any SQLSelectable]) -> Self {
        let selection = selection.map(\.sqlSelection)
        return annotatedWhenConnected { _ in selection }
    }

    /// Returns a request that selects more columns.
    public func annotated(with selection: any SQLSelectable...) -> Self {
        annotated(with: selection)
    }
}

extension SelectionRequest where Self: TypedRequest, RowDecoder: TableRecord {
    /// Returns a request that selects another column: `select { $0.score }`.
    public func select(
        _ selection: (RowDecoder.DatabaseComponents) throws -> any SQLSelectable
    ) rethrows -> Self {
        try select([selection(RowDecoder.databaseComponents)])
    }

    /// Returns a request that selects other columns: `select { [$0.id, $0.score] }`.
    public func select(
        _ selection: (RowDecoder.DatabaseComponents) throws -> [any SQLSelectable]
    ) rethrows -> Self {
        try select(selection(RowDecoder.databaseComponents))
    }

    /// Returns a request that selects one more column.
    public func annotated(
        with selection: (RowDecoder.DatabaseComponents) throws -> any SQLSelectable
    ) rethrows -> Self {
        try annotated(with: [selection(RowDecoder.databaseComponents)])
    }

    /// Returns a request that selects more columns.
    public func annotated(
        with selection: (RowDecoder.DatabaseComponents) throws -> [any SQLSelectable]
    ) rethrows -> Self {
        try annotated(with: selection(RowDecoder.databaseComponents))
    }
}
