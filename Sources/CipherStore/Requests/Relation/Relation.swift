/// The rows of a request: where they come from, and which, and how.
///
/// A relation is a value, and knows no connection. Its parts are trees whose
/// bare columns belong to its source, whatever the relation becomes a part of:
/// a subquery, or a relation that is joined to another one.
struct Relation: Sendable {
    /// A table or view, or a common table expression.
    enum Source: Sendable {
        case table(String)
        case commonTable(String)

        var name: String {
            switch self {
            case .table(let name), .commonTable(let name): name
            }
        }

        var tableName: String? {
            if case .table(let name) = self { name } else { nil }
        }
    }

    struct Limit: Sendable {
        var limit: Int
        var offset: Int?
    }

    /// Where the rows come from.
    var source: Source

    /// What stands for the source in expressions.
    var aliases: [SourceIdentity] = []

    var isDistinct = false
    var selection: [SQLSelection]

    /// The conditions that all hold.
    var filters: [SQLExpression] = []

    var ordering = RelationOrdering()

    /// The groups; each can be several expressions.
    var grouping: [RelationGrouping] = []

    /// The conditions on groups that all hold.
    var groupFilters: [SQLExpression] = []

    var limit: Limit?
    var commonTables: [CommonTable] = []

    /// Whether it finds the rows of a change, which knows no selected names.
    var isChanged = false

    /// The relations that are reached through associations.
    var children: [RelationChild] = []

    init(source: Source, selection: [SQLSelection] = [SQLSelection(.allColumns)]) {
        self.source = source
        self.selection = selection
    }

    /// The table of the relation.
    ///
    /// - throws: A ``DatabaseError`` for common table expressions.
    func requireTable() throws -> String {
        if let name = source.tableName { return name }
        throw DatabaseError(
            resultCode: .SQLITE_ERROR,
            message: "the common table expression \(source.name) can't be used where a table is expected")
    }

    mutating func add(_ commonTable: CommonTable) {
        commonTables.removeAll { $0.name == commonTable.name }
        commonTables.append(commonTable)
    }

    /// The filters as one condition, or nil for all rows.
    func condition(_ db: Database) throws -> SQLExpression? {
        try filters.isEmpty ? nil : .joined(.and, filters.map { try $0.resolved(db) })
    }
}

/// A relation that belongs to another one.
///
/// Joins are parts of the SELECT; the rows of prefetched children come from a
/// second query.
struct RelationChild: Sendable {
    enum Kind: Sendable {
        /// `JOIN`: rows without a counterpart are left out.
        case required
        /// `LEFT JOIN`.
        case optional
        /// Not joined: on the way to prefetched rows.
        case bridge
        /// Fetched afterwards, for all parents at once.
        case prefetched
    }

    /// What makes two children the same: they are merged then.
    var key: String
    var kind: Kind

    /// Whether a parent has one counterpart at most.
    var isToOne = true

    /// Which rows belong together.
    var condition: RelationCondition
    var relation: Relation

    /// Whether the child is a part of the SELECT.
    var isJoined: Bool { kind == .required || kind == .optional }
}

/// A part of a relation's groups.
enum RelationGrouping: Sendable {
    case expression(SQLExpression)
    /// What only the connection knows.
    case deferred(@Sendable (Database) throws -> [SQLExpression])

    func expressions(_ db: Database) throws -> [SQLExpression] {
        switch self {
        case .expression(let expression): [expression]
        case .deferred(let make): try make(db)
        }
    }
}

/// The order of a relation's rows.
struct RelationOrdering: Sendable {
    indirect enum Term: Sendable {
        case ordering(SQLOrdering)
        /// What only the connection knows.
        case deferred(@Sendable (Database) throws -> [SQLOrdering])
        /// A term that was added when the others were already reversed.
        case added(Term)
    }

    var terms: [Term] = []

    /// Whether the terms, and those of the relations that are joined to this
    /// one, are reversed.
    var isReversed = false

    mutating func append(_ term: Term) {
        terms.append(isReversed ? .added(term) : term)
    }

    func orderings(_ db: Database) throws -> [SQLOrdering] {
        try orderings(db, isReversed: isReversed)
    }

    /// The terms, reversed with those of the relations that this one is joined to.
    func orderings(_ db: Database, isReversed: Bool) throws -> [SQLOrdering] {
        try terms.flatMap { try Self.resolve($0, db, isReversed: isReversed) }
    }

    private static func resolve(_ term: Term, _ db: Database, isReversed: Bool) throws -> [SQLOrdering] {
        let orderings: [SQLOrdering]
        switch term {
        case .ordering(let ordering): orderings = [ordering]
        case .deferred(let make): orderings = try make(db)
        case .added(let term): return try resolve(term, db, isReversed: !isReversed)
        }
        return isReversed ? orderings.map(\.reversed) : orderings
    }
}

/// A common table expression in a WITH clause.
struct CommonTable: Sendable {
    var name: String
    var columns: [String]?
    var isRecursive: Bool
    var subquery: SQLSubquery

    func writeDefinition(to writer: SQLWriter) throws {
        writer.appendQuoted(name)
        if let columns, !columns.isEmpty {
            writer.append("(")
            writer.appendJoined(columns) { writer.appendQuoted($0) }
            writer.append(")")
        }
        writer.append(" AS ")
        try subquery.writeInParentheses(to: writer)
    }
}
