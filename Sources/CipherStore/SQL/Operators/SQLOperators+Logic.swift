extension SQLSpecificExpressible {
    /// `NOT a`, or the negative form of the operator: `!(a == b)` is `a <> b`.
    public static prefix func ! (operand: Self) -> SQLExpression {
        operand.sqlExpression.negated
    }

    /// `a AND b`
    public static func && (left: Self, right: some SQLExpressible) -> SQLExpression {
        .joined(.and, [left.sqlExpression, right.sqlExpression])
    }

    /// `a AND b`
    public static func && (left: some SQLExpressible, right: Self) -> SQLExpression {
        .joined(.and, [left.sqlExpression, right.sqlExpression])
    }

    /// `a AND b`
    public static func && (left: Self, right: some SQLSpecificExpressible) -> SQLExpression {
        .joined(.and, [left.sqlExpression, right.sqlExpression])
    }

    /// `a OR b`
    public static func || (left: Self, right: some SQLExpressible) -> SQLExpression {
        .joined(.or, [left.sqlExpression, right.sqlExpression])
    }

    /// `a OR b`
    public static func || (left: some SQLExpressible, right: Self) -> SQLExpression {
        .joined(.or, [left.sqlExpression, right.sqlExpression])
    }

    /// `a OR b`
    public static func || (left: Self, right: some SQLSpecificExpressible) -> SQLExpression {
        .joined(.or, [left.sqlExpression, right.sqlExpression])
    }

    /// `IFNULL(a, b)`
    public static func ?? (left: Self, right: some SQLExpressible) -> SQLExpression {
        var call = SQLFunctionCall(name: "IFNULL", arguments: [left.sqlExpression, right.sqlExpression])
        call.isInvertible = true
        return SQLExpression(.function(call))
    }
}

extension Sequence where Element: SQLSpecificExpressible {
    /// Joins expressions with an operator.
    ///
    /// ```swift
    /// // firstName || ' ' || lastName
    /// let fullName = [Column("firstName"), " ".databaseValue, Column("lastName")].joined(operator: .concat)
    /// ```
    ///
    /// Without any expression, the result is the operator's neutral value.
    public func joined(operator: SQLExpression.AssociativeBinaryOperator) -> SQLExpression {
        .joined(`operator`, map(\.sqlExpression))
    }
}

extension Sequence where Element == any SQLSpecificExpressible {
    /// Joins expressions with an operator.
    ///
    /// Without any expression, the result is the operator's neutral value.
    public func joined(operator: SQLExpression.AssociativeBinaryOperator) -> SQLExpression {
        .joined(`operator`, map(\.sqlExpression))
    }
}

// MARK: - Membership

extension Sequence where Element: SQLExpressible {
    /// `element IN (a, b, c)`
    ///
    /// ```swift
    /// Player.filter { [1, 2, 3].contains($0.id) }
    /// ```
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        .isIn(map(\.sqlExpression), element.sqlExpression)
    }
}

extension Sequence where Element == any SQLExpressible {
    /// `element IN (a, b, c)`
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        .isIn(map(\.sqlExpression), element.sqlExpression)
    }
}

extension Range where Bound: SQLExpressible {
    /// `(element >= lower) AND (element < upper)`
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        (element >= lowerBound) && (element < upperBound)
    }
}

extension ClosedRange where Bound: SQLExpressible {
    /// `element BETWEEN lower AND upper`
    ///
    /// A collation is written behind, as GRDB does it, where SQLite applies it to the comparison with the upper bound
    /// only. To compare with both bounds by a collation, write the comparisons:
    ///
    /// ```swift
    /// // (name >= 'a' COLLATE NOCASE) AND (name <= 'c' COLLATE NOCASE)
    /// let name = Column("name").collating(.nocase)
    /// Player.filter(name >= "a" && name <= "c")
    /// ```
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        .between(element.sqlExpression, lowerBound.sqlExpression, upperBound.sqlExpression)
    }
}

extension PartialRangeFrom where Bound: SQLExpressible {
    /// `element >= lower`
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        element >= lowerBound
    }
}

extension PartialRangeThrough where Bound: SQLExpressible {
    /// `element <= upper`
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        element <= upperBound
    }
}

extension PartialRangeUpTo where Bound: SQLExpressible {
    /// `element < upper`
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        element < upperBound
    }
}

// MARK: - Names

extension SQLSpecificExpressible {
    /// Names a selected expression: `score + bonus AS total`.
    ///
    /// ```swift
    /// Player.select { ($0.score + $0.bonus).forKey("total") }
    /// ```
    public func forKey(_ key: String) -> SQLSelection {
        SQLSelection(.named(sqlExpression, key))
    }

    /// Names a selected expression after a coding key.
    public func forKey(_ key: some CodingKey) -> SQLSelection {
        forKey(key.stringValue)
    }
}
