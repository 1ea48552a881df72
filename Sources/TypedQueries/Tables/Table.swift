/// A type whose values are rows of a table.
///
/// The macro `@Table` writes the conformance. By hand:
///
/// ```swift
/// struct Tag: Table {
///     var title = ""
///
///     struct TableColumns: TableDefinition {
///         typealias QueryValue = Tag
///         var title: TableColumn<Tag, String> { TableColumn("title") }
///         static var columnList: ColumnList { ColumnList(Self().title) }
///     }
///     static var tableName: String { "tags" }
///     static var columnWidth: Int { String.columnWidth }
///     init(decoder: inout some QueryDecoder) throws { title = try decoder.value(String.self) }
///     func writeValues(to row: inout RowWriter) { row.write(title, as: String.self) }
/// }
/// ```
@dynamicMemberLookup
public protocol Table: QueryRepresentable, QueryExpression, Sendable
where QueryValue == Self, TableColumns.QueryValue == Self {
    /// The columns.
    associatedtype TableColumns: TableDefinition

    /// The type of the rows that queries begin with.
    associatedtype DefaultScope: SelectStatement = Where<Self>

    /// The type of its values as expressions.
    associatedtype QueryValue = Self

    /// The columns.
    static var columns: TableColumns { get }

    /// The name of the table.
    static var tableName: String { get }

    /// The name by which statements call the table, if it isn't its own.
    static var tableAlias: String? { get }

    /// The name of the database that has the table, or nil for the first that has one of the name.
    static var schemaName: String? { get }

    /// The table in a FROM clause, without an alias. It must always be the same.
    static var tableFragment: QueryFragment { get }

    /// The rows that queries begin with.
    ///
    /// Queries by the type's other functions have its conditions too. ``unscoped`` has not.
    static var all: DefaultScope { get }

    /// Writes the values of the columns that can be written, in order.
    func writeValues(to row: inout RowWriter)
}

extension Table {
    /// A column, by its name in SQL that is written by hand: `#sql("SELECT \(Reminder.title) FROM \(Reminder.self)")`.
    @inlinable
    public static subscript<Member>(dynamicMember keyPath: KeyPath<TableColumns, Member>) -> Member {
        columns[keyPath: keyPath]
    }

    /// The columns.
    @inlinable
    public static var columns: TableColumns { TableColumns() }

    /// No alias.
    @inlinable
    public static var tableAlias: String? { nil }

    /// No schema.
    @inlinable
    public static var schemaName: String? { nil }

    /// The quoted name.
    public static var tableFragment: QueryFragment {
        var fragment = QueryFragment()
        if let schemaName {
            fragment.append(identifier: schemaName)
            fragment.append(literal: ".")
        }
        fragment.append(identifier: tableName)
        return fragment
    }

    /// The names of all columns.
    static var allColumnNames: [String] { TableColumns.columnList.names }

    /// The names of the columns that can be written.
    static var writableColumnNames: [String] { TableColumns.columnList.writableNames }

    /// The values of the columns, one parameter for each.
    @inlinable
    public func write(to fragment: inout QueryFragment) {
        var row = RowWriter(fragment)
        fragment = QueryFragment()
        writeValues(to: &row)
        fragment = row.takeFragment()
    }

    /// The values of the columns, one parameter for each.
    public var queryFragment: QueryFragment {
        var fragment = QueryFragment()
        write(to: &fragment)
        return fragment
    }

    /// Writes NULL into each column.
    public static func writeNull(to row: inout RowWriter) {
        for _ in writableColumnNames { row.append(.null) }
    }

    /// Writes the qualified names of the group's columns.
    public static func writeColumn<Root: Table>(
        _ name: String, of root: Root.Type, to fragment: inout QueryFragment
    ) {
        for (index, name) in allColumnNames.enumerated() {
            if index > 0 { fragment.append(literal: ", ") }
            fragment.append(tableOf: root)
            fragment.append(literal: ".")
            fragment.append(identifier: name)
        }
    }

    /// The names of the group's columns.
    public static func columnNames(_ name: String) -> [String] { allColumnNames }
}

extension Table where QueryOutput: Table {
    /// Writes the columns of a value.
    @inlinable
    public static func writeValue(_ output: QueryOutput, to row: inout RowWriter) {
        output.writeValues(to: &row)
    }
}

extension Table where DefaultScope == Where<Self> {
    /// All rows.
    @inlinable
    public static var all: Where<Self> { Where() }
}

/// The columns of a table.
public protocol TableDefinition<QueryValue>: QueryExpression, Sendable where QueryValue: Table {
    /// Makes the columns, which have no state.
    init()

    /// All columns in the order in which rows are read.
    static var columnList: ColumnList { get }
}

extension TableDefinition {
    /// All columns.
    public static var allColumns: [any TableColumnExpression] { columnList.columns }

    /// The columns that can be written.
    public static var writableColumns: [any WritableTableColumnExpression] {
        columnList.columns.compactMap { $0 as? any WritableTableColumnExpression }
    }

    /// The qualified names of all columns.
    @inlinable
    public var queryFragment: QueryFragment {
        var fragment = QueryFragment()
        write(to: &fragment)
        return fragment
    }

    /// Adds the qualified names of all columns.
    @inlinable
    public func write(to fragment: inout QueryFragment) { fragment.append(columnsOf: QueryValue.self) }
}

/// The columns of a table, in order.
public struct ColumnList: Sendable {
    /// The columns; a group is one.
    public let columns: [any TableColumnExpression]

    /// The names of the properties, and those that they have in JSON; nil where all are those of the columns.
    private var namesInJSON: [(property: String, name: String)]?

    /// The names that the values of the cases have in JSON; nil where the columns are no cases of an enum.
    private(set) var caseValueNames: [String]?

    /// Makes a list of columns and groups.
    public init(_ columns: any TableColumnExpression...) { self.columns = columns }

    /// Makes a list of columns and groups.
    public init(_ columns: [any TableColumnExpression]) { self.columns = columns }

    /// The list, with the names that the properties have in JSON: those of the coding keys.
    ///
    /// - parameter names: The name of each column's property, in order, and the one in JSON.
    public func inJSON(_ names: (property: String, name: String)...) -> Self {
        var list = self
        list.namesInJSON = names
        return list
    }

    /// The list of an enum whose cases are the columns, with the names that their values have in JSON.
    ///
    /// - parameter valueNames: The label of each case's value, in order; `_0` where it has none.
    public func asCases(_ valueNames: String...) -> Self {
        guard valueNames.count == columns.count else { return self }
        var list = self
        list.caseValueNames = valueNames
        return list
    }

    /// The list with other columns, for the same properties.
    func mapped(
        _ transform: (any TableColumnExpression) -> any TableColumnExpression
    ) -> Self {
        var list = Self(columns.map(transform))
        list.namesInJSON = namesInJSON
        list.caseValueNames = caseValueNames
        return list
    }

    /// The name that a column's property has in JSON.
    func nameInJSON(of index: Int) -> String {
        guard let namesInJSON, namesInJSON.indices.contains(index) else {
            return columns[index].queryColumnName
        }
        return namesInJSON[index].name
    }

    /// The name that a property has in JSON; nil where it is its own.
    func nameInJSON(ofProperty property: String) -> String? {
        namesInJSON?.first { $0.property == property }?.name
    }

    /// The column of a property.
    func column(ofProperty property: String) -> (any TableColumnExpression)? {
        guard let namesInJSON else { return columns.first { $0.queryColumnName == property } }
        guard let index = namesInJSON.firstIndex(where: { $0.property == property }),
            columns.indices.contains(index)
        else { return nil }
        return columns[index]
    }

    /// The names of all columns, those of groups included.
    public var names: [String] { columns.flatMap(\.queryColumnNames) }

    /// The names of the columns that can be written, those of groups included.
    public var writableNames: [String] {
        columns.flatMap { $0.isQueryColumnGenerated ? [] : $0.writableQueryColumnNames }
    }
}

/// A table that has a primary key.
public protocol PrimaryKeyedTable<PrimaryKey>: Table
where TableColumns: PrimaryKeyedTableDefinition<PrimaryKey> {
    /// The type of the key: how it is stored.
    associatedtype PrimaryKey: QueryRepresentable

    /// The type of rows that may have no key yet.
    associatedtype Draft: TableDraft where Draft.PrimaryTable == Self
}

/// The columns of a table that has a primary key.
public protocol PrimaryKeyedTableDefinition<PrimaryKey>: TableDefinition {
    /// The type of the key: how it is stored.
    associatedtype PrimaryKey: QueryRepresentable

    /// The column of the key, or the group of its columns.
    var primaryKey: TableColumn<QueryValue, PrimaryKey> { get }
}

/// A row that may have no key yet, which the database gives it.
public protocol TableDraft: Table {
    /// The type of rows with a key.
    associatedtype PrimaryTable: PrimaryKeyedTable

    /// Makes a draft of a row.
    init(_ other: PrimaryTable)
}

extension TableDraft {
    /// What the rows with a key are read from: drafts are rows of the same table.
    public static var tableFragment: QueryFragment { PrimaryTable.tableFragment }

    /// The name by which statements call that, if it isn't the table's.
    public static var tableAlias: String? { PrimaryTable.tableAlias }
}

extension TableDraft where DefaultScope == Where<Self> {
    /// The rows that queries of the table begin with.
    public static var all: Where<Self> { Where.standard(of: PrimaryTable.self) }
}
