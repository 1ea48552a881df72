/// A table that has arguments, where these are a condition: `json_each` with `"json_each"."json" = (x)`.
@usableFromInline struct ConditionalSource: Hashable, Sendable {
    /// The value of a hidden column.
    struct Argument: Hashable, Sendable {
        let column: String
        let value: QueryFragment
    }

    private let tableName: String
    private let arguments: [Argument]
    private var alias: String?
    /// Whether old engines take the arguments as a condition. It would be asked of rows that a right join keeps without elements, and
    /// engines with right joins take the arguments of the first table as such.
    var isCondition = true

    init(_ tableName: String, _ arguments: [Argument]) {
        self.tableName = tableName
        self.arguments = arguments
    }

    /// Whether the table has a name of its own in the statement.
    var isNamed: Bool { alias != nil }

    /// The table under a name of its own.
    func named(_ name: String) -> ConditionalSource {
        var result = self
        result.alias = name
        return result
    }

    /// The table as it stands in a FROM clause, without its arguments.
    var table: QueryFragment {
        var fragment = QueryFragment()
        fragment.append(identifier: tableName)
        guard let alias else { return fragment }
        fragment.append(literal: " AS ")
        fragment.append(identifier: alias)
        return fragment
    }

    /// The arguments, as what the hidden columns are equal to.
    var condition: QueryFragment {
        var fragment = QueryFragment()
        for (index, argument) in arguments.enumerated() {
            if index > 0 { fragment.append(literal: " AND ") }
            fragment.append(identifier: alias ?? tableName)
            fragment.append(literal: ".")
            fragment.append(identifier: argument.column)
            fragment.append(literal: " = (")
            fragment.append(argument.value)
            fragment.append(literal: ")")
        }
        return fragment
    }

    /// Adds a condition, between parentheses behind the one of the arguments on engines that take these as a condition.
    ///
    /// - parameters:
    ///     - fragment: What it is added to.
    ///     - write: Adds the condition. It is not written in two forms: at each level of nesting it would be there twice.
    func write(to fragment: inout QueryFragment, _ write: (inout QueryFragment) -> Void) {
        fragment.append(onlyWithout: .outerTableArguments) {
            $0.append(condition)
            $0.append(literal: " AND (")
        }
        write(&fragment)
        fragment.append(onlyWithout: .outerTableArguments) { $0.append(literal: ")") }
    }
}
