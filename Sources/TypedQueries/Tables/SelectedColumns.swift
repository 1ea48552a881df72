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
    public mutating func write<Value: QueryRepresentable, Expression: QueryExpression<Value>>(
        _ expression: Expression, as type: Value.Type, named name: String
    ) {
        let names = Value.columnNames(name)
        // The columns of a selection have their names already, and those of a row are called as they are.
        fragment.separate()
        if names.count > 1, let values = expression.namedValues(names) {
            fragment.append(values)
        } else {
            expression.write(to: &fragment)
            if names.count == 1, !(expression is any SelectedColumns) { fragment.append(naming: names[0]) }
        }
    }
}

extension QueryExpression {
    /// The columns of a value with names; nil of what is no value in Swift.
    fileprivate func namedValues(_ names: [String]) -> QueryFragment? {
        if let row = self as? any Table { return .named(names) { row.writeValues(to: &$0) } }
        return (self as? any ValueExpression)?.named(names)
    }

    /// A row in Swift as JSON; nil of everything else.
    var document: QueryFragment? {
        let row: any Encodable
        if self is any Table, let value = self as? any Encodable {
            row = value
        } else if let value = (self as? any ValueExpression)?.row {
            row = value
        } else {
            return nil
        }
        var fragment = QueryFragment("json(")
        fragment.append(binding: JSONCoding.binding(row))
        fragment.append(literal: ")")
        return fragment
    }
}

/// A value as an expression, which may have several columns.
private protocol ValueExpression {
    /// The columns of the value with names.
    func named(_ names: [String]) -> QueryFragment

    /// The value, where it is a row that can be JSON.
    var row: (any Encodable)? { get }
}

extension BindQueryExpression: ValueExpression {
    fileprivate func named(_ names: [String]) -> QueryFragment {
        .named(names) { QueryValue.writeValue(value, to: &$0) }
    }

    fileprivate var row: (any Encodable)? {
        QueryValue.self is any Table.Type ? value as? any Encodable : nil
    }
}
