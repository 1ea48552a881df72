/// A call of a function that an app wrote: `"name"(a, b)`.
public struct DatabaseFunctionCall<QueryValue>: WritableExpression {
    private let name: String
    private let arguments: [any QueryExpression]
    private let isDistinct: Bool
    private let filter: (any QueryExpression)?

    /// Makes a call.
    ///
    /// - parameters:
    ///     - name: The name of the function.
    ///     - arguments: The arguments, in order. A row is all its columns.
    ///     - isDistinct: Whether an aggregate sees equal arguments once.
    ///     - filter: The condition of the rows that an aggregate sees.
    public init(
        _ name: String, _ arguments: [any QueryExpression], isDistinct: Bool = false,
        filter: (any QueryExpression)? = nil
    ) {
        self.name = name
        self.arguments = arguments
        self.isDistinct = isDistinct
        self.filter = filter
    }

    /// Adds the call.
    public func write(to fragment: inout QueryFragment) {
        guard let filter else { return writeCall(to: &fragment) }
        fragment.appendChoice(.aggregateFilter) { native in
            writeCall(to: &native)
            native.append(literal: " FILTER (WHERE ")
            filter.write(to: &native)
            native.append(literal: ")")
        } emulated: { emulated in
            writeFilteredCall(filter, to: &emulated)
        }
    }

    private func writeCall(to fragment: inout QueryFragment) {
        fragment.append(identifier: name)
        fragment.append(sql: isDistinct ? "(DISTINCT " : "(")
        writeArguments(to: &fragment)
        fragment.append(literal: ")")
    }

    /// The call of the aggregate's other form, see ``FilteredAggregate``.
    private func writeFilteredCall(_ filter: any QueryExpression, to fragment: inout QueryFragment) {
        fragment.append(identifier: FilteredAggregate.name(name))
        // SQLite says what is true, as it does of FILTER.
        fragment.append(literal: "(CASE WHEN ")
        filter.write(to: &fragment)
        fragment.append(sql: isDistinct ? " THEN 1 END, 1" : " THEN 1 END, 0")
        if !arguments.isEmpty { fragment.append(literal: ", ") }
        writeArguments(to: &fragment)
        fragment.append(literal: ")")
    }

    private func writeArguments(to fragment: inout QueryFragment) {
        for (index, argument) in arguments.enumerated() {
            if index > 0 { fragment.append(literal: ", ") }
            if argument is any SelectedColumns {
                fragment.append(argument.queryFragment.withoutNames)
            } else {
                argument.write(to: &fragment)
            }
        }
    }
}
