/// A call of an aggregate function: `count(DISTINCT "x") FILTER (WHERE …)`.
///
/// On engines without `FILTER` (SQLite before 3.30) the argument becomes `CASE WHEN … THEN "x" END`, which functions
/// that ignore NULL can't tell from it. On engines without `ORDER BY` in functions (before 3.44), functions whose
/// result depends on the order are replaced by some that are written in Swift; with other functions, preparing fails.
public struct AggregateExpression<QueryValue>: WritableExpression, Sendable {
    /// What an aggregate makes of an order where SQLite knows none in functions.
    enum Ordering: Sendable {
        /// The order makes no difference.
        case ignored
        /// A function of the library that takes the terms as arguments.
        case emulated(StaticString)
        /// There is no way.
        case unsupported
    }

    let name: StaticString
    var isDistinct = false
    /// The argument, `*`, or nothing.
    let argument: QueryFragment
    /// More arguments, each behind `, `.
    var others = QueryFragment()
    var order: OrderingTerms?
    var filter: QueryFragment?
    var ordering = Ordering.unsupported
    /// The function that takes a condition as its first argument, for functions that do not ignore NULL.
    var filtering: StaticString?
    /// Whether a comma between the values is implied, which functions of the library want to be told.
    var separatorIsImplied = false

    init(_ name: StaticString, _ argument: QueryFragment) {
        self.name = name
        self.argument = argument
    }

    /// Adds the call.
    public func write(to fragment: inout QueryFragment) {
        guard let order else { return writeFiltered(to: &fragment) }
        fragment.appendChoice(.aggregateOrdering) {
            writeCall(argument, ordered: order, to: &$0)
            writeFilter(to: &$0)
        } emulated: {
            writeUnordered(order, to: &$0)
        }
    }

    /// The call without an order in it.
    private func writeUnordered(_ order: OrderingTerms, to fragment: inout QueryFragment) {
        switch ordering {
        case .ignored: writeFiltered(to: &fragment)
        case .emulated(let name) where !isDistinct && order.canBeEmulated:
            writeEmulated(name, order, to: &fragment)
        default:
            fragment.require(.aggregateOrdering)
            writeFiltered(to: &fragment)
        }
    }

    private func writeFiltered(to fragment: inout QueryFragment) {
        guard let filter else { return writeCall(argument, ordered: nil, to: &fragment) }
        fragment.appendChoice(.aggregateFilter) {
            writeCall(argument, ordered: nil, to: &$0)
            writeFilter(to: &$0)
        } emulated: {
            if let filtering { return writeEmulated(filtering, nil, to: &$0) }
            var chosen = QueryFragment("CASE WHEN ")
            chosen.append(filter)
            chosen.append(literal: " THEN ")
            chosen.append(argument == "*" ? "1" : argument)
            chosen.append(literal: " END")
            writeCall(chosen, ordered: nil, to: &$0)
        }
    }

    private func writeCall(
        _ argument: QueryFragment, ordered order: OrderingTerms?, to fragment: inout QueryFragment
    ) {
        fragment.append(sql: name)
        fragment.append(sql: isDistinct ? "(DISTINCT " : "(")
        fragment.append(argument)
        fragment.append(others)
        if let order {
            fragment.append(literal: " ORDER BY ")
            fragment.append(order.fragment)
        }
        fragment.append(literal: ")")
    }

    private func writeFilter(to fragment: inout QueryFragment) {
        guard let filter else { return }
        fragment.append(literal: " FILTER (WHERE ")
        fragment.append(filter)
        fragment.append(literal: ")")
    }

    /// A function of the library: the condition, the form of the order, the arguments, the terms. The form begins with
    /// an equals sign when equal arguments count once.
    private func writeEmulated(
        _ name: StaticString, _ order: OrderingTerms?, to fragment: inout QueryFragment
    ) {
        fragment.append(sql: name)
        fragment.append(literal: "(")
        if let filter { fragment.append(filter) } else { fragment.append(literal: "1") }
        fragment.append(sql: isDistinct ? ", '=" : ", '")
        fragment.append(sql: (order?.form ?? "") as String)
        fragment.append(literal: "', ")
        fragment.append(argument)
        if separatorIsImplied { fragment.append(literal: ", ','") }
        fragment.append(others)
        for term in order?.terms ?? [] {
            fragment.append(literal: ", ")
            fragment.append(term)
        }
        fragment.append(literal: ")")
    }
}
