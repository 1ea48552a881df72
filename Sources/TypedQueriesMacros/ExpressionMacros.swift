/// An expression or a statement in SQL.
///
/// ```swift
/// Reminder.where { #sql("\($0.dueDate) < date()") }
/// try #sql("SELECT \(Reminder.columns) FROM \(Reminder.self) WHERE \(Reminder.id) = \(id)", as: Reminder.self).fetchOne(db)
/// ```
///
/// Interpolated values are bound as parameters, and never become SQL. Columns, tables and expressions are written as
/// SQL. `\(raw:)` puts a text in as it is, `\(quote:)` a name with quotes, and `\(bind:)` says that a value is bound.
///
/// The compiler warns of quotes and brackets without a pair, and refuses values between quotes, where SQLite would not
/// see them, and placeholders such as `?` that would have no value.
///
/// - parameters:
///     - fragment: The SQL.
///     - type: The type of the expression's value, or of the rows of the statement.
@freestanding(expression)
public macro sql<QueryValue>(
    _ fragment: QueryFragment, as type: QueryValue.Type = QueryValue.self
) -> SQLQueryExpression<QueryValue> = #externalMacro(module: "CipherStoreMacros", type: "SQLMacro")

/// A value as an expression, which is bound as a parameter.
///
/// ```swift
/// Reminder.where { $0.createdAt > #bind(date, as: Date.UnixTimeRepresentation.self) }
/// ```
///
/// - parameters:
///     - value: The value.
///     - type: How it is stored.
@freestanding(expression)
public macro bind<QueryValue: QueryRepresentable>(
    _ value: QueryValue.QueryOutput, as type: QueryValue.Type = QueryValue.self
) -> BindQueryExpression<QueryValue> = #externalMacro(module: "CipherStoreMacros", type: "BindMacro")

/// A value as an expression, which is bound as a parameter in the form of its own type.
@freestanding(expression)
public macro bind<QueryValue: QueryBindable>(
    _ value: QueryValue
) -> BindQueryExpression<QueryValue> = #externalMacro(module: "CipherStoreMacros", type: "BindMacro")
where QueryValue.QueryOutput == QueryValue
