// Functions that choose among values.

extension QueryExpression {
    /// An expression of the value, and NULL when that is NULL.
    ///
    /// ```swift
    /// Reminder.select { $0.priority.map { $0 < 3 } }
    /// // SELECT CASE WHEN ("reminders"."priority") IS NOT NULL THEN ("reminders"."priority") < (3) END FROM "reminders"
    /// ```
    @_disfavoredOverload
    public func map<Wrapped: QueryRepresentable, Value: QueryRepresentable>(
        _ transform: (SQLQueryExpression<Wrapped>) -> some QueryExpression<Value>
    ) -> SQLQueryExpression<Value?> where QueryValue == Wrapped? {
        let value = queryFragment
        let result = transform(SQLQueryExpression(value)).queryFragment
        return SQLQueryExpression(
            "CASE WHEN (\(value)) IS NOT \(raw: nulls(Wrapped.columnWidth)) THEN \(result) END")
    }

    /// An expression of the value that may be NULL itself, and NULL when the value is.
    @_disfavoredOverload
    public func flatMap<Wrapped: QueryRepresentable, Value: QueryRepresentable>(
        _ transform: (SQLQueryExpression<Wrapped>) -> some QueryExpression<Value?>
    ) -> SQLQueryExpression<Value?> where QueryValue == Wrapped? {
        let value = queryFragment
        let result = transform(SQLQueryExpression(value)).queryFragment
        return SQLQueryExpression(
            "CASE WHEN (\(value)) IS NOT \(raw: nulls(Wrapped.columnWidth)) THEN \(result) END")
    }

    /// The value, or another one when it is NULL.
    ///
    /// ```swift
    /// Reminder.select { $0.note.ifnull("-") }    // SELECT ifnull("reminders"."note", '-') FROM "reminders"
    /// ```
    public func ifnull<Wrapped: QueryRepresentable>(
        _ other: some QueryExpression<Wrapped>
    ) -> FunctionExpression<Wrapped> where QueryValue == Wrapped? {
        FunctionExpression("ifnull", self, other)
    }

    /// The value, or another one when it is NULL, which may be NULL too.
    public func ifnull<Wrapped: QueryRepresentable>(
        _ other: some QueryExpression<Wrapped?>
    ) -> FunctionExpression<Wrapped?> where QueryValue == Wrapped? {
        FunctionExpression("ifnull", self, other)
    }

    /// The first of several values that is not NULL; NULL when all are.
    public func coalesce<Wrapped: QueryRepresentable>(
        _ other: some QueryExpression<Wrapped?>, _ others: any QueryExpression<Wrapped?>...
    ) -> SQLQueryExpression<Wrapped?> where QueryValue == Wrapped? {
        SQLQueryExpression(
            .call("coalesce", [queryFragment, other.queryFragment] + others.map(\.queryFragment)))
    }

    /// The first of several values that is not NULL, or else one that never is.
    ///
    /// ```swift
    /// $0.nickname.coalesce($0.name, default: "?")    // coalesce("nickname", "name", '?')
    /// ```
    public func coalesce<Wrapped: QueryRepresentable>(
        _ others: any QueryExpression<Wrapped?>..., default value: some QueryExpression<Wrapped>
    ) -> SQLQueryExpression<Wrapped> where QueryValue == Wrapped? {
        SQLQueryExpression(
            .call("coalesce", [queryFragment] + others.map(\.queryFragment) + [value.queryFragment]))
    }
}

extension QueryExpression where QueryValue: QueryRepresentable {
    /// The value, or NULL when it equals another.
    ///
    /// ```swift
    /// Reminder.select { $0.title.nullif("") }    // SELECT nullif("reminders"."title", '') FROM "reminders"
    /// ```
    public func nullif<Other: QueryExpression>(_ other: Other) -> FunctionExpression<
        QueryValue.QueryUnwrapped?
    >
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped {
        FunctionExpression("nullif", self, other)
    }

    /// The name of the kind of the value: `null`, `integer`, `real`, `text` or `blob`.
    public func typeof() -> FunctionExpression<String> { FunctionExpression("typeof", self) }

    /// The value as another type: `CAST`.
    ///
    /// ```swift
    /// $0.score.cast(as: String.self)    // CAST("players"."score" AS TEXT)
    /// ```
    ///
    /// - parameter type: A type that is stored as an integer, a floating-point number, a text or a blob.
    public func cast<Other: CastableRepresentation>(as type: Other.Type = Other.self) -> SQLQueryExpression<
        Other
    > {
        var fragment = QueryFragment("CAST(")
        write(to: &fragment)
        fragment.append(literal: " AS ")
        fragment.append(sql: Other.castTypeName)
        fragment.append(literal: ")")
        return SQLQueryExpression(fragment)
    }
}

/// As many NULLs as a value has columns: `NULL`, or `(NULL, NULL)`.
private func nulls(_ width: Int) -> String {
    guard width > 1 else { return "NULL" }
    return "(" + Array(repeating: "NULL", count: width).joined(separator: ", ") + ")"
}

extension QueryFragment {
    /// A call of a function with any number of arguments.
    static func call(_ name: StaticString, _ arguments: [QueryFragment]) -> QueryFragment {
        var fragment = QueryFragment()
        fragment.append(sql: name)
        fragment.append(literal: "(")
        for (index, argument) in arguments.enumerated() {
            if index > 0 { fragment.append(literal: ", ") }
            fragment.append(argument)
        }
        fragment.append(literal: ")")
        return fragment
    }
}

/// One of two values: `iif`.
///
/// ```swift
/// Reminder.select { iif($0.isCompleted, "done", "open") }    // SELECT iif("reminders"."isCompleted", 'done', 'open')
/// ```
///
/// SQLite before 3.32 gets `CASE WHEN … THEN … ELSE … END`.
///
/// - parameters:
///     - condition: The condition; one that is NULL is not met.
///     - value: The value when it is met.
///     - other: The value when it is not.
public func iif<Condition: QueryExpression, Value: QueryRepresentable>(
    _ condition: Condition, _ value: some QueryExpression<Value>, _ other: some QueryExpression<Value>
) -> SQLQueryExpression<Value>
where Condition.QueryValue: QueryRepresentable, Condition.QueryValue.QueryUnwrapped == Bool {
    var fragment = QueryFragment()
    fragment.appendChoice(.iif) {
        $0.append(literal: "iif(")
        condition.write(to: &$0)
        $0.append(literal: ", ")
        value.write(to: &$0)
        $0.append(literal: ", ")
        other.write(to: &$0)
        $0.append(literal: ")")
    } emulated: {
        $0.append(literal: "CASE WHEN ")
        condition.write(to: &$0)
        $0.append(literal: " THEN ")
        value.write(to: &$0)
        $0.append(literal: " ELSE ")
        other.write(to: &$0)
        $0.append(literal: " END")
    }
    return SQLQueryExpression(fragment)
}
