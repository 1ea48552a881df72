// Whether a value is among others, within a range, or like a pattern.

/// An expression and a list of values, or a subquery: `(a) IN (1, 2)`.
public struct MembershipTest<Base: QueryExpression>: WritableExpression {
    /// A truth value.
    public typealias QueryValue = Bool
    let base: Base
    let symbol: StaticString
    let list: QueryFragment
    /// Whether old engines may plan by it only in another form, because it is about rows of several columns.
    var isOfRows = false
    /// The row, where the list has one.
    var onlyRow: QueryFragment?

    /// Adds the test.
    public func write(to fragment: inout QueryFragment) {
        guard isOfRows, !EngineChoice.plannedRows.isSupported else { return writeTest(to: &fragment) }
        guard let onlyRow else {
            return fragment.append(outOfPlansOf: .plannedRows) { writeTest(to: &$0) }
        }
        fragment.appendChoice(.plannedRows) {
            writeTest(to: &$0)
        } emulated: {
            $0.append(literal: "(")
            base.write(to: &$0)
            $0.append(literal: ") = (")
            $0.append(onlyRow)
            $0.append(literal: ")")
        }
    }

    private func writeTest(to fragment: inout QueryFragment) {
        fragment.append(literal: "(")
        base.write(to: &fragment)
        fragment.append(literal: ")")
        fragment.append(sql: symbol)
        fragment.append(literal: "(")
        fragment.append(list)
        fragment.append(literal: ")")
    }
}

extension QueryExpression where QueryValue: QueryRepresentable {
    private func member(_ list: some Sequence<QueryValue.QueryOutput>, _ symbol: StaticString)
        -> MembershipTest<Self>
    {
        var fragment = QueryFragment()
        fragment.append(list: list, of: QueryValue.self)
        return MembershipTest(base: self, symbol: symbol, list: fragment)
    }

    /// `IN`: whether the value is one of several.
    public func `in`(_ values: some Sequence<QueryValue.QueryOutput>) -> MembershipTest<Self> {
        guard QueryValue.columnWidth > 1 else { return member(values, " IN ") }
        let rows = Array(values)
        var test = member(rows, " IN ")
        test.isOfRows = true
        if rows.count == 1 { test.onlyRow = BindQueryExpression(rows[0], as: QueryValue.self).queryFragment }
        return test
    }

    /// `NOT IN`: whether the value is none of several.
    public func notIn(_ values: some Sequence<QueryValue.QueryOutput>) -> MembershipTest<Self> {
        member(values, " NOT IN ")
    }

    /// `IN`: whether the value is one of a statement's.
    public func `in`<Other: QueryRepresentable>(_ statement: some PartialSelectStatement<Other>)
        -> MembershipTest<Self>
    where Other.QueryUnwrapped == QueryValue.QueryUnwrapped {
        let isOfRows = QueryValue.columnWidth > 1
        let list = isOfRows ? statement.query.asListOfRows : statement.query.asList
        var test = MembershipTest(base: self, symbol: " IN ", list: list)
        test.isOfRows = isOfRows
        return test
    }

    /// `NOT IN`: whether the value is none of a statement's.
    public func notIn<Other: QueryRepresentable>(
        _ statement: some PartialSelectStatement<Other>
    ) -> MembershipTest<Self> where Other.QueryUnwrapped == QueryValue.QueryUnwrapped {
        let isOfRows = QueryValue.columnWidth > 1
        let list = isOfRows ? statement.query.asListOfRows : statement.query.asList
        return MembershipTest(base: self, symbol: " NOT IN ", list: list)
    }

    /// `BETWEEN`: whether the value is within a range, bounds included.
    public func between<Lower: QueryExpression, Upper: QueryExpression>(
        _ lower: Lower, and upper: Upper
    ) -> SQLQueryExpression<Bool>
    where
        Lower.QueryValue: QueryRepresentable, Upper.QueryValue: QueryRepresentable,
        Lower.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped,
        Upper.QueryValue.QueryUnwrapped == QueryValue.QueryUnwrapped
    {
        var limits = QueryFragment("(")
        lower.write(to: &limits)
        limits.append(literal: ") AND (")
        upper.write(to: &limits)
        limits.append(literal: ")")
        let operand = queryFragment
        var fragment = QueryFragment()
        fragment.append(rangeOf: operand, limits: limits) {
            $0.append(literal: "(")
            $0.append(operand)
            $0.append(literal: ") BETWEEN ")
            $0.append(limits)
        }
        return SQLQueryExpression(fragment)
    }
}

extension Sequence where Element: QueryBindable, Element.QueryOutput == Element {
    /// `IN`: whether an expression's value is in the sequence.
    @_disfavoredOverload
    public func contains<Value: QueryExpression>(_ element: Value) -> MembershipTest<Value>
    where Value.QueryValue == Element {
        element.in(self)
    }
}

extension ClosedRange where Bound: QueryBindable, Bound.QueryOutput == Bound, Bound.QueryUnwrapped == Bound {
    /// `BETWEEN`: whether an expression's value is in the range.
    @_disfavoredOverload
    public func contains<Value: QueryExpression>(_ element: Value) -> SQLQueryExpression<Bool>
    where Value.QueryValue == Bound, Bound.QueryValue == Bound {
        element.between(lowerBound, and: upperBound)
    }
}

extension PartialSelectStatement {
    /// `EXISTS`: whether the statement gives a row.
    public func exists() -> UnaryExpression<SQLQueryExpression<()>, Bool> {
        let query = query
        var fragment = QueryFragment("(")
        if query.isEmpty { Self.writeNoRows(to: &fragment) } else { fragment.append(query) }
        fragment.append(literal: ")")
        return UnaryExpression("EXISTS ", SQLQueryExpression<()>(fragment), "")
    }

    /// Whether the statement gives an element.
    public func contains<Value: QueryExpression>(_ element: Value) -> MembershipTest<Value>
    where Value.QueryValue == QueryValue, QueryValue: QueryRepresentable {
        element.in(self)
    }
}

extension SQLQueryExpression where QueryValue: QueryRepresentable, QueryValue.QueryUnwrapped == String {
    /// Whether the text has another in it, without regard to the case of ASCII letters.
    ///
    /// This expression may be a statement as well, whose `contains` is about its rows. For a text, it is about the text.
    public func contains(_ text: some StringProtocol) -> SQLQueryExpression<Bool> {
        pattern("%", String(text), "%")
    }
}

extension QueryExpression where QueryValue: QueryRepresentable, QueryValue.QueryUnwrapped == String {
    /// `LIKE`: whether the text has a form, in which `%` stands for any text and `_` for any character.
    ///
    /// - parameters:
    ///     - pattern: The form.
    ///     - escape: The character before a `%` or `_` that stands for itself.
    public func like(_ pattern: some QueryExpression<String>, escape: Character? = nil) -> SQLQueryExpression<
        Bool
    > {
        match(" LIKE ", pattern.queryFragment, escape: escape)
    }

    /// `GLOB`: whether the text has a form, in which `*` stands for any text and `?` for any character.
    public func glob(_ pattern: some QueryExpression<String>) -> SQLQueryExpression<Bool> {
        match(" GLOB ", pattern.queryFragment, escape: nil)
    }

    private func match(
        _ symbol: StaticString, _ pattern: QueryFragment, escape: Character?
    ) -> SQLQueryExpression<Bool> {
        var fragment = QueryFragment("(")
        write(to: &fragment)
        fragment.append(sql: symbol)
        fragment.append(pattern)
        if let escape {
            fragment.append(literal: " ESCAPE ")
            fragment.append(binding: .text(String(escape)))
        }
        fragment.append(literal: ")")
        return SQLQueryExpression(fragment)
    }

    fileprivate func pattern(_ prefix: String, _ text: String, _ suffix: String) -> SQLQueryExpression<Bool> {
        let escaped = text.escaping(["%", "_", "\\"])
        let needsEscape = escaped.utf8.count > text.utf8.count
        return match(
            " LIKE ", QueryFragment(binding: .text(prefix + escaped + suffix)),
            escape: needsEscape ? "\\" : nil)
    }

    // Texts are expressions too, and have functions of these names that are to go first.

    /// Whether the text begins with another, without regard to the case of ASCII letters.
    @_disfavoredOverload
    public func hasPrefix(_ text: some StringProtocol) -> SQLQueryExpression<Bool> {
        pattern("", String(text), "%")
    }

    /// Whether the text ends with another, without regard to the case of ASCII letters.
    @_disfavoredOverload
    public func hasSuffix(_ text: some StringProtocol) -> SQLQueryExpression<Bool> {
        pattern("%", String(text), "")
    }

    /// Whether the text has another in it, without regard to the case of ASCII letters.
    @_disfavoredOverload
    public func contains(_ text: some StringProtocol) -> SQLQueryExpression<Bool> {
        pattern("%", String(text), "%")
    }

    /// The text, compared by a collation: `COLLATE`.
    public func collate(_ collation: Collation) -> SQLQueryExpression<QueryValue> {
        var fragment = QueryFragment("(")
        write(to: &fragment)
        fragment.append(literal: " COLLATE ")
        fragment.append(collation.queryFragment)
        fragment.append(literal: ")")
        return SQLQueryExpression(fragment)
    }

    /// Two texts, one behind the other: `||`.
    public static func + <Other: QueryExpression>(left: Self, right: Other) -> Comparison<
        Self, Other, QueryValue
    >
    where Other.QueryValue: QueryRepresentable, Other.QueryValue.QueryUnwrapped == String {
        Comparison(left, " || ", right)
    }
}

extension String {
    /// The text with a backslash before each of some scalars.
    ///
    /// With a mark behind it that combines, a scalar is part of another character to Swift, and itself to SQLite.
    func escaping(_ scalars: Set<Unicode.Scalar>) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if scalars.contains(scalar) { escaped.append("\\") }
            escaped.append(scalar)
        }
        return String(escaped)
    }
}

/// How texts are compared.
public struct Collation: Hashable, Sendable {
    let queryFragment: QueryFragment

    /// A collation of a name.
    public init(_ name: String) {
        var fragment = QueryFragment()
        fragment.append(identifier: name)
        queryFragment = fragment
    }

    private init(keyword: StaticString) {
        var fragment = QueryFragment()
        fragment.append(sql: keyword)
        queryFragment = fragment
    }

    /// By bytes.
    public static let binary = Collation(keyword: "BINARY")
    /// Without regard to the case of ASCII letters.
    public static let nocase = Collation(keyword: "NOCASE")
    /// Without regard to blanks at the end.
    public static let rtrim = Collation(keyword: "RTRIM")
}
