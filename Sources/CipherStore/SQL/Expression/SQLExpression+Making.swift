// How expressions are put together, so that their SQL is the simplest that
// means the same.

extension SQLExpression {
    /// NULL.
    static var null: SQLExpression { SQLExpression(.value(.null)) }

    static func value(_ value: DatabaseValue) -> SQLExpression { SQLExpression(.value(value)) }

    static func column(_ name: String) -> SQLExpression { SQLExpression(.column(name)) }

    /// The column that identifies a row fastest: the rowid under the name the
    /// table gives it, or the columns of the primary key when there is no rowid.
    static var fastPrimaryKey: SQLExpression { SQLExpression(.fastPrimaryKey) }

    /// A call of a plain function.
    static func function(_ name: String, _ arguments: [any SQLExpressible]) -> SQLExpression {
        SQLExpression(.function(SQLFunctionCall(name: name, arguments: arguments.map(\.sqlExpression))))
    }

    /// The expression with the columns that have no alias in the scope of one.
    func scoped(to alias: SourceIdentity) -> SQLExpression {
        switch node {
        case .value, .aliased, .detached, .subquery: self
        default: SQLExpression(.aliased(alias, self))
        }
    }

    // MARK: Comparisons

    /// Compares, with a collation of either side moved to the whole:
    /// `a = b COLLATE NOCASE`.
    ///
    /// The collation of a comparison stays there: of its truth there is nothing to collate.
    static func compare(
        _ left: SQLExpression, _ right: SQLExpression,
        _ make: (SQLExpression, SQLExpression) -> SQLExpression
    ) -> SQLExpression {
        switch (left.node, right.node) {
        case (.collated(let left, let collation), _) where !left.isCondition:
            SQLExpression(.collated(compare(left, right, make), collation))
        case (_, .collated(let right, let collation)) where !right.isCondition:
            SQLExpression(.collated(compare(left, right, make), collation))
        default:
            make(left, right)
        }
    }

    static func comparison(_ sql: String, _ left: SQLExpression, _ right: SQLExpression) -> SQLExpression {
        compare(left, right) { SQLExpression(.infix(sql, $0, $1)) }
    }

    /// Compares for equality. NULL equals nothing in SQL, so `a == nil` is `a IS NULL`.
    static func equality(_ equality: Equality, _ left: SQLExpression, _ right: SQLExpression) -> SQLExpression
    {
        compare(left, right) { left, right in
            let forNull: Equality = equality.isNegative ? .notSame : .same
            if right.isNull { return SQLExpression(.equality(forNull, left, right)) }
            if left.isNull { return SQLExpression(.equality(forNull, right, left)) }
            return SQLExpression(.equality(equality, left, right))
        }
    }

    /// Compares with a Boolean.
    static func equality(_ equality: Equality, _ left: SQLExpression, _ right: Bool) -> SQLExpression {
        if left.tellsEmptiness { return right != equality.isNegative ? left : left.negated }
        return Self.equality(equality, left, right.sqlExpression)
    }

    static func between(
        _ expression: SQLExpression, _ lower: SQLExpression, _ upper: SQLExpression
    ) -> SQLExpression {
        if case .collated(let inner, let collation) = expression.node, !inner.isCondition {
            return SQLExpression(.collated(between(inner, lower, upper), collation))
        }
        return SQLExpression(.between(expression, lower, upper, isNegated: false))
    }

    static func isIn(_ members: [SQLExpression], _ expression: SQLExpression) -> SQLExpression {
        switch members.count {
        case 0: false.sqlExpression
        case 1: equality(.equal, expression, members[0])
        default: SQLExpression(.isIn(expression, .expressions(members), isNegated: false))
        }
    }

    // MARK: Logic

    /// Operands, one after another with an operator between them.
    static func joined(_ op: AssociativeBinaryOperator, _ operands: [SQLExpression]) -> SQLExpression {
        if operands.isEmpty { return .value(op.neutralValue) }
        if operands.count == 1 { return operands[0] }
        guard op.ignoresGrouping else { return SQLExpression(.joined(op, operands)) }
        let flat = operands.flatMap { operand in
            if case .joined(op, let inner) = operand.node { inner } else { [operand] }
        }
        return SQLExpression(.joined(op, flat))
    }

    /// Whether any of some conditions holds, however many there are.
    ///
    /// SQLite takes `a OR b OR c …` for a tree as deep as there are conditions, and limits its depth.
    static func anyOf(_ conditions: [SQLExpression]) -> SQLExpression {
        guard conditions.count > 100 else { return .joined(.or, conditions) }
        var level = conditions
        while level.count > 1 {
            level = stride(from: 0, to: level.count, by: 50).map { start in
                SQLExpression(.joined(.or, Array(level[start..<min(start + 50, level.count)])))
            }
        }
        return level[0]
    }

    /// The expression, negated by its own operator where it has a negative one.
    var negated: SQLExpression {
        switch node {
        case .equality(let equality, let left, let right):
            SQLExpression(.equality(equality.negated, left, right))
        case .like(let expression, let pattern, let escape, let isNegated):
            SQLExpression(.like(expression, pattern: pattern, escape: escape, isNegated: !isNegated))
        case .between(let expression, let lower, let upper, let isNegated):
            SQLExpression(.between(expression, lower, upper, isNegated: !isNegated))
        case .isIn(let expression, let members, let isNegated):
            SQLExpression(.isIn(expression, members, isNegated: !isNegated))
        case .exists(let subquery, let isNegated):
            SQLExpression(.exists(subquery, isNegated: !isNegated))
        case .rowExists(let isNegated):
            SQLExpression(.rowExists(isNegated: !isNegated))
        case .isEmpty(let expression, let isNegated):
            SQLExpression(.isEmpty(expression, isNegated: !isNegated))
        case .collated(let expression, let collation) where expression.hasNegativeForm:
            SQLExpression(.collated(expression.negated, collation))
        case .aliased(let alias, let expression):
            SQLExpression(.aliased(alias, expression.negated))
        case .value(let value):
            value.truth.map(\.negated.sqlExpression) ?? SQLExpression(.not(self))
        default:
            SQLExpression(.not(self))
        }
    }

    /// Whether the expression is negated without `NOT`, so that a collation behind it still concerns its operands.
    private var hasNegativeForm: Bool {
        switch node {
        case .equality, .like, .between, .isIn, .exists, .rowExists, .isEmpty, .value: true
        case .collated(let expression, _), .aliased(_, let expression): expression.hasNegativeForm
        default: false
        }
    }

    /// Whether the expression is true or false by the comparison of its operands.
    private var isCondition: Bool {
        switch node {
        case .equality, .like, .between, .isIn, .not: true
        case .infix(let sql, _, _): ["<", "<=", ">", ">="].contains(sql)
        case .joined(let op, _): op == .and || op == .or
        case .collated(let expression, _), .aliased(_, let expression), .detached(let expression):
            expression.isCondition
        default: false
        }
    }

    /// The expression with a collation, where it has an effect.
    ///
    /// `x IN (…) COLLATE NOCASE` does not collate the comparison, nor does
    /// `NOT (a < x) COLLATE NOCASE`, and of `a < x AND x < b` both comparisons want the collation.
    func collated(_ collation: String) -> SQLExpression {
        switch node {
        case .isIn(let expression, let members, let isNegated):
            SQLExpression(.isIn(expression.collated(collation), members, isNegated: isNegated))
        case .joined(let op, let operands) where op == .and || op == .or:
            SQLExpression(.joined(op, operands.map { $0.collated(collation) }))
        case .not(let operand):
            SQLExpression(.not(operand.collated(collation)))
        default:
            SQLExpression(.collated(self, collation))
        }
    }

    private var tellsEmptiness: Bool {
        switch node {
        case .isEmpty: true
        case .aliased(_, let expression): expression.tellsEmptiness
        default: false
        }
    }

    var isNull: Bool {
        if case .value(let value) = node { value.isNull } else { false }
    }
}

extension DatabaseValue {
    /// The truth of an integer: whether it is zero. Swift 6.3 stops when its optimizer puts this into its callers.
    @inline(never) fileprivate var truth: Bool? {
        if case .int64(let value) = content { value != 0 } else { nil }
    }
}

extension Bool {
    fileprivate var negated: Bool { !self }
}
