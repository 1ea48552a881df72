/// The beginning of a CASE expression.
///
/// ```swift
/// Reminder.select {
///     Case().when($0.isCompleted, then: "done")
///         .when($0.dueDate < .now(), then: "late")
///         .else("open")
/// }
/// // SELECT CASE WHEN "reminders"."isCompleted" THEN 'done' WHEN … THEN 'late' ELSE 'open' END FROM "reminders"
///
/// Reminder.select { Case($0.priority).when(1, then: "low").when(3, then: "high") }
/// // SELECT CASE "reminders"."priority" WHEN 1 THEN 'low' WHEN 3 THEN 'high' END FROM "reminders"
/// ```
public struct Case<Base: QueryRepresentable, Value: QueryRepresentable> {
    private let base: QueryFragment

    /// Begins an expression that takes the value of the first condition that is met.
    public init() where Base == Bool { base = "CASE" }

    /// Begins an expression that takes the value of the first case that equals an expression.
    public init(_ base: some QueryExpression<Base>) { self.base = "CASE \(base.queryFragment)" }

    /// Adds a case.
    ///
    /// - parameters:
    ///     - condition: The condition, or what the expression is compared with.
    ///     - value: The value in this case.
    public func when<Condition: QueryExpression>(
        _ condition: Condition, then value: some QueryExpression<Value>
    ) -> Cases<Base, Value>
    where Condition.QueryValue: QueryRepresentable, Condition.QueryValue.QueryUnwrapped == Base.QueryUnwrapped
    {
        Cases(cases: base).when(condition, then: value)
    }
}

/// A CASE expression. Without ``else(_:)`` it is NULL in all other cases.
public struct Cases<Base: QueryRepresentable, Value: QueryRepresentable>: WritableExpression {
    /// The value of the cases, or NULL.
    public typealias QueryValue = Value?

    let cases: QueryFragment

    /// Adds a case.
    ///
    /// - parameters:
    ///     - condition: The condition, or what the expression is compared with.
    ///     - value: The value in this case.
    public func when<Condition: QueryExpression>(
        _ condition: Condition, then value: some QueryExpression<Value>
    ) -> Cases
    where Condition.QueryValue: QueryRepresentable, Condition.QueryValue.QueryUnwrapped == Base.QueryUnwrapped
    {
        var fragment = cases
        fragment.append(literal: " WHEN ")
        condition.write(to: &fragment)
        fragment.append(literal: " THEN ")
        value.write(to: &fragment)
        return Cases(cases: fragment)
    }

    /// Ends the expression with the value of all other cases.
    public func `else`(_ value: some QueryExpression<Value>) -> SQLQueryExpression<Value> {
        var fragment = cases
        fragment.append(literal: " ELSE ")
        value.write(to: &fragment)
        fragment.append(literal: " END")
        return SQLQueryExpression(fragment)
    }

    /// Adds the expression.
    public func write(to fragment: inout QueryFragment) {
        fragment.append(cases)
        fragment.append(literal: " END")
    }
}
