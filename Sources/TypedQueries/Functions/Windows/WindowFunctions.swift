// Window functions, which need SQLite 3.25. On older engines preparing the statement fails and says so.

/// A function that has a value for each row, made of this row and others. It is not an expression without
/// `over`.
public struct WindowFunction<Value>: Sendable {
    let call: QueryFragment

    init(_ call: QueryFragment) { self.call = call }

    /// The value of the function over a window.
    ///
    /// ```swift
    /// Player.select { ($0.name, rowNumber().over(QueryWindow().order(by: $0.score.desc()))) }
    /// // SELECT "players"."name", row_number() OVER (ORDER BY "players"."score" DESC) FROM "players"
    /// ```
    public func over(_ window: QueryWindow = QueryWindow()) -> SQLQueryExpression<Value> {
        .over(call, window)
    }

    /// The value of the function over a window: `rank().over { $0.order(by: score) }`.
    public func over(_ define: (QueryWindow) -> QueryWindow) -> SQLQueryExpression<Value> {
        .over(call, define(QueryWindow()))
    }
}

extension AggregateExpression {
    /// The value of the aggregate over the rows of a window, for each row.
    ///
    /// ```swift
    /// $0.score.sum().over { window in window.partition(by: $0.team) }
    /// // sum("players"."score") OVER (PARTITION BY "players"."team")
    /// ```
    public func over(_ window: QueryWindow = QueryWindow()) -> SQLQueryExpression<QueryValue> {
        .over(queryFragment, window)
    }

    /// The value of the aggregate over the rows of a window, for each row.
    public func over(_ define: (QueryWindow) -> QueryWindow) -> SQLQueryExpression<QueryValue> {
        .over(queryFragment, define(QueryWindow()))
    }
}

extension SQLQueryExpression {
    fileprivate static func over(_ call: QueryFragment, _ window: QueryWindow) -> Self {
        var fragment = QueryFragment()
        fragment.require(.windowFunctions)
        fragment.append(call)
        fragment.append(literal: " OVER ")
        window.write(to: &fragment)
        return Self(fragment)
    }
}

/// The number of the row in its partition, from 1.
public func rowNumber() -> WindowFunction<Int> { WindowFunction("row_number()") }

/// The number of the first row that is equal in the order: 1, 2, 2, 4.
public func rank() -> WindowFunction<Int> { WindowFunction("rank()") }

/// The number of the group of rows that are equal in the order: 1, 2, 2, 3.
public func denseRank() -> WindowFunction<Int> { WindowFunction("dense_rank()") }

/// The rank from 0 to 1: `(rank - 1) / (rows - 1)`.
public func percentRank() -> WindowFunction<Double> { WindowFunction("percent_rank()") }

/// The share of the rows up to the current one and its equals.
public func cumeDist() -> WindowFunction<Double> { WindowFunction("cume_dist()") }

/// The number of the part, when the partition is cut into so many of about the same size.
///
/// - parameter count: The number of parts, at least 1.
public func ntile(_ count: some QueryExpression<Int>) -> WindowFunction<Int> {
    WindowFunction("ntile(\(count.queryFragment))")
}

extension QueryExpression where QueryValue: QueryRepresentable {
    /// The value in an earlier row of the partition, NULL when there is none.
    ///
    /// ```swift
    /// $0.score.lag().over { window in window.order(by: $0.playedAt) }
    /// // lag("games"."score", 1) OVER (ORDER BY "games"."playedAt")
    /// ```
    ///
    /// - parameter offset: How many rows earlier.
    public func lag(_ offset: Int = 1) -> WindowFunction<QueryValue.QueryUnwrapped?> { other("lag", offset) }

    /// The value in an earlier row of the partition, or another value when there is none.
    public func lag(_ offset: Int, default value: some QueryExpression<QueryValue>) -> WindowFunction<
        QueryValue
    > {
        other("lag", offset, value)
    }

    /// The value in a later row of the partition, NULL when there is none.
    ///
    /// - parameter offset: How many rows later.
    public func lead(_ offset: Int = 1) -> WindowFunction<QueryValue.QueryUnwrapped?> {
        other("lead", offset)
    }

    /// The value in a later row of the partition, or another value when there is none.
    public func lead(_ offset: Int, default value: some QueryExpression<QueryValue>) -> WindowFunction<
        QueryValue
    > {
        other("lead", offset, value)
    }

    /// The value in the first row of the frame.
    public func firstValue() -> WindowFunction<QueryValue.QueryUnwrapped?> {
        WindowFunction("first_value(\(queryFragment))")
    }

    /// The value in the last row of the frame, which by default is the current one or its last equal.
    public func lastValue() -> WindowFunction<QueryValue.QueryUnwrapped?> {
        WindowFunction("last_value(\(queryFragment))")
    }

    /// The value in a row of the frame, NULL when it has fewer.
    ///
    /// - parameter number: The number of the row, from 1.
    public func nthValue(_ number: some QueryExpression<Int>) -> WindowFunction<QueryValue.QueryUnwrapped?> {
        WindowFunction("nth_value(\(queryFragment), \(number.queryFragment))")
    }

    private func other<Value>(
        _ name: StaticString, _ offset: Int, _ value: (any QueryExpression)? = nil
    ) -> WindowFunction<Value> {
        var fragment = QueryFragment()
        fragment.append(sql: name)
        fragment.append(literal: "(")
        write(to: &fragment)
        fragment.append(sql: ", \(offset)" as String)
        if let value {
            fragment.append(literal: ", ")
            value.write(to: &fragment)
        }
        fragment.append(literal: ")")
        return WindowFunction(fragment)
    }
}
