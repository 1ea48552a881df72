/// Two expressions with an operator between them: `(a) = (b)`.
public struct Comparison<Left: QueryExpression, Right: QueryExpression, QueryValue>: WritableExpression {
    @usableFromInline let left: Left
    @usableFromInline let symbol: StaticString
    @usableFromInline let right: Right
    @usableFromInline let planning: ComparisonPlanning

    /// - parameter planning: How old engines may plan by it.
    @inlinable
    init(_ left: Left, _ symbol: StaticString, _ right: Right, planning: ComparisonPlanning = .any) {
        self.left = left
        self.symbol = symbol
        self.right = right
        self.planning = planning
    }

    /// Adds the expressions, each between parentheses.
    @inlinable
    public func write(to fragment: inout QueryFragment) {
        guard planning == .any else { return fragment.append(misplanned: self) }
        writeComparison(to: &fragment)
    }

    @inlinable
    func writeComparison(to fragment: inout QueryFragment) {
        fragment.append(literal: "(")
        left.write(to: &fragment)
        fragment.append(literal: ")")
        fragment.append(literal: symbol)
        fragment.append(literal: "(")
        right.write(to: &fragment)
        fragment.append(literal: ")")
    }
}

/// An expression with an operator before or behind it: `NOT (a)`.
public struct UnaryExpression<Base: QueryExpression, QueryValue>: WritableExpression {
    @usableFromInline let prefix: StaticString
    @usableFromInline let base: Base
    @usableFromInline let suffix: StaticString

    @inlinable
    init(_ prefix: StaticString, _ base: Base, _ suffix: StaticString) {
        self.prefix = prefix
        self.base = base
        self.suffix = suffix
    }

    /// Adds the expression between the two.
    @inlinable
    public func write(to fragment: inout QueryFragment) {
        fragment.append(sql: prefix)
        base.write(to: &fragment)
        fragment.append(sql: suffix)
    }
}

/// NULL, where an optional value is compared: `nil`.
public struct NullExpression<QueryValue>: WritableExpression, ExpressibleByNilLiteral {
    /// Makes NULL.
    @inlinable
    public init(nilLiteral: ()) {}

    /// Adds `NULL`.
    @inlinable
    public func write(to fragment: inout QueryFragment) { fragment.append(literal: "NULL") }
}

extension QueryExpression where QueryValue: QueryRepresentable {
    /// `=`: whether the two are equal. NULL is equal to nothing.
    @inlinable
    public func eq<Other: QueryExpression>(_ other: Other) -> Comparison<Self, Other, Bool>
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped {
        Comparison(self, " = ", other)
    }

    /// `<>`: whether the two are different. NULL is different from nothing.
    @inlinable
    public func neq<Other: QueryExpression>(_ other: Other) -> Comparison<Self, Other, Bool>
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped {
        Comparison(self, " <> ", other)
    }

    /// `IS`: whether the two are equal, where NULL equals NULL.
    @inlinable
    public func `is`<Other: QueryExpression>(_ other: Other) -> Comparison<Self, Other, Bool>
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped {
        Comparison(self, " IS ", other, planning: .identity)
    }

    /// `IS NOT`: whether the two are different, where NULL equals NULL.
    @inlinable
    public func isNot<Other: QueryExpression>(_ other: Other) -> Comparison<Self, Other, Bool>
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped {
        Comparison(self, " IS NOT ", other, planning: .difference)
    }

    /// `IS NULL`.
    @inlinable
    public func `is`(_ null: NullExpression<QueryValue>) -> NullTest<Self> {
        // Of several columns it is a comparison of rows, by whose parts old engines plan.
        NullTest(self, " IS ", planning: QueryValue.columnWidth > 1 ? .identity : .any)
    }

    /// `IS NOT NULL`.
    @inlinable
    public func isNot(_ null: NullExpression<QueryValue>) -> NullTest<Self> { NullTest(self, " IS NOT ") }

    /// `<`
    @inlinable
    public func lt<Other: QueryExpression>(_ other: Other) -> Comparison<Self, Other, Bool>
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped {
        Comparison(self, " < ", other, planning: QueryValue.columnWidth > 1 ? .rows : .range)
    }

    /// `<=`
    @inlinable
    public func lte<Other: QueryExpression>(_ other: Other) -> Comparison<Self, Other, Bool>
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped {
        Comparison(self, " <= ", other, planning: .range)
    }

    /// `>`
    @inlinable
    public func gt<Other: QueryExpression>(_ other: Other) -> Comparison<Self, Other, Bool>
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped {
        Comparison(self, " > ", other, planning: QueryValue.columnWidth > 1 ? .rows : .range)
    }

    /// `>=`
    @inlinable
    public func gte<Other: QueryExpression>(_ other: Other) -> Comparison<Self, Other, Bool>
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped {
        Comparison(self, " >= ", other, planning: .range)
    }
}

/// Whether each column of an expression is NULL, or whether one of them is not.
public struct NullTest<Base: QueryExpression>: WritableExpression where Base.QueryValue: QueryRepresentable {
    /// A truth value.
    public typealias QueryValue = Bool
    @usableFromInline let base: Base
    @usableFromInline let symbol: StaticString
    @usableFromInline let planning: ComparisonPlanning

    /// - parameter planning: How old engines may plan by it.
    @inlinable
    init(_ base: Base, _ symbol: StaticString, planning: ComparisonPlanning = .any) {
        self.base = base
        self.symbol = symbol
        self.planning = planning
    }

    /// Adds `(a) IS NULL`, or the same of a row of several columns.
    @inlinable
    public func write(to fragment: inout QueryFragment) {
        guard planning == .any else { return fragment.append(misplanned: self) }
        writeTest(to: &fragment)
    }

    @inlinable
    func writeTest(to fragment: inout QueryFragment) {
        fragment.append(literal: "(")
        base.write(to: &fragment)
        fragment.append(literal: ")")
        fragment.append(sql: symbol)
        fragment.append(literal: "(NULL")
        for _ in 1..<max(Base.QueryValue.columnWidth, 1) { fragment.append(literal: ", NULL") }
        fragment.append(literal: ")")
    }
}

// MARK: Values of represented types

extension QueryExpression where QueryValue: QueryRepresentable {
    /// `=`, with a value of the type that the representation is of.
    @inlinable @_disfavoredOverload
    public func eq(_ value: QueryValue.QueryOutput) -> Comparison<Self, BindQueryExpression<QueryValue>, Bool>
    {
        Comparison(self, " = ", BindQueryExpression(value))
    }

    /// `<>`, with a value of the type that the representation is of.
    @inlinable @_disfavoredOverload
    public func neq(_ value: QueryValue.QueryOutput) -> Comparison<
        Self, BindQueryExpression<QueryValue>, Bool
    > {
        Comparison(self, " <> ", BindQueryExpression(value))
    }

    /// `IS`, with a value of the type that the representation is of.
    @inlinable @_disfavoredOverload
    public func `is`(_ value: QueryValue.QueryOutput) -> Comparison<
        Self, BindQueryExpression<QueryValue>, Bool
    > {
        Comparison(self, " IS ", BindQueryExpression(value), planning: .identity)
    }

    /// `IS NOT`, with a value of the type that the representation is of.
    @inlinable @_disfavoredOverload
    public func isNot(
        _ value: QueryValue.QueryOutput
    ) -> Comparison<Self, BindQueryExpression<QueryValue>, Bool> {
        Comparison(self, " IS NOT ", BindQueryExpression(value), planning: .difference)
    }
}

// MARK: Values that are bound

extension QueryExpression where QueryValue: QueryRepresentable {
    /// `=`, with a value that is stored as this expression's.
    ///
    /// ```swift
    /// $0.tags.eq(#bind(["home", "work"]))
    /// ```
    @inlinable
    public func eq(_ value: BindQueryExpression<QueryValue>) -> Comparison<
        Self, BindQueryExpression<QueryValue>, Bool
    > {
        Comparison(self, " = ", value)
    }

    /// `<>`, with a value that is stored as this expression's.
    @inlinable
    public func neq(_ value: BindQueryExpression<QueryValue>) -> Comparison<
        Self, BindQueryExpression<QueryValue>, Bool
    > {
        Comparison(self, " <> ", value)
    }

    /// `IS`, with a value that is stored as this expression's.
    @inlinable
    public func `is`(_ value: BindQueryExpression<QueryValue>) -> Comparison<
        Self, BindQueryExpression<QueryValue>, Bool
    > {
        Comparison(self, " IS ", value, planning: .identity)
    }

    /// `IS NOT`, with a value that is stored as this expression's.
    @inlinable
    public func isNot(_ value: BindQueryExpression<QueryValue>) -> Comparison<
        Self, BindQueryExpression<QueryValue>, Bool
    > {
        Comparison(self, " IS NOT ", value, planning: .difference)
    }
}

// MARK: Symbols

/// Whether one is less than the other.
@inlinable
public func < <Left: QueryExpression, Right: QueryExpression>(
    left: Left, right: Right
) -> Comparison<Left, Right, Bool>
where
    Left.QueryValue: QueryRepresentable, Right.QueryValue: QueryRepresentable,
    Left.QueryValue.QueryUnwrapped == Right.QueryValue.QueryUnwrapped
{ left.lt(right) }

/// Whether one is less than the other, or equal.
@inlinable
public func <= <Left: QueryExpression, Right: QueryExpression>(
    left: Left, right: Right
) -> Comparison<Left, Right, Bool>
where
    Left.QueryValue: QueryRepresentable, Right.QueryValue: QueryRepresentable,
    Left.QueryValue.QueryUnwrapped == Right.QueryValue.QueryUnwrapped
{ left.lte(right) }

/// Whether one is greater than the other.
@inlinable
public func > <Left: QueryExpression, Right: QueryExpression>(
    left: Left, right: Right
) -> Comparison<Left, Right, Bool>
where
    Left.QueryValue: QueryRepresentable, Right.QueryValue: QueryRepresentable,
    Left.QueryValue.QueryUnwrapped == Right.QueryValue.QueryUnwrapped
{ left.gt(right) }

/// Whether one is greater than the other, or equal.
@inlinable
public func >= <Left: QueryExpression, Right: QueryExpression>(
    left: Left, right: Right
) -> Comparison<Left, Right, Bool>
where
    Left.QueryValue: QueryRepresentable, Right.QueryValue: QueryRepresentable,
    Left.QueryValue.QueryUnwrapped == Right.QueryValue.QueryUnwrapped
{ left.gte(right) }
