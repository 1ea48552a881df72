/// A result column, or several.
///
/// You get one from anything selectable: a column, `.allColumns`, an expression
/// with a name.
public struct SQLSelection: Sendable {
    let node: Node

    init(_ node: Node) {
        self.node = node
    }

    indirect enum Node: Sendable {
        /// `*`, of the source in scope.
        case allColumns
        /// All columns of the table in scope, but some.
        case allColumnsExcluding(Set<String>)
        /// An expression.
        case expression(SQLExpression)
        /// An expression with a name.
        case named(SQLExpression, String)
        /// SQL of the user, which may select any number of columns.
        case literal(SQL)
        /// A selection in the scope of an alias.
        case aliased(SourceIdentity, SQLSelection)
        /// What only the connection knows.
        case deferred(@Sendable (Database) throws -> [SQLSelection])
    }

    static func expression(_ expression: SQLExpression) -> SQLSelection {
        // SQL of the user is not known to be an expression.
        if case .literal(let sql) = expression.node { return SQLSelection(.literal(sql)) }
        return SQLSelection(.expression(expression))
    }
}

extension SQLSelection: SQLSelectable {
    /// The selection itself.
    public var sqlSelection: SQLSelection { self }
}

/// All the columns of a table: `SELECT *`.
public struct AllColumns: SQLSelectable, Sendable {
    /// Makes the selection of all columns.
    public init() {}

    /// The selection of all columns.
    public var sqlSelection: SQLSelection { SQLSelection(.allColumns) }
}

/// All the columns of a table, but some.
public struct AllColumnsExcluding: SQLSelectable, Sendable {
    let excluded: Set<String>

    /// Makes the selection.
    ///
    /// - parameter excluded: Names of columns, in any case. Those that the table
    ///   does not have are ignored.
    public init(_ excluded: some Collection<String>) {
        self.excluded = Set(excluded.map { $0.foldedIdentifier })
    }

    /// The selection of the other columns.
    public var sqlSelection: SQLSelection {
        SQLSelection(excluded.isEmpty ? .allColumns : .allColumnsExcluding(excluded))
    }
}

extension SQLSelectable where Self == AllColumns {
    /// All the columns of a table: `Player.select(.allColumns)`.
    public static var allColumns: AllColumns { AllColumns() }
}

extension SQLSelectable where Self == AllColumnsExcluding {
    /// All the columns of a table, but some: `Player.select(.allColumns(excluding: ["photo"]))`.
    public static func allColumns(excluding excluded: some Collection<String>) -> Self {
        AllColumnsExcluding(excluded)
    }

    /// All the columns of a table, but some.
    public static func allColumns(excluding excluded: some Collection<some ColumnExpression>) -> Self {
        AllColumnsExcluding(excluded.map(\.name))
    }

    /// All the columns of a table, but some of several types.
    @_disfavoredOverload
    public static func allColumns(excluding excluded: some Collection<any ColumnExpression>) -> Self {
        AllColumnsExcluding(excluded.map(\.name))
    }
}

extension SQLSelection {
    /// The selections that a connection makes of it.
    func resolved(_ db: Database) throws -> [SQLSelection] {
        switch node {
        case .deferred(let make):
            try make(db).flatMap { try $0.resolved(db) }
        case .aliased(let alias, let selection):
            try selection.resolved(db).map { SQLSelection(.aliased(alias, $0)) }
        default: [self]
        }
    }

    func write(to writer: SQLWriter) throws {
        switch node {
        case .allColumns:
            Self.writeAllColumns(to: writer)
        case .allColumnsExcluding(let excluded):
            let columns = try writer.database.columnNames(of: writer.requireTable())
            let selected = columns.filter { !excluded.contains($0.foldedIdentifier) }
            if selected.count == columns.count { return Self.writeAllColumns(to: writer) }
            try writer.appendJoined(selected) { try writer.appendColumn($0) }
        case .expression(let expression):
            try expression.write(to: writer)
        case .named(let expression, let name):
            try expression.write(to: writer)
            writer.append(" AS ")
            writer.appendQuoted(name)
        case .literal(let literal):
            try literal.write(to: writer)
        case .aliased(let alias, let selection):
            try writer.withScope(alias) { try selection.write(to: writer) }
        case .deferred(let make):
            try writer.appendJoined(make(writer.database)) { try $0.write(to: writer) }
        }
    }

    private static func writeAllColumns(to writer: SQLWriter) {
        if let qualifier = writer.qualifier {
            writer.appendQuoted(qualifier)
            writer.append(".")
        }
        writer.append("*")
    }

    /// Whether the selection makes one value of many rows.
    var isAggregate: Bool {
        switch node {
        case .expression(let expression), .named(let expression, _): expression.isAggregate
        case .aliased(_, let selection): selection.isAggregate
        default: false
        }
    }

    /// The expression that is counted by `COUNT(DISTINCT …)`, when there is one.
    var countedExpression: SQLExpression? {
        switch node {
        case .expression(let expression), .named(let expression, _): expression
        case .aliased(let alias, let selection): selection.countedExpression?.scoped(to: alias)
        default: nil
        }
    }

    /// Whether the selection names an expression, to which the rest of the query
    /// can refer.
    var hasName: Bool {
        switch node {
        case .named, .literal: true
        case .aliased(_, let selection): selection.hasName
        default: false
        }
    }
}
