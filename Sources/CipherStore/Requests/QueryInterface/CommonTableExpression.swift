/// A query with a name, for use in other queries: the WITH clause of SQL.
///
/// ```swift
/// let counter = CommonTableExpression<Int>(
///     recursive: true, named: "counter", columns: ["x"],
///     literal: "VALUES(0) UNION ALL SELECT x+1 FROM counter WHERE x < \(10)")
///
/// let numbers = try counter.all().with(counter).fetchAll(db)
/// ```
///
/// A request defines the expressions it uses with ``DerivableRequest/with(_:)``.
///
/// Related SQLite documentation: <https://www.sqlite.org/lang_with.html>
public struct CommonTableExpression<RowDecoder>: Sendable {
    let commonTable: CommonTable

    /// The name of the expression.
    public var tableName: String { commonTable.name }

    fileprivate init(_ commonTable: CommonTable) {
        self.commonTable = commonTable
    }

    /// Makes an expression of a request.
    ///
    /// - parameters:
    ///     - recursive: Whether the query refers to its own name.
    ///     - name: The name.
    ///     - columns: The names of the columns, or nil for those of the query.
    ///     - request: The query.
    public init(
        recursive: Bool = false, named name: String, columns: [String]? = nil,
        request: some SQLSubqueryable
    ) {
        self.init(
            CommonTable(name: name, columns: columns, isRecursive: recursive, subquery: request.sqlSubquery))
    }

    /// Makes an expression of plain SQL.
    ///
    /// - parameters:
    ///     - recursive: Whether the query refers to its own name.
    ///     - name: The name.
    ///     - columns: The names of the columns, or nil for those of the query.
    ///     - sql: The query.
    ///     - arguments: The values of its parameters.
    public init(
        recursive: Bool = false, named name: String, columns: [String]? = nil, sql: String,
        arguments: StatementArguments = StatementArguments()
    ) {
        self.init(
            recursive: recursive, named: name, columns: columns,
            literal: SQL(sql: sql, arguments: arguments))
    }

    /// Makes an expression of an SQL literal.
    ///
    /// - parameters:
    ///     - recursive: Whether the query refers to its own name.
    ///     - name: The name.
    ///     - columns: The names of the columns, or nil for those of the query.
    ///     - literal: The query.
    public init(
        recursive: Bool = false, named name: String, columns: [String]? = nil, literal: SQL
    ) {
        self.init(
            CommonTable(
                name: name, columns: columns, isRecursive: recursive,
                subquery: SQLSubquery(.literal(literal))))
    }
}

extension CommonTableExpression where RowDecoder == Row {
    /// Makes an expression of a request, for rows.
    public init(
        recursive: Bool = false, named name: String, columns: [String]? = nil,
        request: some SQLSubqueryable
    ) {
        self.init(
            CommonTable(name: name, columns: columns, isRecursive: recursive, subquery: request.sqlSubquery))
    }

    /// Makes an expression of plain SQL, for rows.
    public init(
        recursive: Bool = false, named name: String, columns: [String]? = nil, sql: String,
        arguments: StatementArguments = StatementArguments()
    ) {
        self.init(
            recursive: recursive, named: name, columns: columns,
            literal: SQL(sql: sql, arguments: arguments))
    }

    /// Makes an expression of an SQL literal, for rows.
    public init(
        recursive: Bool = false, named name: String, columns: [String]? = nil, literal: SQL
    ) {
        self.init(
            CommonTable(
                name: name, columns: columns, isRecursive: recursive,
                subquery: SQLSubquery(.literal(literal))))
    }
}

extension CommonTableExpression {
    /// Returns whether the expression holds a value: `id IN name`.
    public func contains(_ element: some SQLExpressible) -> SQLExpression {
        SQLExpression(.isIn(element.sqlExpression, .table(tableName), isNegated: false))
    }
}

extension SQLInterpolation {
    /// Appends the name of a common table expression.
    public mutating func appendInterpolation<RowDecoder>(_ cte: CommonTableExpression<RowDecoder>) {
        append(.sql(cte.tableName.quotedDatabaseIdentifier))
    }

    /// Appends the definition of a common table expression.
    ///
    /// ```swift
    /// "WITH \(definitionFor: cte) SELECT * FROM \(cte)"
    /// ```
    public mutating func appendInterpolation<RowDecoder>(
        definitionFor cte: CommonTableExpression<RowDecoder>
    ) {
        let commonTable = cte.commonTable
        append(.deferred { try commonTable.writeDefinition(to: $0) })
    }
}
