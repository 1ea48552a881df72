// Arithmetic and bits.

extension SQLSpecificExpressible {
    /// `-a`
    public static prefix func - (operand: Self) -> SQLExpression {
        SQLExpression(.prefix("-", operand.sqlExpression))
    }

    /// `~a`
    public static prefix func ~ (operand: Self) -> SQLExpression {
        SQLExpression(.prefix("~", operand.sqlExpression))
    }

    /// `a + b`
    public static func + (left: Self, right: some SQLExpressible) -> SQLExpression {
        .joined(.add, [left.sqlExpression, right.sqlExpression])
    }

    /// `a + b`
    public static func + (left: some SQLExpressible, right: Self) -> SQLExpression {
        .joined(.add, [left.sqlExpression, right.sqlExpression])
    }

    /// `a + b`
    public static func + (left: Self, right: some SQLSpecificExpressible) -> SQLExpression {
        .joined(.add, [left.sqlExpression, right.sqlExpression])
    }

    /// `a - b`
    public static func - (left: Self, right: some SQLExpressible) -> SQLExpression {
        SQLExpression(.infix("-", left.sqlExpression, right.sqlExpression))
    }

    /// `a - b`
    public static func - (left: some SQLExpressible, right: Self) -> SQLExpression {
        SQLExpression(.infix("-", left.sqlExpression, right.sqlExpression))
    }

    /// `a - b`
    public static func - (left: Self, right: some SQLSpecificExpressible) -> SQLExpression {
        SQLExpression(.infix("-", left.sqlExpression, right.sqlExpression))
    }

    /// `a * b`
    public static func * (left: Self, right: some SQLExpressible) -> SQLExpression {
        .joined(.multiply, [left.sqlExpression, right.sqlExpression])
    }

    /// `a * b`
    public static func * (left: some SQLExpressible, right: Self) -> SQLExpression {
        .joined(.multiply, [left.sqlExpression, right.sqlExpression])
    }

    /// `a * b`
    public static func * (left: Self, right: some SQLSpecificExpressible) -> SQLExpression {
        .joined(.multiply, [left.sqlExpression, right.sqlExpression])
    }

    /// `a / b`
    public static func / (left: Self, right: some SQLExpressible) -> SQLExpression {
        SQLExpression(.infix("/", left.sqlExpression, right.sqlExpression))
    }

    /// `a / b`
    public static func / (left: some SQLExpressible, right: Self) -> SQLExpression {
        SQLExpression(.infix("/", left.sqlExpression, right.sqlExpression))
    }

    /// `a / b`
    public static func / (left: Self, right: some SQLSpecificExpressible) -> SQLExpression {
        SQLExpression(.infix("/", left.sqlExpression, right.sqlExpression))
    }

    /// `a & b`
    public static func & (left: Self, right: some SQLExpressible) -> SQLExpression {
        .joined(.bitwiseAnd, [left.sqlExpression, right.sqlExpression])
    }

    /// `a & b`
    public static func & (left: some SQLExpressible, right: Self) -> SQLExpression {
        .joined(.bitwiseAnd, [left.sqlExpression, right.sqlExpression])
    }

    /// `a & b`
    public static func & (left: Self, right: some SQLSpecificExpressible) -> SQLExpression {
        .joined(.bitwiseAnd, [left.sqlExpression, right.sqlExpression])
    }

    /// `a | b`
    public static func | (left: Self, right: some SQLExpressible) -> SQLExpression {
        .joined(.bitwiseOr, [left.sqlExpression, right.sqlExpression])
    }

    /// `a | b`
    public static func | (left: some SQLExpressible, right: Self) -> SQLExpression {
        .joined(.bitwiseOr, [left.sqlExpression, right.sqlExpression])
    }

    /// `a | b`
    public static func | (left: Self, right: some SQLSpecificExpressible) -> SQLExpression {
        .joined(.bitwiseOr, [left.sqlExpression, right.sqlExpression])
    }

    /// `a << b`
    public static func << (left: Self, right: some SQLExpressible) -> SQLExpression {
        SQLExpression(.infix("<<", left.sqlExpression, right.sqlExpression))
    }

    /// `a << b`
    public static func << (left: some SQLExpressible, right: Self) -> SQLExpression {
        SQLExpression(.infix("<<", left.sqlExpression, right.sqlExpression))
    }

    /// `a << b`
    public static func << (left: Self, right: some SQLSpecificExpressible) -> SQLExpression {
        SQLExpression(.infix("<<", left.sqlExpression, right.sqlExpression))
    }

    /// `a >> b`
    public static func >> (left: Self, right: some SQLExpressible) -> SQLExpression {
        SQLExpression(.infix(">>", left.sqlExpression, right.sqlExpression))
    }

    /// `a >> b`
    public static func >> (left: some SQLExpressible, right: Self) -> SQLExpression {
        SQLExpression(.infix(">>", left.sqlExpression, right.sqlExpression))
    }

    /// `a >> b`
    public static func >> (left: Self, right: some SQLSpecificExpressible) -> SQLExpression {
        SQLExpression(.infix(">>", left.sqlExpression, right.sqlExpression))
    }
}
