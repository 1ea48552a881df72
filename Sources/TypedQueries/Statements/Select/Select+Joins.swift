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

    /// Whether rows of the joined table stay that have no row beside them.
    var keepsRight: Bool { self == .right || self == .full }
}

extension SelectClauses {
    /// Adds a joined table with its own clauses.
    mutating func join<Other: Table>(
        _ kind: JoinKind, _ type: Other.Type, _ joined: SelectClauses, on constraint: QueryFragment
    ) {
        var (other, condition) = (joined, constraint)
        if hasElements(like: joined) { condition = QueryFragment(binding: .invalid(.joinedElements)) }
        if kind != .inner, kind != .right { other.makeElementsOptional() }
        if kind.keepsRight { makeElementsOptional() }
        if kind == .left { condition = condition.settlingJoin }
        if kind.keepsRight {
            joins.require(.outerJoins)
            other.enclose(scopeOf: type)
        } else {
            other.moveScope(of: type, to: &condition)
        }
        joins.append(sql: kind.sql)
        isLeftJoined = isLeftJoined || kind == .left
        if isLeftJoined { condition = condition.withoutPlannedAlternatives(isOfAll: kind != .left) }
        // A condition is not asked of the rows that a right join keeps: arguments are.
        if kind == .right { other.conditionalSource = nil }
        other.write(joined: Other.self, on: condition, to: &joins)
        joins.append(other.joins)
        joinedColumns.separate()
        joinedColumns.append(columnsOf: Other.self)
        Self.join(&joinedColumns, other.joinedColumns)
        columns.append(term: other.columns)
        merge(other)
    }
}

extension SelectClauses {
    /// Takes the conditions of the type's `all` from those at the beginning of the statement into the condition of the join. In a
    /// left join, a row that has only others beside it stays, without them. In an inner one they choose the same rows, and a
    /// right or full join that follows keeps those that have none of them beside them.
    fileprivate mutating func moveScope<Other: Table>(of type: Other.Type, to condition: inout QueryFragment)
    {
        guard let scope = takeScope(of: type) else { return }
        var both = QueryFragment("(")
        both.append(condition)
        both.append(literal: ") AND (")
        scope.writeConjunction(to: &both)
        both.append(literal: ")")
        condition = both
    }

    /// Takes the conditions of the type's `all` from those at the beginning of the statement into a subquery in the place of the
    /// table. A right or full join keeps rows that have no row beside them: a condition of the statement would take these
    /// away, and one of the join takes away none of those that it keeps.
    fileprivate mutating func enclose<Other: Table>(scopeOf type: Other.Type) {
        guard source.isEmpty, let scope = takeScope(of: type) else { return }
        source.append(literal: "(SELECT * FROM ")
        source.append(sourceOf: type)
        scope.write(" WHERE ", to: &source)
        source.append(literal: ") AS ")
        source.append(tableOf: type)
    }

    /// Removes the conditions of the type's `all` from those at the beginning of the statement.
    ///
    /// - returns: The conditions, or nil when the statement does not begin with them, or there are none.
    private mutating func takeScope<Other: Table>(of type: Other.Type) -> FragmentList? {
        let scope = Other.all.asSelect().clauses
        guard scope.joins.isEmpty, !scope.conditions.isEmpty, conditions.begins(with: scope.conditions) else {
            return nil
        }
        conditions = conditions.dropping(scope.conditions.count)
        return scope.conditions
    }

    /// Adds a joined table and the constraint.
    fileprivate func write<Other: Table>(
        joined type: Other.Type, on constraint: QueryFragment, to fragment: inout QueryFragment
    ) {
        writeSource(of: type, to: &fragment)
        fragment.append(literal: " ON ")
        guard let call = conditionOfSource else { return fragment.append(constraint) }
        call.write(to: &fragment) { $0.append(constraint) }
    }
}

extension Select {
    func joined<New, Root: Table, NewJoins, Other: Table, OtherColumns, Others>(
        _ kind: JoinKind, _ other: some SelectStatement<OtherColumns, Other, Others>,
        on condition: QueryFragment,
        as type: Select<New, Root, NewJoins>.Type
    ) -> Select<New, Root, NewJoins> {
        var clauses = clauses
        if kind.keepsRight {
            clauses.enclose(scopeOf: From.self)
            clauses.conditionalSource?.isCondition = false
        }
        clauses.join(kind, Other.self, other.asSelect().clauses, on: condition)
        return Select<New, Root, NewJoins>(clauses: clauses)
    }
}
