/// SQL with values, columns and requests in it, which become arguments, quoted
/// names and subqueries.
///
/// ```swift
/// let name = "O'Brien"
/// try db.execute(literal: "UPDATE player SET name = \(name) WHERE id = \(id)")
/// ```
///
/// Literals can be put together:
///
/// ```swift
/// var query: SQL = "SELECT * FROM \(Player.self)"
/// query += " WHERE score > \(1000)"
/// ```
///
/// A literal is an expression as well, and a result column, and an ordering, for
/// whatever the query builder has no function for:
///
/// ```swift
/// Player.filter(SQL("DATE(\(Column("createdAt")))") == "2020-01-23")
/// ```
public struct SQL: Sendable {
    enum Element: Sendable {
        case sql(String, StatementArguments = StatementArguments())
        case expression(SQLExpression)
        case selection(SQLSelection)
        case ordering(SQLOrdering)
        case subquery(SQLSubquery)
        /// A part that only the connection knows, such as the definition of a
        /// common table expression.
        case deferred(@Sendable (SQLWriter) throws -> Void)

        var isEmpty: Bool {
            if case .sql(let sql, _) = self { sql.isEmpty } else { false }
        }

        fileprivate func write(to writer: SQLWriter) throws {
            switch self {
            case .sql(let sql, let arguments): try writer.append(sql, arguments: arguments)
            case .expression(let expression): try expression.write(to: writer)
            case .selection(let selection): try selection.write(to: writer)
            case .ordering(let ordering): try ordering.write(to: writer)
            case .subquery(let subquery): try subquery.write(to: writer)
            case .deferred(let write): try write(writer)
            }
        }
    }

    private(set) var elements: [Element]

    init(elements: [Element]) {
        self.elements = elements
    }

    /// Makes a literal of plain SQL.
    ///
    /// ```swift
    /// let query = SQL(sql: "UPDATE player SET name = ? WHERE id = ?", arguments: [name, id])
    /// ```
    public init(sql: String, arguments: StatementArguments = StatementArguments()) {
        elements = [.sql(sql, arguments)]
    }

    /// Makes a literal of an expression.
    public init(_ expression: some SQLSpecificExpressible) {
        elements = [.expression(expression.sqlExpression)]
    }

    /// Whether the literal is empty.
    public var isEmpty: Bool { elements.allSatisfy(\.isEmpty) }

    /// Returns the SQL of the literal and its arguments.
    ///
    /// ```swift
    /// let query: SQL = "SELECT * FROM player WHERE id = \(1)"
    /// let (sql, arguments) = try query.build(db) // "SELECT * FROM player WHERE id = ?", [1]
    /// ```
    ///
    /// - throws: A ``DatabaseError`` when the literal needs a table that does
    ///   not exist.
    public func build(_ db: Database) throws -> (sql: String, arguments: StatementArguments) {
        let writer = SQLWriter(db)
        try write(to: writer)
        return (sql: writer.sql, arguments: writer.arguments)
    }

    func write(to writer: SQLWriter) throws {
        // The text may be a query that joins tables.
        try writer.planning(byIdentity: false) {
            for element in elements { try element.write(to: writer) }
        }
        if endsInComment { writer.endComment() }
    }
}

extension SQL: SQLSpecificExpressible {
    /// The literal as an expression, which operators put in parentheses.
    public var sqlExpression: SQLExpression { SQLExpression(.literal(self)) }

    /// The literal as one or more result columns.
    public var sqlSelection: SQLSelection { SQLSelection(.literal(self)) }

    /// The literal as one or more ordering terms.
    public var sqlOrdering: SQLOrdering { SQLOrdering(.literal(self)) }
}

extension SQL {
    /// Returns a literal followed by another one.
    public static func + (left: SQL, right: SQL) -> SQL {
        SQL(elements: left.elements + right.elements)
    }

    /// Appends a literal.
    public static func += (left: inout SQL, right: SQL) {
        left.elements += right.elements
    }

    /// Appends a literal.
    public mutating func append(literal: SQL) {
        self += literal
    }

    /// Appends plain SQL.
    public mutating func append(sql: String, arguments: StatementArguments = StatementArguments()) {
        self += SQL(sql: sql, arguments: arguments)
    }
}

extension Sequence where Element == SQL {
    /// Returns the literals one after another, with a separator between them.
    public func joined(separator: String = "") -> SQL {
        var joined = SQL(elements: [])
        var isFirst = true
        for literal in self {
            if !isFirst && !separator.isEmpty { joined.append(sql: separator) }
            isFirst = false
            joined += literal
            if !separator.isEmpty && literal.endsInComment { joined.append(sql: "\n") }
        }
        return joined
    }
}

extension SQL: ExpressibleByStringInterpolation {
    /// Makes a literal of plain SQL.
    public init(unicodeScalarLiteral sql: String) {
        self.init(sql: sql)
    }

    /// Makes a literal of plain SQL.
    public init(extendedGraphemeClusterLiteral sql: String) {
        self.init(sql: sql)
    }

    /// Makes a literal of plain SQL.
    public init(stringLiteral sql: String) {
        self.init(sql: sql)
    }

    /// Makes a literal of SQL with values in it.
    public init(stringInterpolation: SQLInterpolation) {
        self.init(elements: stringInterpolation.elements)
    }
}
