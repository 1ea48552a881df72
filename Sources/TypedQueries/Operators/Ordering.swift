/// Where NULL stands in an order.
public enum NullsOrdering: Sendable {
    /// Before all values.
    case first
    /// Behind all values.
    case last
}

/// A term of an ORDER BY clause, or one for each column of a group.
public struct OrderingTerm: QueryExpression, Sendable {
    /// A term has no value.
    public typealias QueryValue = ()

    /// The SQL of the term.
    public let queryFragment: QueryFragment

    /// What is ordered by, without the direction.
    let expression: QueryFragment

    init<Expression: QueryExpression>(
        _ expression: Expression, _ direction: StaticString, _ nulls: NullsOrdering?
    ) where Expression.QueryValue: QueryRepresentable {
        let whole = expression.queryFragment
        self.expression = whole
        guard Expression.QueryValue.columnWidth > 1 else {
            queryFragment = Self.term(whole, direction, nulls)
            return
        }
        var fragment = QueryFragment()
        // A direction behind a list of columns would be that of the last.
        for column in whole.columnTerms { fragment.append(term: Self.term(column, direction, nulls)) }
        queryFragment = fragment
    }

    /// The term of one column.
    private static func term(
        _ expression: QueryFragment, _ direction: StaticString, _ nulls: NullsOrdering?
    ) -> QueryFragment {
        var fragment = QueryFragment()
        guard let nulls else {
            fragment.append(expression)
            fragment.append(sql: direction)
            return fragment
        }
        fragment.appendChoice(.nullsOrdering) {
            $0.append(expression)
            $0.append(sql: direction)
            $0.append(sql: nulls == .first ? " NULLS FIRST" : " NULLS LAST")
        } emulated: {
            $0.append(operand: expression)
            $0.append(sql: nulls == .first ? " IS NOT NULL, " : " IS NULL, ")
            $0.append(expression)
            $0.append(sql: direction)
        }
        return fragment
    }
}

extension QueryExpression where QueryValue: QueryRepresentable {
    /// From the least value to the greatest: `ASC`. NULL is the least unless you say where it stands.
    ///
    /// - parameter nulls: Where NULL stands; of a group of columns, in the order of each.
    public func asc(nulls: NullsOrdering? = nil) -> OrderingTerm {
        OrderingTerm(self, " ASC", nulls)
    }

    /// From the greatest value to the least: `DESC`. NULL is the least unless you say where it stands.
    ///
    /// - parameter nulls: Where NULL stands; of a group of columns, in the order of each.
    public func desc(nulls: NullsOrdering? = nil) -> OrderingTerm {
        OrderingTerm(self, " DESC", nulls)
    }
}
