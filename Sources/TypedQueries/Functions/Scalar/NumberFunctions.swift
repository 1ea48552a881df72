// Functions of numbers. Each is NULL when one of its arguments is.
//
// Those that Swift has for numbers, too, stand back behind these.

extension QueryExpression where QueryValue: QueryRepresentable, QueryValue.QueryUnwrapped: Numeric {
    /// The number without its sign.
    ///
    /// ```swift
    /// Account.select { $0.balance.abs() }    // SELECT abs("accounts"."balance") FROM "accounts"
    /// ```
    public func abs() -> FunctionExpression<QueryValue> { FunctionExpression("abs", self) }

    /// -1, 0 or 1: the sign of the number.
    @_disfavoredOverload
    public func sign() -> FunctionExpression<QueryValue> { FunctionExpression("sign", self) }
}

extension QueryExpression
where QueryValue: QueryRepresentable, QueryValue.QueryUnwrapped: BinaryFloatingPoint {
    /// The number rounded to a whole one, halves away from zero.
    @_disfavoredOverload
    public func round() -> FunctionExpression<QueryValue> { FunctionExpression("round", self) }

    /// The number rounded, halves away from zero.
    ///
    /// - parameter precision: How many digits stay behind the point, at most 30.
    @_disfavoredOverload
    public func round(_ precision: some QueryExpression<Int>) -> FunctionExpression<QueryValue> {
        FunctionExpression("round", self, precision)
    }
}

extension QueryExpression where QueryValue: BinaryInteger {
    /// A blob of so many random bytes, at least 1.
    ///
    /// ```swift
    /// 16.randomblob()    // randomblob(16)
    /// ```
    public func randomblob() -> FunctionExpression<[UInt8]> { FunctionExpression("randomblob", self) }

    /// A blob of so many zeros.
    public func zeroblob() -> FunctionExpression<[UInt8]> { FunctionExpression("zeroblob", self) }

    /// The text of the character that has this number in Unicode.
    public func char() -> FunctionExpression<String> { FunctionExpression("char", self) }
}

/// The text of the characters that have certain numbers in Unicode.
///
/// ```swift
/// Values(char(72, 105))    // SELECT char(72, 105), which is "Hi"
/// ```
public func char(_ numbers: any QueryExpression<Int>...) -> SQLQueryExpression<String> {
    SQLQueryExpression(.call("char", numbers.map(\.queryFragment)))
}

extension Int {
    /// A random integer, another one for each row.
    ///
    /// ```swift
    /// Reminder.order { _ in Int.random() }    // ORDER BY random()
    /// ```
    public static func random() -> FunctionExpression<Int> { FunctionExpression("random") }
}

/// A text with values in it, by a form with `%d`, `%s`, `%.2f` and so on.
///
/// ```swift
/// Player.select { printf("%s: %d", $0.name, $0.score) }    // SELECT printf('%s: %d', "players"."name", …)
/// ```
///
/// - parameters:
///     - format: The form: <https://sqlite.org/printf.html>.
///     - values: The values, in order.
public func printf<each Value: QueryExpression>(
    _ format: some QueryExpression<String>, _ values: repeat each Value
) -> FunctionExpression<String> {
    FunctionExpression("printf", format, repeat each values)
}

extension QueryExpression where QueryValue == Bool {
    /// The same condition, with a note for the planner that it is met for most rows.
    public func likely() -> FunctionExpression<Bool> { FunctionExpression("likely", self) }

    /// The same condition, with a note for the planner that it is met for few rows.
    public func unlikely() -> FunctionExpression<Bool> { FunctionExpression("unlikely", self) }

    /// The same condition, with a note for the planner of how often it is met.
    ///
    /// - parameter probability: From 0 to 1.
    public func likelihood(_ probability: Double) -> SQLQueryExpression<Bool> {
        // SQLite wants a literal here.
        let known = Swift.min(Swift.max(probability.isNaN ? 0.5 : probability, 0), 1)
        // Few digits: a number with an exponent is refused.
        let millionths = Int((known * 1_000_000).rounded())
        let literal = millionths >= 1_000_000 ? "1.0" : "0.\(String(millionths + 10_000_000).dropFirst(2))"
        var fragment = QueryFragment("likelihood(")
        write(to: &fragment)
        fragment.append(sql: ", \(literal))" as String)
        return SQLQueryExpression(fragment)
    }
}
