// Building SQL from values.
//
// Everything an app writes with columns, operators and requests ends in one of
// four values: an `SQLExpression`, an `SQLSelection`, an `SQLOrdering` or an
// `SQLSubquery`. The protocols of this file say what turns into them.
//
// * An expression is a tree (`SQLExpression.Node`, one indirect enum) that knows
//   neither a connection nor the table its columns belong to. It is a value: it
//   can be a static constant, cross threads, and be used in many requests.
// * An `SQLWriter` writes a tree for one connection. It collects the arguments,
//   knows the engine's features, and holds a stack of frames, one for each
//   SELECT, UPDATE or DELETE that is being written. A frame names its sources,
//   and a scope says to which of them a bare column belongs. So a filter is
//   never rewritten when its request is joined, aliased or nested: only its
//   scope differs when it is written.
// * A request is a value over a `Relation`: a source, a selection, filters,
//   ordering, grouping, limit, common table expressions and the relations that
//   are joined to it by key. What needs the schema (a primary key, for one) is a
//   closure of a connection, evaluated when the request is written.
// * A `TableAlias` is nothing but an identity, and maybe a name. The frames map
//   identities to names, so an alias can be used before, in, and around the
//   request that it stands for.
// * The same tree answers what observation asks: which rows a filter pins
//   (`SQLExpression.rowIDs(…)`), and whether it can match one row at most.

/// A type that is an SQL expression: a column, a value, an operation on them.
///
/// Values (`Int`, `String`, `Date`…) conform, so that they can be compared with
/// columns. What makes no sense for a bare value, such as sorting by it, is in
/// ``SQLSpecificExpressible``.
public protocol SQLExpressible {
    /// The type as an SQL expression.
    var sqlExpression: SQLExpression { get }
}

/// A type whose purpose is to be an SQL expression, which Swift's own types are
/// not: ``Column``, ``SQL``, ``SQLExpression``, and requests as subqueries.
public protocol SQLSpecificExpressible: SQLExpressible, SQLSelectable, SQLOrderingTerm {}

/// A type that can be selected: `SELECT <here> FROM player`.
///
/// ```swift
/// Player.select(Column("name"), Column("score").forKey("points"))
/// ```
public protocol SQLSelectable {
    /// The type as a result column.
    var sqlSelection: SQLSelection { get }
}

/// A type that sorts rows: `SELECT * FROM player ORDER BY <here>`.
///
/// ```swift
/// Player.order(Column("score").desc, Column("name"))
/// ```
public protocol SQLOrderingTerm {
    /// The type as an ordering term.
    var sqlOrdering: SQLOrdering { get }
}

extension SQLSpecificExpressible {
    /// The expression as a result column.
    public var sqlSelection: SQLSelection { .expression(sqlExpression) }

    /// The expression as an ordering term, neither `ASC` nor `DESC`.
    public var sqlOrdering: SQLOrdering { .expression(sqlExpression) }
}

extension DatabaseValueConvertible {
    /// The database value as an expression.
    public var sqlExpression: SQLExpression { .value(databaseValue) }
}

extension Optional: SQLExpressible where Wrapped: SQLExpressible {
    /// The value as an expression; nil is NULL.
    public var sqlExpression: SQLExpression { self?.sqlExpression ?? .null }
}

extension DatabaseValue: SQLSpecificExpressible {}
