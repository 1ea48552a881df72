/// What is selected into the properties of a type: the `Columns` of a `@Selection`, as in `T.Columns(title: $0.title)`.
public protocol SelectedColumns<QueryValue>: QueryExpression where QueryValue: Table {}

/// Writes expressions as the columns of a type.
public struct SelectionWriter {
    /// What was written.
    public private(set) var fragment = QueryFragment()

    /// Begins.
    public init() {}

    /// Adds an expression as the column of a property, or as those of a group.
    ///
    /// - parameters:
    ///     - expression: The expression.
    ///     - type: The type of the property: how it is stored.
    ///     - name: The name of the column.
    public mutating func write<Value: QueryRepresentable>(
        _ expression: some QueryExpression<Value>, as type: Value.Type, named name: String
    ) {
        fragment.separate()
        expression.write(to: &fragment)
        // The columns of a row have their own names.
        guard Value.columnWidth == 1 else { return }
        fragment.append(literal: " AS ")
        fragment.append(identifier: name)
    }
}
