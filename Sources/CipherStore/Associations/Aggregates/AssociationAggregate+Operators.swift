// Operators on aggregates. Each comes three times: with a value on the right, with
// a value on the left, and with aggregates on both sides.

extension AssociationAggregate {
    /// Returns an aggregate without a name.
    func map(_ transform: @escaping @Sendable (SQLExpression) -> SQLExpression) -> Self {
        let prepare = prepare
        return Self { relation in transform(prepare(&relation)) }
    }

    func combined(
        with other: Self, _ transform: @escaping @Sendable (SQLExpression, SQLExpression) -> SQLExpression
    ) -> Self {
        let (left, right) = (prepare, other.prepare)
        return Self { relation in
            let left = left(&relation)
            return transform(left, right(&relation))
        }
    }

    /// Returns the aggregate with its name, computed in another way.
    func named(_ key: String?) -> Self {
        var aggregate = self
        aggregate.key = key
        return aggregate
    }
}

extension AssociationAggregate {
    /// The opposite.
    public static prefix func ! (operand: Self) -> Self { operand.map { !$0 } }

    /// The negative value.
    public static prefix func - (operand: Self) -> Self { operand.map { -$0 } }

    /// Whether the aggregate is true, or false: `Team.players.isEmpty == false`.
    public static func == (left: Self, right: Bool) -> Self { left.map { $0 == right } }

    /// Whether the aggregate is true, or false.
    public static func == (left: Bool, right: Self) -> Self { right.map { left == $0 } }

    /// Whether the aggregate is not true, or not false.
    public static func != (left: Self, right: Bool) -> Self { left.map { $0 != right } }

    /// Whether the aggregate is not true, or not false.
    public static func != (left: Bool, right: Self) -> Self { right.map { left != $0 } }

    /// The aggregate, or a value when it is NULL. The name stays.
    public static func ?? (left: Self, right: any SQLExpressible) -> Self {
        let value = right.sqlExpression
        return left.map { $0 ?? value }.named(left.key)
    }
}

/// `ABS(aggregate)`
public func abs<RowDecoder>(_ aggregate: AssociationAggregate<RowDecoder>) -> AssociationAggregate<RowDecoder>
{
    aggregate.map { abs($0) }
}

/// `CAST(aggregate AS type)`. The name stays.
public func cast<RowDecoder>(
    _ aggregate: AssociationAggregate<RowDecoder>, as type: Database.ColumnType
) -> AssociationAggregate<RowDecoder> {
    aggregate.map { cast($0, as: type) }.named(aggregate.key)
}

/// `LENGTH(aggregate)`
public func length<RowDecoder>(
    _ aggregate: AssociationAggregate<RowDecoder>
) -> AssociationAggregate<RowDecoder> {
    aggregate.map { length($0) }
}

extension AssociationAggregate {
    /// `a AND b`
    public static func && (left: Self, right: any SQLExpressible) -> Self {
        let value = right.sqlExpression
        return left.map { $0 && value }
    }

    /// `a AND b`
    public static func && (left: any SQLExpressible, right: Self) -> Self {
        let value = left.sqlExpression
        return right.map { value && $0 }
    }

    /// `a AND b`
    public static func && (left: Self, right: Self) -> Self {
        left.combined(with: right) { $0 && $1 }
    }

    /// `a OR b`
    public static func || (left: Self, right: any SQLExpressible) -> Self {
        let value = right.sqlExpression
        return left.map { $0 || value }
    }

    /// `a OR b`
    public static func || (left: any SQLExpressible, right: Self) -> Self {
        let value = left.sqlExpression
        return right.map { value || $0 }
    }

    /// `a OR b`
    public static func || (left: Self, right: Self) -> Self {
        left.combined(with: right) { $0 || $1 }
    }

    /// `a + b`
    public static func + (left: Self, right: any SQLExpressible) -> Self {
        let value = right.sqlExpression
        return left.map { $0 + value }
    }

    /// `a + b`
    public static func + (left: any SQLExpressible, right: Self) -> Self {
        let value = left.sqlExpression
        return right.map { value + $0 }
    }

    /// `a + b`
    public static func + (left: Self, right: Self) -> Self {
        left.combined(with: right) { $0 + $1 }
    }

    /// `a - b`
    public static func - (left: Self, right: any SQLExpressible) -> Self {
        let value = right.sqlExpression
        return left.map { $0 - value }
    }

    /// `a - b`
    public static func - (left: any SQLExpressible, right: Self) -> Self {
        let value = left.sqlExpression
        return right.map { value - $0 }
    }

    /// `a - b`
    public static func - (left: Self, right: Self) -> Self {
        left.combined(with: right) { $0 - $1 }
    }

    /// `a * b`
    public static func * (left: Self, right: any SQLExpressible) -> Self {
        let value = right.sqlExpression
        return left.map { $0 * value }
    }

    /// `a * b`
    public static func * (left: any SQLExpressible, right: Self) -> Self {
        let value = left.sqlExpression
        return right.map { value * $0 }
    }

    /// `a * b`
    public static func * (left: Self, right: Self) -> Self {
        left.combined(with: right) { $0 * $1 }
    }

    /// `a / b`
    public static func / (left: Self, right: any SQLExpressible) -> Self {
        let value = right.sqlExpression
        return left.map { $0 / value }
    }

    /// `a / b`
    public static func / (left: any SQLExpressible, right: Self) -> Self {
        let value = left.sqlExpression
        return right.map { value / $0 }
    }

    /// `a / b`
    public static func / (left: Self, right: Self) -> Self {
        left.combined(with: right) { $0 / $1 }
    }
}
