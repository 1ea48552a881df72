// Conditions. Only true meets a condition: neither false nor NULL does.

extension QueryExpression where QueryValue: QueryRepresentable, QueryValue.QueryUnwrapped == Bool {
    /// `NOT`
    @inlinable
    public func not() -> UnaryExpression<Self, QueryValue> { UnaryExpression("NOT (", self, ")") }

    /// `AND`
    @inlinable
    public func and<Other: QueryExpression>(_ other: Other) -> Comparison<Self, Other, QueryValue>
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == Bool {
        Comparison(self, " AND ", other)
    }

    /// `OR`
    @inlinable
    public func or<Other: QueryExpression>(_ other: Other) -> Comparison<Self, Other, QueryValue>
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == Bool {
        Comparison(self, " OR ", other)
    }

    /// `NOT`
    @inlinable
    public static prefix func ! (expression: Self) -> UnaryExpression<Self, QueryValue> { expression.not() }
}

/// `AND`
@inlinable
public func && <Left: QueryExpression, Right: QueryExpression>(
    left: Left, right: Right
) -> Comparison<Left, Right, Left.QueryValue>
where
    Left.QueryValue: QueryRepresentable, Right.QueryValue: QueryRepresentable,
    Left.QueryValue.QueryUnwrapped == Bool, Right.QueryValue.QueryUnwrapped == Bool
{ left.and(right) }

/// `OR`
@inlinable
public func || <Left: QueryExpression, Right: QueryExpression>(
    left: Left, right: Right
) -> Comparison<Left, Right, Left.QueryValue>
where
    Left.QueryValue: QueryRepresentable, Right.QueryValue: QueryRepresentable,
    Left.QueryValue.QueryUnwrapped == Bool, Right.QueryValue.QueryUnwrapped == Bool
{ left.or(right) }

extension SQLQueryExpression<Bool> {
    /// Makes the opposite of a truth value.
    public mutating func toggle() { self = SQLQueryExpression(not()) }
}
