/// A SELECT query.
///
/// You get one from any request:
///
/// ```swift
/// func names(_ players: some SQLSubqueryable) -> SQLRequest<String> {
///     "SELECT name FROM (\(players))"
/// }
/// ```
public struct SQLSubquery: Sendable {
    let node: Node

    init(_ node: Node) {
        self.node = node
    }

    indirect enum Node: Sendable {
        /// SQL of the user.
        case literal(SQL)
        /// A request that is built from parts.
        case relation(Relation)
    }

    /// Writes the query, without parentheses.
    func write(to writer: SQLWriter) throws {
        switch node {
        case .literal(let literal):
            // The columns in SQL of the user belong to its own FROM clause.
            try writer.withFrame([], scope: nil) { try literal.write(to: writer) }
        case .relation(let relation):
            try relation.writeSelect(to: writer)
        }
    }

    func writeInParentheses(to writer: SQLWriter) throws {
        writer.append("(")
        try write(to: writer)
        writer.append(")")
    }

    /// The SQL of the query with its values as literals, as the definition of a
    /// view wants it.
    func literalSQL(_ db: Database) throws -> String {
        let writer = SQLWriter(db, style: .literals)
        try write(to: writer)
        return writer.sql
    }
}

extension SQLSubquery: SQLSubqueryable {
    /// The query itself.
    public var sqlSubquery: SQLSubquery { self }
}

/// A type that is a SELECT query, and can be used as a part of another one.
///
/// ```swift
/// // SELECT * FROM player WHERE score = (SELECT MAX(score) FROM player)
/// let maximumScore = Player.select { max($0.score) }
/// let request = Player.filter { $0.score == maximumScore }
/// ```
public protocol SQLSubqueryable: SQLSpecificExpressible {
    /// The type as a query.
    var sqlSubquery: SQLSubquery { get }
}

extension SQLSubqueryable {
    /// The first value of the query's first row.
    public var sqlExpression: SQLExpression { SQLExpression(.subquery(sqlSubquery)) }

    /// Returns whether the query gives a value: `name IN (SELECT …)`.
    public func contains(_ element: some SQLExpressible) -> SQLExpression {
        SQLExpression(.isIn(element.sqlExpression, .subquery(sqlSubquery), isNegated: false))
    }

    /// Returns whether the query has rows: `EXISTS (SELECT …)`.
    public func exists() -> SQLExpression {
        SQLExpression(.exists(sqlSubquery, isNegated: false))
    }
}
