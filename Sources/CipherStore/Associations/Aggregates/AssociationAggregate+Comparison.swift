// Comparisons of aggregates.

extension AssociationAggregate {
    /// `a = b`, or `a IS NULL` for nil.
    public static func == (left: Self, right: (any SQLExpressible)?) -> Self {
        let value = right?.sqlExpression ?? .null
        return left.map { $0 == value }
    }

    /// `a = b`, or `a IS NULL` for nil.
    public static func == (left: (any SQLExpressible)?, right: Self) -> Self {
        let value = left?.sqlExpression ?? .null
        return right.map { value == $0 }
    }

    /// `a = b`, or `a IS NULL` for nil.
    public static func == (left: Self, right: Self) -> Self {
        left.combined(with: right) { $0 == $1 }
    }

    /// `a <> b`, or `a IS NOT NULL` for nil.
    public static func != (left: Self, right: (any SQLExpressible)?) -> Self {
        let value = right?.sqlExpression ?? .null
        return left.map { $0 != value }
    }

    /// `a <> b`, or `a IS NOT NULL` for nil.
    public static func != (left: (any SQLExpressible)?, right: Self) -> Self {
        let value = left?.sqlExpression ?? .null
        return right.map { value != $0 }
    }

    /// `a <> b`, or `a IS NOT NULL` for nil.
    public static func != (left: Self, right: Self) -> Self {
        left.combined(with: right) { $0 != $1 }
    }

    /// `a IS b`
    public static func === (left: Self, right: (any SQLExpressible)?) -> Self {
        let value = right?.sqlExpression ?? .null
        return left.map { $0 === value }
    }

    /// `a IS b`
    public static func === (left: (any SQLExpressible)?, right: Self) -> Self {
        let value = left?.sqlExpression ?? .null
        return right.map { value === $0 }
    }

    /// `a IS b`
    public static func === (left: Self, right: Self) -> Self {
        left.combined(with: right) { $0 === $1 }
    }

    /// `a IS NOT b`
    public static func !== (left: Self, right: (any SQLExpressible)?) -> Self {
        let value = right?.sqlExpression ?? .null
        return left.map { $0 !== value }
    }

    /// `a IS NOT b`
    public static func !== (left: (any SQLExpressible)?, right: Self) -> Self {
        let value = left?.sqlExpression ?? .null
        return right.map { value !== $0 }
    }

    /// `a IS NOT b`
    public static func !== (left: Self, right: Self) -> Self {
        left.combined(with: right) { $0 !== $1 }
    }

    /// `a < b`
    public static func < (left: Self, right: any SQLExpressible) -> Self {
        let value = right.sqlExpression
        return left.map { $0 < value }
    }

    /// `a < b`
    public static func < (left: any SQLExpressible, right: Self) -> Self {
        let value = left.sqlExpression
        return right.map { value < $0 }
    }

    /// `a < b`
    public static func < (left: Self, right: Self) -> Self {
        left.combined(with: right) { $0 < $1 }
    }

    /// `a <= b`
    public static func <= (left: Self, right: any SQLExpressible) -> Self {
        let value = right.sqlExpression
        return left.map { $0 <= value }
    }

    /// `a <= b`
    public static func <= (left: any SQLExpressible, right: Self) -> Self {
        let value = left.sqlExpression
        return right.map { value <= $0 }
    }

    /// `a <= b`
    public static func <= (left: Self, right: Self) -> Self {
        left.combined(with: right) { $0 <= $1 }
    }

    /// `a > b`
    public static func > (left: Self, right: any SQLExpressible) -> Self {
        let value = right.sqlExpression
        return left.map { $0 > value }
    }

    /// `a > b`
    public static func > (left: any SQLExpressible, right: Self) -> Self {
        let value = left.sqlExpression
        return right.map { value > $0 }
    }

    /// `a > b`
    public static func > (left: Self, right: Self) -> Self {
        left.combined(with: right) { $0 > $1 }
    }

    /// `a >= b`
    public static func >= (left: Self, right: any SQLExpressible) -> Self {
        let value = right.sqlExpression
        return left.map { $0 >= value }
    }

    /// `a >= b`
    public static func >= (left: any SQLExpressible, right: Self) -> Self {
        let value = left.sqlExpression
        return right.map { value >= $0 }
    }

    /// `a >= b`
    public static func >= (left: Self, right: Self) -> Self {
        left.combined(with: right) { $0 >= $1 }
    }
}
