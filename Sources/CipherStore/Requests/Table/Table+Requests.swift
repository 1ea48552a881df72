// One closure gives one thing, another gives several: as in GRDB, Swift tells them apart.
// swift-format-ignore-file: AmbiguousTrailingClosureOverload

// The requests that begin with a table.

extension Table {
    /// Returns a request for all rows.
    public func all() -> QueryInterfaceRequest<RowDecoder> {
        request.all()
    }

    /// Returns a request without rows.
    public func none() -> QueryInterfaceRequest<RowDecoder> {
        request.none()
    }

    /// Returns a request that selects some columns: `select([Column("id"), Column("name")])`.
    public func select(_ selection: [any SQLSelectable]) -> QueryInterfaceRequest<RowDecoder> {
        request.select(selection)
    }

    /// Returns a request that selects some columns: `select(Column("id"), Column("name"))`.
    public func select(_ selection: any SQLSelectable...) -> QueryInterfaceRequest<RowDecoder> {
        request.select(selection)
    }

    /// Returns a request that selects plain SQL.
    public func select(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<RowDecoder>
    {
        request.select(sql: sql, arguments: arguments)
    }

    /// Returns a request that selects an SQL literal.
    public func select(literal: SQL) -> QueryInterfaceRequest<RowDecoder> {
        request.select(literal: literal)
    }

    /// Returns a request for values: `select([Column("name")], as: String.self)`.
    public func select<Value>(_ selection: [any SQLSelectable], as type: Value.Type = Value.self)
        -> QueryInterfaceRequest<Value>
    {
        request.select(selection, as: type)
    }

    /// Returns a request for values: `select(Column("name"), as: String.self)`.
    public func select<Value>(_ selection: any SQLSelectable..., as type: Value.Type = Value.self)
        -> QueryInterfaceRequest<Value>
    {
        request.select(selection, as: type)
    }

    /// Returns a request for values, in plain SQL.
    public func select<Value>(
        sql: String, arguments: StatementArguments = StatementArguments(), as type: Value.Type = Value.self
    ) -> QueryInterfaceRequest<Value> {
        request.select(sql: sql, arguments: arguments, as: type)
    }

    /// Returns a request for values, in an SQL literal.
    public func select<Value>(literal: SQL, as type: Value.Type = Value.self) -> QueryInterfaceRequest<Value>
    {
        request.select(literal: literal, as: type)
    }

    /// Returns a request for primary keys: `selectPrimaryKey(as: Int64.self)`.
    public func selectPrimaryKey<Value>(as type: Value.Type = Value.self) -> QueryInterfaceRequest<Value> {
        request.selectPrimaryKey(as: type)
    }

    /// Returns a request that selects more columns.
    public func annotated(with selection: [any SQLSelectable]) -> QueryInterfaceRequest<RowDecoder> {
        request.annotated(with: selection)
    }

    /// Returns a request that selects more columns.
    public func annotated(with selection: any SQLSelectable...) -> QueryInterfaceRequest<RowDecoder> {
        request.annotated(with: selection)
    }

    /// Returns a request for the rows that satisfy a condition.
    public func filter(_ predicate: some SQLSpecificExpressible) -> QueryInterfaceRequest<RowDecoder> {
        request.filter(predicate)
    }

    /// Returns a request for the rows that satisfy a condition in plain SQL.
    public func filter(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<RowDecoder>
    {
        request.filter(sql: sql, arguments: arguments)
    }

    /// Returns a request for the rows that satisfy a condition in an SQL literal.
    public func filter(literal: SQL) -> QueryInterfaceRequest<RowDecoder> {
        request.filter(literal: literal)
    }

    /// Returns a request for the row with a primary key; see ``TableRequest``.
    public func filter(key: some DatabaseValueConvertible) -> QueryInterfaceRequest<RowDecoder> {
        request.filter(key: key)
    }

    /// Returns a request for the rows with primary keys; see ``TableRequest``.
    public func filter<Keys: Collection>(keys: Keys) -> QueryInterfaceRequest<RowDecoder>
    where Keys.Element: DatabaseValueConvertible {
        request.filter(keys: keys)
    }

    /// Returns a request for the row with a unique key, such as `["email": "a@example.com"]`.
    public func filter(key: [String: (any DatabaseValueConvertible)?]?) -> QueryInterfaceRequest<RowDecoder> {
        request.filter(key: key)
    }

    /// Returns a request for the rows with unique keys.
    public func filter(keys: [[String: (any DatabaseValueConvertible)?]]) -> QueryInterfaceRequest<RowDecoder>
    {
        request.filter(keys: keys)
    }

    /// Returns a request for the rows of a full-text table that match a pattern; nil matches nothing.
    public func matching(_ pattern: (any DatabaseValueConvertible)?) -> QueryInterfaceRequest<RowDecoder> {
        request.matching(pattern)
    }

    /// Returns a sorted request.
    public func order(_ orderings: [any SQLOrderingTerm]) -> QueryInterfaceRequest<RowDecoder> {
        request.order(orderings)
    }

    /// Returns a sorted request.
    public func order(_ orderings: any SQLOrderingTerm...) -> QueryInterfaceRequest<RowDecoder> {
        request.order(orderings)
    }

    /// Returns a request that is sorted by plain SQL.
    public func order(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<RowDecoder>
    {
        request.order(sql: sql, arguments: arguments)
    }

    /// Returns a request that is sorted by an SQL literal.
    public func order(literal: SQL) -> QueryInterfaceRequest<RowDecoder> {
        request.order(literal: literal)
    }

    /// Returns a request that is sorted by primary key.
    public func orderByPrimaryKey() -> QueryInterfaceRequest<RowDecoder> {
        request.orderByPrimaryKey()
    }

    /// Returns a request whose order is always the same.
    public func withStableOrder() -> QueryInterfaceRequest<RowDecoder> {
        request.withStableOrder()
    }

    /// Returns a request for some rows only: `LIMIT 10 OFFSET 20`.
    public func limit(_ limit: Int, offset: Int? = nil) -> QueryInterfaceRequest<RowDecoder> {
        request.limit(limit, offset: offset)
    }

    /// Returns a request whose table has an alias.
    public func aliased<AliasDecoder>(_ alias: TableAlias<AliasDecoder>) -> QueryInterfaceRequest<RowDecoder>
    {
        request.aliased(alias)
    }

    /// Returns a request that can use a common table expression.
    public func with<CTERowDecoder>(_ cte: CommonTableExpression<CTERowDecoder>) -> QueryInterfaceRequest<
        RowDecoder
    > {
        request.with(cte)
    }
}

extension Table where RowDecoder: Identifiable, RowDecoder.ID: DatabaseValueConvertible {
    /// Returns a request for the row with an id: `filter(id: 1)`.
    public func filter(id: RowDecoder.ID) -> QueryInterfaceRequest<RowDecoder> {
        request.filter(id: id)
    }

    /// Returns a request for the rows with some ids: `filter(ids: [1, 2, 3])`.
    public func filter<IDs: Collection>(ids: IDs) -> QueryInterfaceRequest<RowDecoder>
    where IDs.Element == RowDecoder.ID {
        request.filter(ids: ids)
    }

    /// Returns a request for the ids of records.
    public func selectID() -> QueryInterfaceRequest<RowDecoder.ID> {
        request.selectID()
    }
}

extension Table where RowDecoder: TableRecord {
    /// Returns a request that selects a column: `select { $0.score }`.
    public func select(_ selection: (RowDecoder.DatabaseComponents) throws -> any SQLSelectable) rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try request.select(selection)
    }

    /// Returns a request that selects columns: `select { [$0.id, $0.score] }`.
    public func select(_ selection: (RowDecoder.DatabaseComponents) throws -> [any SQLSelectable]) rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try request.select(selection)
    }

    /// Returns a request for values: `select({ $0.name }, as: String.self)`.
    public func select<Value>(
        _ selection: (RowDecoder.DatabaseComponents) throws -> any SQLSelectable,
        as type: Value.Type = Value.self
    ) rethrows -> QueryInterfaceRequest<Value> {
        try request.select(selection, as: type)
    }

    /// Returns a request for values: `select({ [$0.id, $0.name] }, as: Row.self)`.
    public func select<Value>(
        _ selection: (RowDecoder.DatabaseComponents) throws -> [any SQLSelectable],
        as type: Value.Type = Value.self
    ) rethrows -> QueryInterfaceRequest<Value> {
        try request.select(selection, as: type)
    }

    /// Returns a request that selects one more column.
    public func annotated(with selection: (RowDecoder.DatabaseComponents) throws -> any SQLSelectable)
        rethrows -> QueryInterfaceRequest<RowDecoder>
    {
        try request.annotated(with: selection)
    }

    /// Returns a request that selects more columns.
    public func annotated(with selection: (RowDecoder.DatabaseComponents) throws -> [any SQLSelectable])
        rethrows -> QueryInterfaceRequest<RowDecoder>
    {
        try request.annotated(with: selection)
    }

    /// Returns a request for the rows that satisfy a condition: `filter { $0.score > 1000 }`.
    public func filter(_ predicate: (RowDecoder.DatabaseComponents) throws -> any SQLSpecificExpressible)
        rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try request.filter(predicate)
    }

    /// Returns a sorted request: `order { $0.score.desc }`, `order(\.score)`.
    public func order(_ ordering: (RowDecoder.DatabaseComponents) throws -> any SQLOrderingTerm) rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try request.order(ordering)
    }

    /// Returns a sorted request: `order { [$0.score.desc, $0.name] }`.
    public func order(_ orderings: (RowDecoder.DatabaseComponents) throws -> [any SQLOrderingTerm]) rethrows
        -> QueryInterfaceRequest<RowDecoder>
    {
        try request.order(orderings)
    }
}
