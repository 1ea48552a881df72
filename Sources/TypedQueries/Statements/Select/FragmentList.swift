/// Pieces of SQL, of which there is mostly one.
public struct FragmentList: Hashable, Sendable {
    @usableFromInline var first: QueryFragment
    @usableFromInline var rest: [QueryFragment] = []
    /// Whether all pieces are common tables that have no rows by declaration.
    @usableFromInline var isWithoutRows = false

    @inlinable init() { first = QueryFragment() }
    @inlinable init(_ first: QueryFragment) { self.first = first }

    /// Whether there is none.
    @inlinable public var isEmpty: Bool { first.isEmpty }

    /// The pieces, in order.
    var pieces: [QueryFragment] { isEmpty ? [] : [first] + rest }

    /// The pieces without the first ones.
    func dropping(_ count: Int) -> FragmentList {
        var result = FragmentList()
        for piece in pieces.dropFirst(count) { result.append(piece) }
        return result
    }

    /// How many pieces there are.
    var count: Int { isEmpty ? 0 : 1 + rest.count }

    @inlinable
    mutating func append(_ fragment: QueryFragment) {
        if fragment.isEmpty { return }
        if first.isEmpty { first = fragment } else { rest.append(fragment) }
    }

    @inlinable
    mutating func append(_ other: FragmentList) {
        guard !other.isEmpty else { return }
        append(other.first)
        rest.append(contentsOf: other.rest)
    }

    /// The pieces, each changed.
    func mapped(_ change: (QueryFragment) -> QueryFragment) -> FragmentList {
        var result = FragmentList(change(first))
        result.rest = rest.map(change)
        return result
    }

    /// Whether the list begins with another.
    func begins(with other: FragmentList) -> Bool {
        other.isEmpty || first == other.first && rest.starts(with: other.rest)
    }

    /// Adds a word and the conditions, which must all be met.
    @inlinable
    func write(_ word: StaticString, to fragment: inout QueryFragment) {
        guard !first.isEmpty else { return }
        fragment.append(literal: word)
        if rest.isEmpty { fragment.append(first) } else { writeConjunction(to: &fragment) }
    }

    /// Adds the conditions with AND between them.
    @inlinable
    func writeConjunction(to fragment: inout QueryFragment) { write(separator: " AND ", to: &fragment) }

    @usableFromInline func write(separator: StaticString, to fragment: inout QueryFragment) {
        guard !rest.isEmpty else { return fragment.append(first) }
        fragment.append(literal: "(")
        fragment.append(first)
        for condition in rest {
            fragment.append(literal: ")")
            fragment.append(sql: separator)
            fragment.append(literal: "(")
            fragment.append(condition)
        }
        fragment.append(literal: ")")
    }

    /// The pieces with commas between them.
    @usableFromInline var commaSeparated: QueryFragment {
        guard !rest.isEmpty else { return first }
        var fragment = first
        for other in rest {
            fragment.append(literal: ", ")
            fragment.append(other)
        }
        return fragment
    }
}

/// Collects expressions in a closure, which may have conditions.
@resultBuilder
public enum QueryFragmentBuilder<Clause> {
    /// Nothing.
    @inlinable public static func buildBlock() -> FragmentList { FragmentList() }
    /// The first.
    @inlinable public static func buildPartialBlock(first: FragmentList) -> FragmentList { first }
    /// One more.
    @inlinable
    public static func buildPartialBlock(accumulated: FragmentList, next: FragmentList) -> FragmentList {
        var list = accumulated
        list.append(next)
        return list
    }
    /// Those of a condition that is met.
    @inlinable public static func buildEither(first component: FragmentList) -> FragmentList { component }
    /// Those of a condition that is not met.
    @inlinable public static func buildEither(second component: FragmentList) -> FragmentList { component }
    /// Those of a condition, or nothing.
    @inlinable
    public static func buildOptional(_ component: FragmentList?) -> FragmentList {
        component ?? FragmentList()
    }
    /// Those of a loop.
    public static func buildArray(_ components: [FragmentList]) -> FragmentList {
        components.reduce(into: FragmentList()) { $0.append($1) }
    }
}

extension QueryFragmentBuilder where Clause == Bool {
    /// A condition.
    @inlinable
    public static func buildExpression(_ expression: some QueryExpression<Bool>) -> FragmentList {
        FragmentList(expression.queryFragment)
    }

    /// A condition that may be NULL, which is not met then.
    @inlinable
    public static func buildExpression(_ expression: some QueryExpression<Bool?>) -> FragmentList {
        FragmentList(expression.queryFragment)
    }
}

extension QueryFragmentBuilder where Clause == () {
    /// SQL of which nothing says a type.
    public static func buildExpression(_ expression: SQLQueryExpression<()>) -> FragmentList {
        FragmentList(expression.queryFragment)
    }

    /// Any expressions, in order.
    @inlinable
    public static func buildExpression<each Term: QueryExpression>(
        _ expression: (repeat each Term)
    ) -> FragmentList {
        var list = FragmentList()
        for term in repeat each expression { list.append(term.queryFragment) }
        return list
    }
}
