/// A statement, whose rows are values of a type.
///
/// Two statements are equal when their SQL and their values are.
public protocol Statement<QueryValue>: QueryExpression, Hashable, Sendable {
    /// The table that the statement is about.
    associatedtype From: Table

    /// The tables that are joined to it: ``Joined``.
    associatedtype Joins = NoJoins

    /// The SQL of the statement.
    var query: QueryFragment { get }

    /// Adds the SQL of the statement to a piece. By default it adds ``query``.
    func writeStatement(to fragment: inout QueryFragment)
}

/// The types of tables that are joined to another, in order.
public struct Joined<each Other: Table>: Sendable {}

// The compiler takes `<>` for an operator, and the formatter would write it.
// swift-format-ignore
/// No tables that are joined to another.
public typealias NoJoins = Joined< >

extension Statement {
    /// Adds the SQL.
    @inlinable
    public func writeStatement(to fragment: inout QueryFragment) { fragment.append(query) }

    /// The statement between parentheses.
    @inlinable
    public var queryFragment: QueryFragment {
        var fragment = QueryFragment()
        write(to: &fragment)
        return fragment
    }

    /// Adds the statement between parentheses.
    @inlinable
    public func write(to fragment: inout QueryFragment) {
        fragment.append(literal: "(")
        let start = fragment.code.count
        writeStatement(to: &fragment)
        if fragment.code.count == start { Self.writeNoRows(to: &fragment) }
        fragment.append(literal: ")")
    }

    /// Adds a SELECT without rows: a statement of none writes nothing, which is no subquery.
    @usableFromInline static func writeNoRows(to fragment: inout QueryFragment) {
        let width = (QueryValue.self as? any QueryRepresentable.Type)?.columnWidth ?? 1
        fragment.append(literal: "SELECT NULL")
        for _ in 1..<Swift.max(width, 1) { fragment.append(literal: ", NULL") }
        fragment.append(literal: " WHERE 0")
    }
}

/// A statement that writes itself.
public protocol WritableStatement: Statement {}

extension WritableStatement {
    /// The SQL of the statement.
    @inlinable
    public var query: QueryFragment {
        var fragment = QueryFragment()
        fragment.code.reserveCapacity(128)
        writeStatement(to: &fragment)
        return fragment
    }
}

/// A statement that gives rows, and may be a part of a compound: a SELECT, VALUES, or several of them.
public protocol PartialSelectStatement<QueryValue>: Statement {}

/// A SELECT statement, which can be refined.
public protocol SelectStatement<QueryValue, From, Joins>: PartialSelectStatement {
    /// The statement in its general form.
    func asSelect() -> Select<QueryValue, From, Joins>
}

/// A statement whose rows are values of a type.
public typealias StatementOf<QueryValue> = Statement<QueryValue>

/// A SELECT of whole rows of a table.
public typealias SelectStatementOf<From: Table> = SelectStatement<(), From, NoJoins>
