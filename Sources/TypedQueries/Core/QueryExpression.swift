/// An SQL expression of a type.
///
/// ```swift
/// struct Reversed: QueryExpression {
///     typealias QueryValue = String
///     let base: any QueryExpression<String>
///     var queryFragment: QueryFragment { "reverse(\(base.queryFragment))" }
/// }
/// ```
public protocol QueryExpression<QueryValue> {
    /// The type of the expression's values: how they are stored and what they are in Swift.
    associatedtype QueryValue

    /// The SQL of the expression.
    var queryFragment: QueryFragment { get }

    /// Adds the SQL of the expression to a piece. By default it adds ``queryFragment``.
    func write(to fragment: inout QueryFragment)
}

extension QueryExpression {
    /// Adds the fragment.
    @inlinable
    public func write(to fragment: inout QueryFragment) { fragment.append(queryFragment) }
}

/// An expression that writes itself without a fragment of its own.
public protocol WritableExpression: QueryExpression {}

extension WritableExpression {
    /// A fragment with what the expression writes.
    @inlinable
    public var queryFragment: QueryFragment {
        var fragment = QueryFragment()
        fragment.code.reserveCapacity(64)
        write(to: &fragment)
        return fragment
    }
}

/// An expression that is written in SQL: what `#sql` makes.
///
/// ```swift
/// Reminder.where { !$0.isCompleted && #sql("\($0.dueDate) < date()") }
/// ```
public struct SQLQueryExpression<QueryValue>: QueryExpression, Hashable, Sendable {
    /// The SQL.
    public let queryFragment: QueryFragment

    /// Makes an expression of SQL.
    ///
    /// - parameters:
    ///     - queryFragment: The SQL.
    ///     - type: The type of its value, or of a row of the statement.
    @inlinable
    public init(_ queryFragment: QueryFragment, as type: QueryValue.Type = QueryValue.self) {
        self.queryFragment = queryFragment.withCommentEnded
    }

    /// Makes an expression of another one, whose type is hidden.
    ///
    /// A literal is SQL, and never a value, also where the expression is a text.
    @_disfavoredOverload
    @inlinable
    public init(_ expression: some QueryExpression<QueryValue>) { queryFragment = expression.queryFragment }

    /// Whether the two have the same SQL and values.
    public static func == (left: Self, right: Self) -> Bool { left.queryFragment == right.queryFragment }

    /// Feeds the SQL and the values to a hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(queryFragment) }
}

extension SQLQueryExpression: Statement, PartialSelectStatement {
    /// What the statement is about is not known.
    public typealias From = NoTable

    /// The SQL.
    public var query: QueryFragment { queryFragment }

    /// Adds the SQL as it is: it may be an expression, or a statement that stands between parentheses already.
    @inlinable
    public func write(to fragment: inout QueryFragment) { fragment.append(queryFragment) }
}

/// A value as an expression: what `#bind` makes.
public struct BindQueryExpression<QueryValue: QueryRepresentable>: WritableExpression {
    @usableFromInline let value: QueryValue.QueryOutput

    /// Makes an expression of a value.
    ///
    /// - parameters:
    ///     - value: The value.
    ///     - type: How it is stored.
    @inlinable
    public init(_ value: QueryValue.QueryOutput, as type: QueryValue.Type = QueryValue.self) {
        self.value = value
    }

    /// Adds a parameter for each column of the value.
    @inlinable
    public func write(to fragment: inout QueryFragment) {
        var row = RowWriter(fragment)
        fragment = QueryFragment()
        QueryValue.writeValue(value, to: &row)
        fragment = row.takeFragment()
    }
}

/// A call of a function: `name(a, b)`.
public struct FunctionExpression<QueryValue>: QueryExpression {
    /// The SQL of the call.
    public let queryFragment: QueryFragment

    /// Makes a call of a function.
    ///
    /// - parameters:
    ///     - name: The name of the function, as it is written.
    ///     - arguments: The arguments, in order.
    @inlinable
    public init<each Argument: QueryExpression>(_ name: StaticString, _ arguments: repeat each Argument) {
        var fragment = QueryFragment()
        fragment.append(sql: name)
        fragment.append(literal: "(")
        var isFirst = true
        for argument in repeat each arguments {
            if !isFirst { fragment.append(literal: ", ") }
            isFirst = false
            argument.write(to: &fragment)
        }
        fragment.append(literal: ")")
        queryFragment = fragment
    }
}
