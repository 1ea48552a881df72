/// Where NULL stands in an order.
public enum NullsOrdering: Sendable {
    /// Before all values.
    case first
    /// Behind all values.
    case last
}

/// A term of an ORDER BY clause.
public struct OrderingTerm: QueryExpression, Sendable {
    /// A term has no value.
    public typealias QueryValue = ()

    /// The SQL of the term.
    public let queryFragment: QueryFragment

    init(_ expression: QueryFragment, _ direction: StaticString, _ nulls: NullsOrdering?) {
        var fragment = QueryFragment()
        guard let nulls else {
            fragment.append(expression)
            fragment.append(sql: direction)
            queryFragment = fragment
            return
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
        queryFragment = fragment
    }
}

extension QueryExpression where QueryValue: QueryRepresentable {
    /// From the least value to the greatest: `ASC`. NULL is the least unless you say where it stands.
    public func asc(nulls: NullsOrdering? = nil) -> OrderingTerm {
        OrderingTerm(queryFragment, " ASC", nulls)
    }

    /// From the greatest value to the least: `DESC`. NULL is the least unless you say where it stands.
    public func desc(nulls: NullsOrdering? = nil) -> OrderingTerm {
        OrderingTerm(queryFragment, " DESC", nulls)
    }
}
