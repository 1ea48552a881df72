/// A name for a table in a request, by which other parts of the request, and of
/// its subqueries, refer to the columns of that table.
///
/// ```swift
/// let team = TableAlias()
/// let players = Player.filter(Column("teamId") == team[Column("id")])
/// // SELECT * FROM team WHERE EXISTS (SELECT * FROM player WHERE teamId = team.id)
/// let request = Team.aliased(team).filter(players.exists())
/// ```
///
/// The alias of a record type gives its columns as members:
///
/// ```swift
/// let team = TableAlias<Team>()
/// let players = Player.filter { $0.teamId == team.id }
/// ```
///
/// A name is needed only where raw SQL refers to it; otherwise the request
/// finds a name that no other table has.
@dynamicMemberLookup
public final class TableAlias<RowDecoder>: Sendable {
    let identity: SourceIdentity

    init(identity: SourceIdentity) {
        self.identity = identity
    }

    /// Makes an alias.
    ///
    /// - parameter name: Its name in SQL, or nil for one that is generated.
    public init(name: String? = nil) {
        identity = SourceIdentity(name: name)
    }

    /// Makes an alias.
    ///
    /// - parameter name: Its name in SQL, or nil for one that is generated.
    public init(name: String? = nil) where RowDecoder == Void {
        identity = SourceIdentity(name: name)
    }

    /// An expression on the columns of the table.
    public subscript(_ expression: some SQLSpecificExpressible & SQLSelectable & SQLOrderingTerm)
        -> SQLExpression
    {
        expression.sqlExpression.scoped(to: identity)
    }

    /// A selection of columns of the table.
    public subscript(_ selection: some SQLSelectable) -> SQLSelection {
        SQLSelection(.aliased(identity, selection.sqlSelection))
    }

    /// An ordering by columns of the table.
    public subscript(_ ordering: some SQLOrderingTerm) -> SQLOrdering {
        SQLOrdering(.aliased(identity, ordering.sqlOrdering))
    }

    /// A column of the table.
    public subscript(_ column: String) -> SQLExpression {
        SQLExpression.column(column).scoped(to: identity)
    }

    /// Whether there is a row of the table, which an optional join may lack.
    public var exists: SQLExpression {
        SQLExpression(.rowExists(isNegated: false)).scoped(to: identity)
    }
}

extension TableAlias where RowDecoder: TableRecord {
    /// A column, or another expression, that the record type names.
    public subscript<Value: SQLSpecificExpressible>(
        dynamicMember keyPath: KeyPath<RowDecoder.DatabaseComponents, Value>
    ) -> SQLExpression {
        RowDecoder.databaseComponents[keyPath: keyPath].sqlExpression.scoped(to: identity)
    }

    /// A selection or an association's column that the record type names.
    public subscript<Value: SQLSelectable>(
        dynamicMember keyPath: KeyPath<RowDecoder.DatabaseComponents, Value>
    ) -> SQLSelection {
        self[RowDecoder.databaseComponents[keyPath: keyPath]]
    }
}

/// The identity of a table in requests.
final class SourceIdentity: Sendable {
    /// The name the user gave it.
    let name: String?

    /// The table, when it is known from the start.
    let tableName: String?

    init(name: String? = nil, tableName: String? = nil) {
        self.name = name
        self.tableName = tableName
    }
}
