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
        guard let filter else { return writeCall(to: &fragment, condition: nil) }
        fragment.appendChoice(.aggregateFilter) { native in
            writeCall(to: &native, condition: nil)
            native.append(literal: " FILTER (WHERE ")
            filter.write(to: &native)
            native.append(literal: ")")
        } emulated: { emulated in
            writeCall(to: &emulated, condition: filter)
        }
    }

    private func writeCall(to fragment: inout QueryFragment, condition: (any QueryExpression)?) {
        fragment.append(identifier: name)
        fragment.append(sql: isDistinct ? "(DISTINCT " : "(")
        for (index, argument) in (arguments + (condition.map { [$0] } ?? [])).enumerated() {
            if index > 0 { fragment.append(literal: ", ") }
            if argument is any SelectedColumns {
                fragment.append(argument.queryFragment.withoutNames)
            } else {
                argument.write(to: &fragment)
            }
        }
        fragment.append(literal: ")")
    }
}
