// One closure gives one thing, another gives several: as in GRDB, Swift tells them apart.
// swift-format-ignore-file: AmbiguousTrailingClosureOverload

// The requests that begin with a record type.

extension TableRecord {
    /// Returns a request for all rows.
    public static func all() -> QueryInterfaceRequest<Self> {
        QueryInterfaceRequest(
            relation: Relation(
                source: .table(databaseTableName), selection: databaseSelection.map(\.sqlSelection)))
    }

    /// Returns the number of rows of the table.
    ///
    /// - throws: A ``DatabaseError``.
    public static func fetchCount(_ db: Database) throws -> Int {
        try all().fetchCount(db)
    }

    /// Returns a request without rows.
    public static func none() -> QueryInterfaceRequest<Self> {
        all().none()
    }

    /// Returns a request that selects some columns: `select([Column("id"), Column("name")])`.
    public static func select(_ selection: [any SQLSelectable]) -> QueryInterfaceRequest<Self> {
        all().select(selection)
    }

    /// Returns a request that selects some columns: `select(Column("id"), Column("name"))`.
    public static func select(_ selection: any SQLSelectable...) -> QueryInterfaceRequest<Self> {
        all().select(selection)
    }

    /// Returns a request that selects plain SQL.
    public static func select(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<Self>
    {
        all().select(sql: sql, arguments: arguments)
    }

    /// Returns a request that selects an SQL literal.
    public static func select(literal: SQL) -> QueryInterfaceRequest<Self> {
        all().select(literal: literal)
    }

    /// Returns a request for values: `select([Column("name")], as: String.self)`.
    public static func select<Value>(_ selection: [any SQLSelectable], as type: Value.Type = Value.self)
        -> QueryInterfaceRequest<Value>
    {
        all().select(selection, as: type)
    }

    /// Returns a request for values: `select(Column("name"), as: String.self)`.
    public static func select<Value>(_ selection: any SQLSelectable..., as type: Value.Type = Value.self)
        -> QueryInterfaceRequest<Value>
    {
        all().select(selection, as: type)
    }

    /// Returns a request for values, in plain SQL.
    public static func select<Value>(
        sql: String, arguments: StatementArguments = StatementArguments(), as type: Value.Type = Value.self
    ) -> QueryInterfaceRequest<Value> {
        all().select(sql: sql, arguments: arguments, as: type)
    }

    /// Returns a request for values, in an SQL literal.
    public static func select<Value>(literal: SQL, as type: Value.Type = Value.self) -> QueryInterfaceRequest<
        Value
    > {
        all().select(literal: literal, as: type)
    }

    /// Returns a request for primary keys: `selectPrimaryKey(as: Int64.self)`.
    public static func selectPrimaryKey<Value>(as type: Value.Type = Value.self) -> QueryInterfaceRequest<
        Value
    > {
        all().selectPrimaryKey(as: type)
    }

    /// Returns a request that selects more columns.
    public static func annotated(with selection: [any SQLSelectable]) -> QueryInterfaceRequest<Self> {
        all().annotated(with: selection)
    }

    /// Returns a request that selects more columns.
    public static func annotated(with selection: any SQLSelectable...) -> QueryInterfaceRequest<Self> {
        all().annotated(with: selection)
    }

    /// Returns a request for the rows that satisfy a condition.
    public static func filter(_ predicate: some SQLSpecificExpressible) -> QueryInterfaceRequest<Self> {
        all().filter(predicate)
    }

    /// Returns a request for the rows that satisfy a condition in plain SQL.
    public static func filter(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<Self>
    {
        all().filter(sql: sql, arguments: arguments)
    }

    /// Returns a request for the rows that satisfy a condition in an SQL literal.
    public static func filter(literal: SQL) -> QueryInterfaceRequest<Self> {
        all().filter(literal: literal)
    }

    /// Returns a request for the row with a primary key; see ``TableRequest``.
    public static func filter(key: some DatabaseValueConvertible) -> QueryInterfaceRequest<Self> {
        all().filter(key: key)
    }

    /// Returns a request for the rows with primary keys; see ``TableRequest``.
    public static func filter<Keys: Collection>(keys: Keys) -> QueryInterfaceRequest<Self>
    where Keys.Element: DatabaseValueConvertible {
        all().filter(keys: keys)
    }

    /// Returns a request for the row with a unique key, such as `["email": "a@example.com"]`.
    public static func filter(key: [String: (any DatabaseValueConvertible)?]?) -> QueryInterfaceRequest<Self>
    {
        all().filter(key: key)
    }

    /// Returns a request for the rows with unique keys.
    public static func filter(keys: [[String: (any DatabaseValueConvertible)?]]) -> QueryInterfaceRequest<
        Self
    > {
        all().filter(keys: keys)
    }

    /// Returns a request for the rows of a full-text table that match a pattern; nil matches nothing.
    public static func matching(_ pattern: (any DatabaseValueConvertible)?) -> QueryInterfaceRequest<Self> {
        all().matching(pattern)
    }

    /// Returns a sorted request.
    public static func order(_ orderings: [any SQLOrderingTerm]) -> QueryInterfaceRequest<Self> {
        all().order(orderings)
    }

    /// Returns a sorted request.
    public static func order(_ orderings: any SQLOrderingTerm...) -> QueryInterfaceRequest<Self> {
        all().order(orderings)
    }

    /// Returns a request that is sorted by plain SQL.
    public static func order(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<Self>
    {
        all().order(sql: sql, arguments: arguments)
    }

    /// Returns a request that is sorted by an SQL literal.
    public static func order(literal: SQL) -> QueryInterfaceRequest<Self> {
        all().order(literal: literal)
    }

    /// Returns a request that is sorted by primary key.
    public static func orderByPrimaryKey() -> QueryInterfaceRequest<Self> {
        all().orderByPrimaryKey()
    }

    /// Returns a request whose order is always the same.
    public static func withStableOrder() -> QueryInterfaceRequest<Self> {
        all().withStableOrder()
    }

    /// Returns a request for some rows only: `LIMIT 10 OFFSET 20`.
    public static func limit(_ limit: Int, offset: Int? = nil) -> QueryInterfaceRequest<Self> {
        all().limit(limit, offset: offset)
    }

    /// Returns a request whose table has an alias.
    public static func aliased<AliasDecoder>(_ alias: TableAlias<AliasDecoder>) -> QueryInterfaceRequest<Self>
    {
        all().aliased(alias)
    }

    /// Returns a request that can use a common table expression.
    public static func with<CTERowDecoder>(_ cte: CommonTableExpression<CTERowDecoder>)
        -> QueryInterfaceRequest<Self>
    {
        all().with(cte)
    }
}

extension TableRecord where Self: Identifiable, ID: DatabaseValueConvertible {
    /// Returns a request for the row with an id: `filter(id: 1)`.
    public static func filter(id: ID) -> QueryInterfaceRequest<Self> {
        all().filter(id: id)
    }

    /// Returns a request for the rows with some ids: `filter(ids: [1, 2, 3])`.
    public static func filter<IDs: Collection>(ids: IDs) -> QueryInterfaceRequest<Self>
    where IDs.Element == ID {
        all().filter(ids: ids)
    }

    /// Returns a request for the ids of records.
    public static func selectID() -> QueryInterfaceRequest<ID> {
        all().selectID()
    }
}

extension TableRecord {
    /// Returns a request that selects a column: `select { $0.score }`.
    public static func select(_ selection: (DatabaseComponents) throws -> any SQLSelectable) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().select(selection)
    }

    /// Returns a request that selects columns: `select { [$0.id, $0.score] }`.
    public static func select(_ selection: (DatabaseComponents) throws -> [any SQLSelectable]) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().select(selection)
    }

    /// Returns a request for values: `select({ $0.name }, as: String.self)`.
    public static func select<Value>(
        _ selection: (DatabaseComponents) throws -> any SQLSelectable, as type: Value.Type = Value.self
    ) rethrows -> QueryInterfaceRequest<Value> {
        try all().select(selection, as: type)
    }

    /// Returns a request for values: `select({ [$0.id, $0.name] }, as: Row.self)`.
    public static func select<Value>(
        _ selection: (DatabaseComponents) throws -> [any SQLSelectable], as type: Value.Type = Value.self
    ) rethrows -> QueryInterfaceRequest<Value> {
        try all().select(selection, as: type)
    }

    /// Returns a request that selects one more column.
    public static func annotated(with selection: (DatabaseComponents) throws -> any SQLSelectable) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().annotated(with: selection)
    }

    /// Returns a request that selects more columns.
    public static func annotated(with selection: (DatabaseComponents) throws -> [any SQLSelectable]) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().annotated(with: selection)
    }

    /// Returns a request for the rows that satisfy a condition: `filter { $0.score > 1000 }`.
    public static func filter(_ predicate: (DatabaseComponents) throws -> any SQLSpecificExpressible) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().filter(predicate)
    }

    /// Returns a sorted request: `order { $0.score.desc }`, `order(\.score)`.
    public static func order(_ ordering: (DatabaseComponents) throws -> any SQLOrderingTerm) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().order(ordering)
    }

    /// Returns a sorted request: `order { [$0.score.desc, $0.name] }`.
    public static func order(_ orderings: (DatabaseComponents) throws -> [any SQLOrderingTerm]) rethrows
        -> QueryInterfaceRequest<Self>
    {
        try all().order(orderings)
    }
}
