// Numbers, and what assigns to them in updates.

extension QueryExpression where QueryValue: QueryRepresentable, QueryValue.QueryUnwrapped: Numeric {
    /// `+`
    @inlinable
    public static func + <Other: QueryExpression>(left: Self, right: Other) -> Comparison<
        Self, Other, QueryValue
    >
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped {
        Comparison(left, " + ", right)
    }

    /// `-`
    @inlinable
    public static func - <Other: QueryExpression>(left: Self, right: Other) -> Comparison<
        Self, Other, QueryValue
    >
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped {
        Comparison(left, " - ", right)
    }

    /// `*`
    @inlinable
    public static func * <Other: QueryExpression>(left: Self, right: Other) -> Comparison<
        Self, Other, QueryValue
    >
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped {
        Comparison(left, " * ", right)
    }

    /// `/`, which is NULL when the divisor is 0, and a whole number when both are.
    @inlinable
    public static func / <Other: QueryExpression>(left: Self, right: Other) -> Comparison<
        Self, Other, QueryValue
    >
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped {
        Comparison(left, " / ", right)
    }

    /// The number.
    @inlinable
    public static prefix func + (expression: Self) -> UnaryExpression<Self, QueryValue> {
        UnaryExpression("+(", expression, ")")
    }

    /// The number with the other sign.
    @inlinable
    public static prefix func - (expression: Self) -> UnaryExpression<Self, QueryValue> {
        UnaryExpression("-(", expression, ")")
    }
}

extension QueryExpression where QueryValue: QueryRepresentable, QueryValue.QueryUnwrapped: BinaryInteger {
    /// `%`, which is NULL when the divisor is 0.
    @inlinable
    public static func % <Other: QueryExpression>(left: Self, right: Other) -> Comparison<
        Self, Other, QueryValue.QueryUnwrapped?
    >
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped {
        Comparison(left, " % ", right)
    }

    /// `&`
    @inlinable
    public static func & <Other: QueryExpression>(left: Self, right: Other) -> Comparison<
        Self, Other, QueryValue
    >
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped {
        Comparison(left, " & ", right)
    }

    /// `|`
    @inlinable
    public static func | <Other: QueryExpression>(left: Self, right: Other) -> Comparison<
        Self, Other, QueryValue
    >
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped {
        Comparison(left, " | ", right)
    }

    /// `<<`
    @inlinable
    public static func << <Other: QueryExpression>(left: Self, right: Other) -> Comparison<
        Self, Other, QueryValue
    >
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped: BinaryInteger {
        Comparison(left, " << ", right)
    }

    /// `>>`
    @inlinable
    public static func >> <Other: QueryExpression>(left: Self, right: Other) -> Comparison<
        Self, Other, QueryValue
    >
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped: BinaryInteger {
        Comparison(left, " >> ", right)
    }

    /// `~`
    @inlinable
    public static prefix func ~ (expression: Self) -> UnaryExpression<Self, QueryValue> {
        UnaryExpression("~(", expression, ")")
    }
}

extension SQLQueryExpression where QueryValue: QueryRepresentable, QueryValue.QueryUnwrapped: Numeric {
    /// Adds to what is assigned.
    public static func += <Other: QueryExpression>(left: inout Self, right: Other)
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped {
        left = Self(left + right)
    }

    /// Subtracts from what is assigned.
    public static func -= <Other: QueryExpression>(left: inout Self, right: Other)
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped {
        left = Self(left - right)
    }

    /// Multiplies what is assigned.
    public static func *= <Other: QueryExpression>(left: inout Self, right: Other)
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped {
        left = Self(left * right)
    }

    /// Divides what is assigned.
    public static func /= <Other: QueryExpression>(left: inout Self, right: Other)
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped {
        left = Self(left / right)
    }
}

extension SQLQueryExpression where QueryValue: QueryRepresentable, QueryValue.QueryUnwrapped: SignedNumeric {
    /// Gives what is assigned the other sign.
    public mutating func negate() { self = Self(-self) }
}

extension SQLQueryExpression where QueryValue: QueryRepresentable, QueryValue.QueryUnwrapped: BinaryInteger {
    /// Keeps the bits that are set in both.
    public static func &= <Other: QueryExpression>(left: inout Self, right: Other)
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped {
        left = Self(left & right)
    }

    /// Sets the bits that are set in the other.
    public static func |= <Other: QueryExpression>(left: inout Self, right: Other)
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped {
        left = Self(left | right)
    }

    /// Shifts the bits of what is assigned to the left.
    public static func <<= <Other: QueryExpression>(left: inout Self, right: Other)
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped: BinaryInteger {
        left = Self(left << right)
    }

    /// Shifts the bits of what is assigned to the right.
    public static func >>= <Other: QueryExpression>(left: inout Self, right: Other)
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped: BinaryInteger {
        left = Self(left >> right)
    }
}

extension SQLQueryExpression where QueryValue: QueryRepresentable, QueryValue.QueryUnwrapped == String {
    /// Adds a text to what is assigned.
    public mutating func append<Other: QueryExpression>(_ other: Other)
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == String {
        self += other
    }

    /// Adds a text to what is assigned.
    public mutating func append<Other: QueryExpression>(contentsOf other: Other)
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == String {
        self += other
    }

    /// Adds a text to what is assigned.
    public static func += <Other: QueryExpression>(left: inout Self, right: Other)
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == String {
        left = Self(left + right)
    }
}

/// `coalesce`: a value that may be NULL, or another.
@_disfavoredOverload
public func ?? <Value: QueryRepresentable, Left: QueryExpression, Right: QueryExpression>(
    left: Left, right: Right
) -> SQLQueryExpression<Value> where Left.QueryValue == Value?, Right.QueryValue == Value {
    SQLQueryExpression("coalesce(\(left.queryFragment), \(right.queryFragment))")
}

/// `coalesce`: the first of two values that is not NULL.
@_disfavoredOverload
public func ?? <Value: QueryRepresentable, Left: QueryExpression, Right: QueryExpression>(
    left: Left, right: Right
) -> SQLQueryExpression<Value?> where Left.QueryValue == Value?, Right.QueryValue == Value? {
    SQLQueryExpression("coalesce(\(left.queryFragment), \(right.queryFragment))")
}
