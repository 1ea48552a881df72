// The functions of SQL.
// Related SQLite documentation: <https://www.sqlite.org/lang_corefunc.html>

/// `ABS(a)`
public func abs(_ value: some SQLSpecificExpressible) -> SQLExpression {
    .function("ABS", [value])
}

extension Database {
    /// What a value is cast to: `.integer`, `.real`, `.text`, `.blob` or `.numeric`.
    public typealias StorageClass = ColumnType
}

/// `CAST(a AS TEXT)`
///
/// SQLite goes by the affinity of the type, so that a cast to `.date` gives a number: 2024 of `'2024-01-01'`.
public func cast(_ value: some SQLSpecificExpressible, as type: Database.ColumnType) -> SQLExpression {
    SQLExpression(.cast(value.sqlExpression, type.rawValue))
}

/// `COALESCE(a, b)`: the first value that is not NULL.
public func coalesce(_ values: some Collection<any SQLSpecificExpressible>) -> SQLExpression {
    switch values.first {
    case nil: .null
    case let value? where values.count == 1: value.sqlExpression
    default: .function("COALESCE", values.map { $0 as any SQLExpressible })
    }
}

/// `COALESCE(a, b)`: the first value that is not NULL.
public func coalesce(_ values: any SQLSpecificExpressible...) -> SQLExpression {
    coalesce(values)
}

/// `LENGTH(a)`
public func length(_ value: some SQLSpecificExpressible) -> SQLExpression {
    .function("LENGTH", [value])
}

/// `MAX(a, b, c)`: the largest of several values.
public func max(
    _ first: any SQLSpecificExpressible, _ second: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression {
    .function("MAX", [first, second] + others)
}

/// `MIN(a, b, c)`: the smallest of several values.
public func min(
    _ first: any SQLSpecificExpressible, _ second: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression {
    .function("MIN", [first, second] + others)
}

// MARK: - Aggregates
// Related SQLite documentation: <https://www.sqlite.org/lang_aggfunc.html>

extension SQLExpression {
    static func aggregate(
        _ name: String, _ arguments: [any SQLExpressible], orderBy ordering: (any SQLOrderingTerm)? = nil,
        filter: (any SQLSpecificExpressible)? = nil, isDistinct: Bool = false
    ) -> SQLExpression {
        var call = SQLFunctionCall(name: name, arguments: arguments.map(\.sqlExpression), isAggregate: true)
        call.isDistinct = isDistinct
        call.ordering = ordering?.sqlOrdering
        call.filter = filter?.sqlExpression
        return SQLExpression(.function(call))
    }
}

/// `AVG(a) FILTER (WHERE condition)`: the average of the values of many rows.
public func average(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression {
    .aggregate("AVG", [value], filter: filter)
}

/// `COUNT(a)`: the number of values that are not NULL.
public func count(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression {
    .aggregate("COUNT", [value], filter: filter)
}

/// `COUNT(DISTINCT a)`: the number of different values that are not NULL.
public func count(
    distinct value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression {
    .aggregate("COUNT", [value], filter: filter, isDistinct: true)
}

/// `MAX(a) FILTER (WHERE condition)`: the largest value of many rows.
public func max(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression {
    .aggregate("MAX", [value], filter: filter)
}

/// `MIN(a) FILTER (WHERE condition)`: the smallest value of many rows.
public func min(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression {
    .aggregate("MIN", [value], filter: filter)
}

/// `SUM(a ORDER BY b) FILTER (WHERE condition)`: the sum of the values of many
/// rows, or NULL when there is none.
///
/// - parameters:
///     - value: What is added.
///     - ordering: The order in which it is added. It needs SQLite 3.44.
///     - filter: Which rows count.
public func sum(
    _ value: some SQLSpecificExpressible, orderBy ordering: (any SQLOrderingTerm)? = nil,
    filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression {
    .aggregate("SUM", [value], orderBy: ordering, filter: filter)
}

/// `TOTAL(a ORDER BY b) FILTER (WHERE condition)`: the sum of the values of many
/// rows as a floating-point number, 0 when there is none.
///
/// - parameters:
///     - value: What is added.
///     - ordering: The order in which it is added. It needs SQLite 3.44.
///     - filter: Which rows count.
public func total(
    _ value: some SQLSpecificExpressible, orderBy ordering: (any SQLOrderingTerm)? = nil,
    filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression {
    .aggregate("TOTAL", [value], orderBy: ordering, filter: filter)
}

// MARK: - Texts

extension SQLSpecificExpressible {
    /// The text with each word capitalized by Swift, which knows all of Unicode.
    public var capitalized: SQLExpression { .function("swiftCapitalizedString", [self]) }

    /// The text in lower case by Swift, which knows all of Unicode.
    public var lowercased: SQLExpression { .function("swiftLowercaseString", [self]) }

    /// The text in upper case by Swift, which knows all of Unicode.
    public var uppercased: SQLExpression { .function("swiftUppercaseString", [self]) }

    /// The text with each word capitalized as the user's language does.
    public var localizedCapitalized: SQLExpression { .function("swiftLocalizedCapitalizedString", [self]) }

    /// The text in lower case, as the user's language has it.
    public var localizedLowercased: SQLExpression { .function("swiftLocalizedLowercaseString", [self]) }

    /// The text in upper case, as the user's language has it.
    public var localizedUppercased: SQLExpression { .function("swiftLocalizedUppercaseString", [self]) }
}
