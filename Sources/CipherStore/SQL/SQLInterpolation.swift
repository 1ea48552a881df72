/// What can be written between `\(` and `)` in an ``SQL`` literal and an
/// ``SQLRequest``.
public struct SQLInterpolation: StringInterpolationProtocol, Sendable {
    private(set) var elements: [SQL.Element] = []

    /// Makes an empty literal.
    public init(literalCapacity: Int, interpolationCount: Int) {
        elements.reserveCapacity(2 * interpolationCount + 1)
    }

    /// Appends the text between two interpolations.
    public mutating func appendLiteral(_ sql: String) {
        if !sql.isEmpty { elements.append(.sql(sql)) }
    }

    private mutating func appendName(_ name: String) {
        elements.append(.sql(name.quotedDatabaseIdentifier))
    }

    // MARK: SQL

    /// Appends plain SQL: `\(sql: "name = ?", arguments: ["O'Brien"])`.
    public mutating func appendInterpolation(
        sql: String, arguments: StatementArguments = StatementArguments()
    ) {
        elements.append(.sql(sql, arguments))
    }

    /// Appends another literal: `\(literal: condition)`.
    public mutating func appendInterpolation(literal: SQL) {
        elements += literal.elements
        if literal.endsInComment { elements.append(.sql("\n")) }
    }

    /// Appends another literal.
    public mutating func appendInterpolation(_ literal: SQL) {
        appendInterpolation(literal: literal)
    }

    /// Appends a name in double quotes, such as that of a table that is known at run time: `FROM \(identifier: name)`.
    ///
    /// - parameter identifier: The name, as it is. Each quote in it is doubled.
    public mutating func appendInterpolation(identifier: String) {
        appendName(identifier)
    }

    // MARK: Expressions, selections, orderings

    /// Appends an expression or a value; nil is NULL.
    public mutating func appendInterpolation(_ expression: (any SQLExpressible)?) {
        elements.append(.expression(expression?.sqlExpression ?? .null))
    }

    /// Appends an expression.
    public mutating func appendInterpolation(
        _ expression: (any SQLExpressible & SQLSelectable & SQLOrderingTerm)?
    ) {
        elements.append(.expression(expression?.sqlExpression ?? .null))
    }

    /// Appends an expression or a value.
    public mutating func appendInterpolation(_ expression: some SQLExpressible) {
        elements.append(.expression(expression.sqlExpression))
    }

    /// Appends an expression.
    public mutating func appendInterpolation(
        _ expression: some SQLExpressible & SQLSelectable & SQLOrderingTerm
    ) {
        elements.append(.expression(expression.sqlExpression))
    }

    /// Appends a result column, such as `\(.allColumns)`.
    public mutating func appendInterpolation(_ selection: some SQLSelectable) {
        elements.append(.selection(selection.sqlSelection))
    }

    /// Appends a result column; nil is NULL.
    public mutating func appendInterpolation(_ selection: (any SQLSelectable)?) {
        elements.append(selection.map { .selection($0.sqlSelection) } ?? .expression(.null))
    }

    /// Appends an ordering term, such as `\(Column("name").desc)`.
    public mutating func appendInterpolation(_ ordering: some SQLOrderingTerm) {
        elements.append(.ordering(ordering.sqlOrdering))
    }

    /// Appends an ordering term.
    public mutating func appendInterpolation(_ ordering: any SQLOrderingTerm) {
        elements.append(.ordering(ordering.sqlOrdering))
    }

    /// Appends the column that has the name of a coding key.
    public mutating func appendInterpolation(_ key: some CodingKey) {
        elements.append(.expression(.column(key.stringValue)))
    }

    /// Appends a column.
    public mutating func appendInterpolation(
        _ key: some CodingKey & SQLExpressible & SQLSelectable & SQLOrderingTerm
    ) {
        elements.append(.expression(key.sqlExpression))
    }

    // MARK: Sequences

    /// Appends values in parentheses: `WHERE id IN \(ids)`. There may be none.
    public mutating func appendInterpolation<Elements: Sequence>(_ elements: Elements)
    where Elements.Element: SQLExpressible {
        append(elements.map(\.sqlExpression))
    }

    /// Appends values in parentheses. There may be none.
    public mutating func appendInterpolation<Elements: Sequence>(_ elements: Elements)
    where Elements.Element == any SQLExpressible {
        append(elements.map(\.sqlExpression))
    }

    /// Appends a value that could be taken for a sequence of values, such as `Data`.
    public mutating func appendInterpolation<Value: SQLExpressible & Sequence>(_ value: Value)
    where Value.Element: SQLExpressible {
        elements.append(.expression(value.sqlExpression))
    }

    private mutating func append(_ expressions: [SQLExpression]) {
        if expressions.isEmpty {
            // A query without rows, because `IN ()` is no standard SQL.
            return elements.append(.sql("(SELECT NULL WHERE NULL)"))
        }
        elements.append(.sql("("))
        for (index, expression) in expressions.enumerated() {
            if index > 0 { elements.append(.sql(",")) }
            elements.append(.expression(expression))
        }
        elements.append(.sql(")"))
    }

    // MARK: Tables and queries

    /// Appends the name of a record type's table.
    public mutating func appendInterpolation<Record: TableRecord>(_ table: Record.Type) {
        appendName(Record.databaseTableName)
    }

    /// Appends the name of a record type's table.
    public mutating func appendInterpolation(_ table: any TableRecord.Type) {
        appendName(table.databaseTableName)
    }

    /// Appends the name of a record's table.
    public mutating func appendInterpolation(tableOf record: some TableRecord) {
        appendName(type(of: record).databaseTableName)
    }

    /// Appends the name of a record's table.
    public mutating func appendInterpolation(tableOf record: any TableRecord) {
        appendName(type(of: record).databaseTableName)
    }

    /// Appends the columns that a record type selects.
    ///
    /// ```swift
    /// "SELECT \(columnsOf: Player.self, tableAlias: "p") FROM player p"
    /// ```
    public mutating func appendInterpolation<Record: TableRecord>(
        columnsOf recordType: Record.Type, tableAlias: String? = nil
    ) {
        let table = Record.databaseTableName
        let identity = SourceIdentity(name: tableAlias ?? table, tableName: table)
        for (index, selection) in Record.databaseSelection.enumerated() {
            if index > 0 { elements.append(.sql(", ")) }
            elements.append(.selection(SQLSelection(.aliased(identity, selection.sqlSelection))))
        }
    }

    /// Appends a query, without parentheses.
    public mutating func appendInterpolation(_ subquery: some SQLSubqueryable) {
        elements.append(.subquery(subquery.sqlSubquery))
    }

    /// Appends a query, without parentheses.
    public mutating func appendInterpolation(_ subquery: any SQLSubqueryable) {
        elements.append(.subquery(subquery.sqlSubquery))
    }

    mutating func append(_ element: SQL.Element) {
        elements.append(element)
    }
}
