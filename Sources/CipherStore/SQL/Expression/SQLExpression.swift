/// An SQL expression.
///
/// You get one from the operators and functions of columns, and from an ``SQL``
/// literal when they are not enough:
///
/// ```swift
/// func date(_ value: some SQLSpecificExpressible) -> SQLExpression {
///     SQL("DATE(\(value))").sqlExpression
/// }
///
/// let request = Player.filter { date($0.createdAt) == "2020-01-23" }
/// ```
public struct SQLExpression: Sendable {
    let node: Node

    init(_ node: Node) {
        self.node = node
    }

    /// The kinds of expressions.
    indirect enum Node: Sendable {
        /// A value; NULL is written as it is, others are arguments.
        case value(DatabaseValue)
        /// A column of the source in scope.
        case column(String)
        /// An expression in the scope of an alias.
        case aliased(SourceIdentity, SQLExpression)
        /// An expression in no scope: its columns are never qualified.
        case detached(SQLExpression)
        /// A prefix operator.
        case prefix(String, SQLExpression)
        /// `NOT`.
        case not(SQLExpression)
        /// An infix operator of two operands.
        case infix(String, SQLExpression, SQLExpression)
        /// An infix operator of any number of operands.
        case joined(AssociativeBinaryOperator, [SQLExpression])
        /// `=`, `<>`, `IS` and `IS NOT`.
        case equality(Equality, SQLExpression, SQLExpression)
        /// `LIKE`.
        case like(SQLExpression, pattern: SQLExpression, escape: SQLExpression?, isNegated: Bool)
        /// `BETWEEN`.
        case between(SQLExpression, SQLExpression, SQLExpression, isNegated: Bool)
        /// `IN`.
        case isIn(SQLExpression, Members, isNegated: Bool)
        /// `COLLATE`.
        case collated(SQLExpression, String)
        /// `CAST`.
        case cast(SQLExpression, String)
        /// A call of a function.
        case function(SQLFunctionCall)
        /// SQL of the user.
        case literal(SQL)
        /// A query of one value.
        case subquery(SQLSubquery)
        /// `EXISTS`.
        case exists(SQLSubquery, isNegated: Bool)
        /// The rowid, or the primary key of a table without one.
        case fastPrimaryKey
        /// Whether there is a row of the source in scope, which an optional join
        /// may lack.
        case rowExists(isNegated: Bool)
        /// Whether a count is zero.
        case isEmpty(SQLExpression, isNegated: Bool)
        /// `table MATCH pattern`, of the source in scope.
        case tableMatch(SQLExpression)
        /// `(a, b)`.
        case rowValue([SQLExpression])
        /// An expression that is JSON, and stays so in JSON functions.
        case json(SQLExpression)
        /// `json ->> path`, or `json -> path`, whose value is JSON.
        case jsonAccess(SQLExpression, SQLExpression, isJSON: Bool)
        /// A fact of the generated tree that only the connection knows.
        case deferred(@Sendable (Database) throws -> SQLExpression)
    }

    /// What can be on the right of `IN`.
    enum Members: Sendable {
        case expressions([SQLExpression])
        case subquery(SQLSubquery)
        case table(String)
    }

    /// The operators that tell whether two values are the same.
    enum Equality: String, Sendable {
        case equal = "="
        case notEqual = "<>"
        case same = "IS"
        case notSame = "IS NOT"

        var negated: Equality {
            switch self {
            case .equal: .notEqual
            case .notEqual: .equal
            case .same: .notSame
            case .notSame: .same
            }
        }

        var isNegative: Bool { self == .notEqual || self == .notSame }
    }
}

extension SQLExpression: SQLSpecificExpressible {
    /// The expression itself.
    public var sqlExpression: SQLExpression { self }
}

extension SQLExpression {
    /// An operator that groups its operands as it likes: `a AND b AND c`.
    ///
    /// ```swift
    /// let isComplete = [Column("name") != nil, Column("score") != nil].joined(operator: .and)
    /// ```
    public struct AssociativeBinaryOperator: Hashable, Sendable {
        let sql: String
        let neutralValue: DatabaseValue

        /// Whether `(a ∘ b) ∘ c` and `a ∘ (b ∘ c)` are the same to the last bit,
        /// so that nested operands can be written without parentheses.
        let ignoresGrouping: Bool

        /// Whether one operand and the result tell the other operand, for the
        /// operands that are constant.
        let isInvertible: Bool

        init(
            _ sql: String, neutral: some DatabaseValueConvertible, ungrouped: Bool, invertible: Bool = false
        ) {
            self.sql = sql
            neutralValue = neutral.databaseValue
            ignoresGrouping = ungrouped
            isInvertible = invertible
        }

        /// `+`. Sums of floating-point numbers depend on their grouping.
        public static let add = AssociativeBinaryOperator("+", neutral: 0, ungrouped: false)

        /// `*`. Products of floating-point numbers depend on their grouping.
        public static let multiply = AssociativeBinaryOperator("*", neutral: 1, ungrouped: false)

        /// `AND`.
        public static let and = AssociativeBinaryOperator("AND", neutral: true, ungrouped: true)

        /// `OR`.
        public static let or = AssociativeBinaryOperator("OR", neutral: false, ungrouped: true)

        /// `||`, on texts.
        public static let concat = AssociativeBinaryOperator(
            "||", neutral: "", ungrouped: true, invertible: true)

        /// `&`, on bits.
        public static let bitwiseAnd = AssociativeBinaryOperator("&", neutral: -1, ungrouped: true)

        /// `|`, on bits.
        public static let bitwiseOr = AssociativeBinaryOperator("|", neutral: 0, ungrouped: true)
    }
}

/// A call of an SQL function.
struct SQLFunctionCall: Sendable {
    var name: String
    var arguments: [SQLExpression]

    /// Whether the function makes one value of many rows.
    var isAggregate = false

    /// Whether equal results mean equal arguments (as far as this library cares:
    /// `IFNULL(a, 0)` of a primary key tells the key).
    var isInvertible = false

    /// Whether the result is JSON for the JSON functions.
    var isJSON = false

    /// Whether the function takes its JSON arguments in the binary form.
    var jsonArguments: JSONArguments = .none

    var isDistinct = false
    var ordering: SQLOrdering?
    var filter: SQLExpression?

    /// What a function does with arguments that are JSON.
    enum JSONArguments: Sendable {
        /// Nothing: it reads JSON of any form.
        case none
        /// Those at these positions are wrapped in `JSON` or `JSONB`, so that
        /// they are not taken for texts.
        case wrapped(from: Int, alwaysBinary: Bool)
    }
}
