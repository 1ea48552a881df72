// Comparisons that SQLite 3.15 finds rows by, and finds wrong ones.

extension QueryFragment {
    /// Adds a comparison, as an expression that says nothing to the planner of old engines.
    @usableFromInline mutating func append<Left, Right, Value>(
        misplanned comparison: Comparison<Left, Right, Value>
    ) {
        append(onlyWithout: .plannedComparison) { $0.append(literal: "+(") }
        comparison.writeComparison(to: &self)
        append(onlyWithout: .plannedComparison) { $0.append(literal: ")") }
    }
}

/// A column of a table that an outer join may not find.
private protocol OuterColumn {}

extension TableColumn: OuterColumn where Root: OptionalRow {}

extension GeneratedColumn: OuterColumn where Root: OptionalRow {}

/// Finds such columns.
@usableFromInline enum OuterColumns {
    /// Whether one of two types of expressions is that of such a column, and the engine must not plan by it.
    @usableFromInline static func contain(_ left: Any.Type, _ right: Any.Type = Never.self) -> Bool {
        guard !EngineChoice.plannedComparison.isSupported else { return false }
        return left is any OuterColumn.Type || right is any OuterColumn.Type
    }
}
