/// An ordering term.
public struct SQLOrdering: Sendable {
    let node: Node

    init(_ node: Node) {
        self.node = node
    }

    indirect enum Node: Sendable {
        case expression(SQLExpression)
        case asc(SQLExpression)
        case desc(SQLExpression)
        case ascNullsLast(SQLExpression)
        case descNullsFirst(SQLExpression)
        /// SQL of the user.
        case literal(SQL)
        case aliased(SourceIdentity, SQLOrdering)
    }

    static func expression(_ expression: SQLExpression) -> SQLOrdering {
        if case .literal(let sql) = expression.node { return SQLOrdering(.literal(sql)) }
        return SQLOrdering(.expression(expression))
    }

    /// The opposite order.
    var reversed: SQLOrdering {
        switch node {
        case .expression(let expression), .asc(let expression): SQLOrdering(.desc(expression))
        case .desc(let expression): SQLOrdering(.asc(expression))
        case .ascNullsLast(let expression): SQLOrdering(.descNullsFirst(expression))
        case .descNullsFirst(let expression): SQLOrdering(.ascNullsLast(expression))
        case .literal(let literal): SQLOrdering(.desc(literal.sqlExpression))
        case .aliased(let alias, let ordering): SQLOrdering(.aliased(alias, ordering.reversed))
        }
    }

    func write(to writer: SQLWriter) throws {
        switch node {
        case .expression(let expression):
            try expression.write(to: writer)
        case .asc(let expression):
            try expression.write(to: writer)
            writer.append(" ASC")
        case .desc(let expression):
            try expression.write(to: writer)
            writer.append(" DESC")
        case .ascNullsLast(let expression):
            try Self.write(expression, "ASC", nulls: "LAST", to: writer)
        case .descNullsFirst(let expression):
            try Self.write(expression, "DESC", nulls: "FIRST", to: writer)
        case .literal(let literal):
            try literal.write(to: writer)
        case .aliased(let alias, let ordering):
            try writer.withScope(alias) { try ordering.write(to: writer) }
        }
    }

    /// `NULLS LAST`, and before SQLite 3.30 another term that says the same.
    private static func write(
        _ expression: SQLExpression, _ direction: String, nulls: String, to writer: SQLWriter
    ) throws {
        if !writer.features.supportsNullsOrdering {
            try SQLExpression(.equality(.same, expression.withoutCollation, .null)).write(to: writer)
            // IS NULL is 1 for NULL, which comes last in rising order.
            writer.append(" \(direction), ")
        }
        try expression.write(to: writer)
        writer.append(" \(direction)")
        if writer.features.supportsNullsOrdering { writer.append(" NULLS \(nulls)") }
    }
}

extension SQLOrdering: SQLOrderingTerm {
    /// The ordering itself.
    public var sqlOrdering: SQLOrdering { self }
}

extension SQLExpression {
    fileprivate var withoutCollation: SQLExpression {
        if case .collated(let expression, _) = node { expression } else { self }
    }
}

extension SQLSpecificExpressible {
    /// Sorts from the smallest to the largest value: `ORDER BY score ASC`.
    public var asc: SQLOrdering { SQLOrdering(.asc(sqlExpression)) }

    /// Sorts from the largest to the smallest value: `ORDER BY score DESC`.
    public var desc: SQLOrdering { SQLOrdering(.desc(sqlExpression)) }

    /// Sorts from the smallest to the largest value, with NULL after them all.
    public var ascNullsLast: SQLOrdering { SQLOrdering(.ascNullsLast(sqlExpression)) }

    /// Sorts from the largest to the smallest value, with NULL before them all.
    public var descNullsFirst: SQLOrdering { SQLOrdering(.descNullsFirst(sqlExpression)) }
}
