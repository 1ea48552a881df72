/// A column of a table, of any kind.
public protocol TableColumnExpression<Root, Value>: QueryExpression, Sendable where QueryValue == Value {
    /// The table that has the column.
    associatedtype Root: Table

    /// The type of its values: how they are stored.
    associatedtype Value: QueryRepresentable

    // Names that no property of a group has: in the group's column they would hide the property's.

    /// The name of the column, or of a group.
    var queryColumnName: String { get }

    /// The name of the column, or those of the group's columns.
    var queryColumnNames: [String] { get }

    /// Whether the database makes the values.
    var isQueryColumnGenerated: Bool { get }
}

extension TableColumnExpression {
    /// The name of the column, or those of the group's columns.
    public var queryColumnNames: [String] { Value.columnNames(queryColumnName) }

    /// The same without the columns of a group that the database makes.
    var writableQueryColumnNames: [String] {
        (Value.self as? any Table.Type)?.writableColumnNames ?? queryColumnNames
    }

    /// Adds the qualified name, or those of the group's columns.
    @inlinable
    public func write(to fragment: inout QueryFragment) {
        Value.writeColumn(queryColumnName, of: Root.self, to: &fragment)
    }

    /// The qualified name, or those of the group's columns.
    @inlinable
    public var queryFragment: QueryFragment {
        var fragment = QueryFragment()
        write(to: &fragment)
        return fragment
    }
}

/// A column that can be written.
public protocol WritableTableColumnExpression: TableColumnExpression {}

/// A column of a table, or a group of columns that are a value together.
///
/// Which of the two it is depends on the type of its values: those of a ``Table`` have a column for each property,
/// which are members of the group's column.
///
/// ```swift
/// $0.title               // "reminders"."title"
/// $0.stamps.createdAt    // "reminders"."createdAt"
/// ```
@dynamicMemberLookup
public struct TableColumn<Root: Table, Value: QueryRepresentable>: WritableTableColumnExpression {
    /// The type of its values as expressions.
    public typealias QueryValue = Value

    /// The name of the column.
    public let queryColumnName: String

    /// Makes a column.
    @inlinable
    public init(_ name: String) { queryColumnName = name }

    /// The database does not make the values.
    public var isQueryColumnGenerated: Bool { false }
}

extension TableColumn where Value: Table {
    /// A column of the group.
    public subscript<Member: QueryRepresentable>(
        dynamicMember keyPath: KeyPath<Value.TableColumns, TableColumn<Value, Member>>
    ) -> TableColumn<Root, Member> {
        TableColumn<Root, Member>(Value.columns[keyPath: keyPath].queryColumnName)
    }
}

/// A group of columns that are a value together.
public typealias ColumnGroup<Root: Table, Values: Table> = TableColumn<Root, Values>

/// A column whose values the database makes.
public struct GeneratedColumn<Root: Table, Value: QueryRepresentable>: TableColumnExpression {
    /// The type of its values as expressions.
    public typealias QueryValue = Value

    /// The name of the column.
    public let queryColumnName: String

    /// Makes a column.
    @inlinable
    public init(_ name: String) { queryColumnName = name }

    /// The database makes the values.
    public var isQueryColumnGenerated: Bool { true }
}

/// The number that SQLite gives each row of a table: `"t"."rowid"`, or another of its names where a column is called so.
///
/// A statement with it throws when columns have all three names of the number, `rowid`, `_rowid_` and `oid`, and when a column
/// that the table's type leaves out has the name.
public struct RowID<Root: Table>: WritableExpression {
    /// An integer.
    public typealias QueryValue = Int

    /// Whether the column of a property that is called `rowid` is meant, where the table's type has one.
    private let yieldsToProperty: Bool

    /// Makes the expression.
    public init() { yieldsToProperty = false }

    /// Makes the expression of a member, which an alias, an optional and generic code have in the place of a property of its name.
    fileprivate init(yieldingToProperty: ()) { yieldsToProperty = true }

    /// Adds the qualified name.
    public func write(to fragment: inout QueryFragment) {
        if yieldsToProperty, let column = Root.TableColumns.columnList.column(ofProperty: "rowid") {
            fragment.append(tableOf: Root.self)
            fragment.append(literal: ".")
            return fragment.append(identifier: column.queryColumnName)
        }
        guard let name = RowIDName.free(of: Root.allColumnNames) else {
            return fragment.append(binding: .invalid(Self.error))
        }
        fragment.append(rowNumberOf: Root.self)
        fragment.append(tableOf: Root.self)
        fragment.append(literal: ".")
        fragment.append(identifier: name)
    }

    private static var error: QueryBindingError {
        QueryBindingError(
            """
            the number of a row of "\(Root.tableName)" has no name, because columns are called rowid, _rowid_ and oid: choose \
            rows by their key, in a trigger by .update { old, new in … } in the place of .update(touch: …)
            """)
    }
}

extension TableDefinition {
    /// The number that SQLite gives each row, or the column of a property that is called so. A statement with it throws when columns
    /// hide the number.
    public var rowid: RowID<QueryValue> { RowID(yieldingToProperty: ()) }
}

extension Optional.TableColumns {
    /// The number that SQLite gives each row, or the column of a property that is called so; NULL where there is no row.
    public var rowid: SQLQueryExpression<Int?> {
        SQLQueryExpression(RowID<Wrapped?>(yieldingToProperty: ()).queryFragment)
    }
}
