// Queries of a table that are combined: by AND, OR and NOT.

extension Where {
    /// Adds the conditions of another query of the table.
    public func and(_ other: Self) -> Self {
        var result = self
        let count = conditions.count
        result.conditions.append(other.conditions)
        for var combination in other.combinations {
            combination.index += count
            result.combinations.append(combination)
        }
        if other.scope == .none { result.scope = .none }
        return result
    }

    /// Rows that meet the conditions of this query or of another.
    ///
    /// A query without conditions adds nothing: a chain of `or` can begin with `all`. The conditions of the type's `all` are
    /// none of a query's own.
    public func or(_ other: Self) -> Self {
        if scope == .none || conditions.isEmpty { return other }
        if other.scope == .none || other.conditions.isEmpty { return self }
        var result = Where(FragmentList(.either(conditions, other.conditions)), scope: scope)
        result.combinations = [Combination(index: 0, left: self, right: other)]
        return result
    }

    /// Rows that don't meet the conditions. The conditions of the type's `all` are none of a query's own: these the rows meet.
    public func not() -> Self {
        guard !conditions.isEmpty else { return Where(FragmentList("0"), scope: scope) }
        var result = Where(FragmentList(.negation(of: conditions)), scope: scope)
        result.combinations = [Combination(index: 0, left: self, right: nil)]
        return result
    }

    /// Adds the conditions of another query of the table.
    public static func && (left: Self, right: Self) -> Self { left.and(right) }

    /// Rows that meet the conditions of one query or of the other.
    public static func || (left: Self, right: Self) -> Self { left.or(right) }

    /// Rows that don't meet the conditions.
    public static prefix func ! (query: Self) -> Self { query.not() }
}

extension Where {
    /// A condition that is made of two queries, or of one that is negated.
    ///
    /// The conditions of the type's `all` are taken out of them when the statement is written. Before that, `all` may be what
    /// is being made, and can't be asked for: `static let all = Self.where(\.isOpen) || Self.where(\.isLate)`.
    @usableFromInline struct Combination: Hashable, Sendable {
        /// Which of the conditions it is.
        var index: Int
        let left: Where<From>
        /// The other query; nil for NOT.
        let right: Where<From>?

        /// The conditions that take its place.
        ///
        /// - parameter scoped: Those of the type's `all`.
        func conditions(besides scoped: FragmentList) -> FragmentList {
            let own = left.ownConditions(besides: scoped)
            guard let right else {
                return FragmentList(own.isEmpty ? "0" : .negation(of: own))
            }
            let other = right.ownConditions(besides: scoped)
            if other.isEmpty { return own }
            // Beside a query without the default scope, the other one keeps its scope.
            let kept = left.scope == .standard ? other : right.combinedConditions
            return own.isEmpty ? kept : FragmentList(.either(own, kept))
        }
    }

    /// The conditions, those of the type's `all` included if the query began with it.
    var combinedConditions: FragmentList {
        guard !combinations.isEmpty else { return conditions }
        return conditions(from: 0, besides: (From.all as? Where<From>)?.conditions ?? FragmentList())
    }

    /// The conditions without those of the type's `all`, which begin a query that began with it.
    func ownConditions(besides scoped: FragmentList) -> FragmentList {
        let isScoped = scope == .standard && conditions.begins(with: scoped)
        return conditions(from: isScoped ? scoped.count : 0, besides: scoped)
    }

    private func conditions(from start: Int, besides scoped: FragmentList) -> FragmentList {
        guard start > 0 || !combinations.isEmpty else { return conditions }
        var result = FragmentList()
        for (index, condition) in conditions.pieces.enumerated().dropFirst(start) {
            if let combination = combinations.first(where: { $0.index == index }) {
                result.append(combination.conditions(besides: scoped))
            } else {
                result.append(condition)
            }
        }
        return result
    }
}

extension QueryFragment {
    /// Conditions of which one list must be met.
    fileprivate static func either(_ left: FragmentList, _ right: FragmentList) -> QueryFragment {
        var fragment = QueryFragment("(")
        left.writeConjunction(to: &fragment)
        fragment.append(literal: ") OR (")
        right.writeConjunction(to: &fragment)
        fragment.append(literal: ")")
        return fragment
    }

    /// Conditions that must not all be met.
    fileprivate static func negation(of conditions: FragmentList) -> QueryFragment {
        var fragment = QueryFragment("NOT (")
        conditions.writeConjunction(to: &fragment)
        fragment.append(literal: ")")
        return fragment
    }
}
