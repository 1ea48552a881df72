/// A table that has arguments, where these are a condition: `json_each` with `"json_each"."json" = (x)`.
@usableFromInline struct ConditionalSource: Hashable, Sendable {
    /// The value of a hidden column.
    struct Argument: Hashable, Sendable {
        let column: String
        let value: QueryFragment
    }

    private let tableName: String
    private let arguments: [Argument]
    /// The name by which columns are qualified.
    private var qualifier = QueryFragment()
    /// The place of a name behind the table.
    private var place: QueryFragment
    /// Whether old engines take the arguments as a condition. It would be asked of rows that a right join keeps without elements, and
    /// engines with right joins take the arguments of the first table as such.
    var isCondition = true

    init<T: Table>(_ type: T.Type, _ arguments: [Argument]) {
        tableName = type.tableName
        self.arguments = arguments
        qualifier.append(tableOf: type)
        place = .elements(type)
    }

    /// Puts a name in the place of references to the table, except in the arguments.
    mutating func rename(_ change: (QueryFragment) -> QueryFragment) {
        qualifier = change(qualifier)
        place = change(place)
    }

    /// The table as it stands in a FROM clause, without its arguments.
    var table: QueryFragment {
        var fragment = QueryFragment()
        fragment.append(identifier: tableName)
        fragment.append(place)
        return fragment
    }

    /// The arguments, as what the hidden columns are equal to.
    var condition: QueryFragment {
        var fragment = QueryFragment()
        for (index, argument) in arguments.enumerated() {
            if index > 0 { fragment.append(literal: " AND ") }
            fragment.append(qualifier)
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
