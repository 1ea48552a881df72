// Joins. What an outer join may not find is optional in the types of the tables.

/// The kinds of joins.
@usableFromInline enum JoinKind: Sendable {
    case inner
    case left
    case right
    case full

    @usableFromInline var sql: StaticString {
        switch self {
        case .inner: "\nJOIN "
        case .left: "\nLEFT JOIN "
        case .right: "\nRIGHT JOIN "
        case .full: "\nFULL JOIN "
        }
    }
}

extension SelectClauses {
    /// Adds a joined table with its own clauses.
    mutating func join<Other: Table>(
        _ kind: JoinKind, _ type: Other.Type, _ other: SelectClauses, on condition: QueryFragment
    ) {
        if kind == .right || kind == .full { joins.require(.outerJoins) }
        joins.append(sql: kind.sql)
        joins.append(sourceOf: Other.self)
        joins.append(literal: " ON ")
        joins.append(condition)
        joins.append(other.joins)
        joinedColumns.separate()
        joinedColumns.append(columnsOf: Other.self)
        Self.join(&joinedColumns, other.joinedColumns)
        Self.join(&columns, other.columns)
        merge(other)
    }
}

extension Select {
    func joined<New, Root: Table, NewJoins, Other: Table, OtherColumns, Others>(
        _ kind: JoinKind, _ other: some SelectStatement<OtherColumns, Other, Others>,
        on condition: QueryFragment,
        as type: Select<New, Root, NewJoins>.Type
    ) -> Select<New, Root, NewJoins> {
        var clauses = clauses
        clauses.join(kind, Other.self, other.asSelect().clauses, on: condition)
        return Select<New, Root, NewJoins>(clauses: clauses)
    }
}
