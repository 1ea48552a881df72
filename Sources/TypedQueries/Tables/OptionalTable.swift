// Optional tables, as outer joins make them. A value is nil when all its columns are NULL.

extension Optional: QueryDecodable where Wrapped: QueryRepresentable {
    /// Reads a value, or nil when its columns are all NULL.
    @inlinable @inline(__always)
    public init(decoder: inout some QueryDecoder) throws {
        if decoder.areNull(Wrapped.columnWidth) {
            decoder.skip(Wrapped.columnWidth)
            self = nil
        } else {
            self = try Wrapped(decoder: &decoder)
        }
    }
}

extension Optional: QueryRepresentable where Wrapped: QueryRepresentable {
    /// The optional of the type's values.
    public typealias QueryOutput = Wrapped.QueryOutput?

    /// The type without the optional.
    public typealias QueryUnwrapped = Wrapped.QueryUnwrapped

    /// Makes a representation of a value.
    @inlinable
    public init(queryOutput: Wrapped.QueryOutput?) { self = queryOutput.map { Wrapped(queryOutput: $0) } }

    /// The value.
    @inlinable
    public var queryOutput: Wrapped.QueryOutput? { map(\.queryOutput) }

    /// As many as the type has.
    @inlinable
    public static var columnWidth: Int { Wrapped.columnWidth }

    /// Writes the value, or NULL into each of its columns.
    @inlinable
    public static func writeValue(_ output: Wrapped.QueryOutput?, to row: inout RowWriter) {
        if let output { Wrapped.writeValue(output, to: &row) } else { Wrapped.writeNull(to: &row) }
    }

    /// Writes NULL into each column.
    @inlinable
    public static func writeNull(to row: inout RowWriter) { Wrapped.writeNull(to: &row) }

    /// Writes the name, or those of the group.
    @inlinable
    public static func writeColumn<Root: Table>(
        _ name: String, of root: Root.Type, to fragment: inout QueryFragment
    ) {
        Wrapped.writeColumn(name, of: root, to: &fragment)
    }

    /// The name, or those of the group.
    public static func columnNames(_ name: String) -> [String] { Wrapped.columnNames(name) }
}

extension Optional: QueryExpression where Wrapped: QueryExpression & QueryRepresentable {
    /// The optional type.
    public typealias QueryValue = Wrapped.QueryValue?

    /// The value, or NULL for each of its columns.
    public var queryFragment: QueryFragment {
        var fragment = QueryFragment()
        write(to: &fragment)
        return fragment
    }

    /// Adds the value, or NULL for each of its columns.
    @inlinable
    public func write(to fragment: inout QueryFragment) {
        if let self { return self.write(to: &fragment) }
        var row = RowWriter(fragment)
        fragment = QueryFragment()
        Wrapped.writeNull(to: &row)
        fragment = row.takeFragment()
    }
}

extension Optional: QueryBindable where Wrapped: QueryBindable, Wrapped.QueryValue == Wrapped {
    /// The value's, or NULL.
    @inlinable
    public var queryBinding: QueryBinding { self?.queryBinding ?? .null }
}

extension Optional: Table where Wrapped: Table {
    /// Rows that there may be.
    public typealias DefaultScope = Where<Self>

    /// The table's name.
    public static var tableName: String { Wrapped.tableName }
    /// The table's alias.
    public static var tableAlias: String? { Wrapped.tableAlias }
    /// The table's schema.
    public static var schemaName: String? { Wrapped.schemaName }
    /// The table.
    public static var tableFragment: QueryFragment { Wrapped.tableFragment }

    /// Writes the values of the row, or NULL for each column.
    @inlinable
    public func writeValues(to row: inout RowWriter) {
        if let self { self.writeValues(to: &row) } else { Wrapped.writeNull(to: &row) }
    }

    /// The columns of a table, whose values may all be NULL.
    @dynamicMemberLookup
    public struct TableColumns: TableDefinition {
        /// The optional table.
        public typealias QueryValue = Wrapped?

        /// Makes the columns.
        @inlinable
        public init() {}

        /// The table's columns.
        public static var columnList: ColumnList { Wrapped.TableColumns.columnList }

        /// A column, whose values may be NULL.
        public subscript<Member: QueryRepresentable>(
            dynamicMember keyPath: KeyPath<Wrapped.TableColumns, TableColumn<Wrapped, Member>>
        ) -> TableColumn<Wrapped?, Member?> {
            TableColumn(Wrapped.columns[keyPath: keyPath].queryColumnName)
        }

        /// A column whose values may be NULL anyway.
        public subscript<Member: QueryRepresentable>(
            dynamicMember keyPath: KeyPath<Wrapped.TableColumns, TableColumn<Wrapped, Member?>>
        ) -> TableColumn<Wrapped?, Member?> {
            TableColumn(Wrapped.columns[keyPath: keyPath].queryColumnName)
        }

        /// A generated column, whose values may be NULL.
        public subscript<Member: QueryRepresentable>(
            dynamicMember keyPath: KeyPath<Wrapped.TableColumns, GeneratedColumn<Wrapped, Member>>
        ) -> GeneratedColumn<Wrapped?, Member?> {
            GeneratedColumn(Wrapped.columns[keyPath: keyPath].queryColumnName)
        }

        /// An expression of the columns, such as a property of an extension, whose values may be NULL.
        @_disfavoredOverload
        public subscript<Value: QueryRepresentable, Expression: QueryExpression<Value>>(
            dynamicMember keyPath: KeyPath<Wrapped.TableColumns, Expression>
        ) -> SQLQueryExpression<Value?> {
            // The columns have the same names with and without the optional.
            SQLQueryExpression(Wrapped.columns[keyPath: keyPath].queryFragment)
        }
    }
}

/// A row that there may be.
protocol OptionalRow {}

extension Optional: OptionalRow {}

extension Optional.TableColumns where Wrapped: PrimaryKeyedTable {
    /// The column of the key, or the group of its columns.
    public var primaryKey: TableColumn<Wrapped?, Wrapped.PrimaryKey?> {
        TableColumn(Wrapped.columns.primaryKey.queryColumnName)
    }
}

/// The table of statements that are not known to be about one.
public struct NoTable: Table {
    /// No columns.
    public struct TableColumns: TableDefinition {
        /// The table.
        public typealias QueryValue = NoTable
        /// Makes the columns.
        @inlinable
        public init() {}
        /// None.
        public static var columnList: ColumnList { ColumnList() }
    }

    /// The table itself.
    public typealias QueryOutput = NoTable
    /// No name.
    public static var tableName: String { "" }
    /// No columns.
    public static var columnWidth: Int { 0 }
    /// Reads nothing.
    public init(decoder: inout some QueryDecoder) throws {}
    /// Writes nothing.
    public func writeValues(to row: inout RowWriter) {}
}

/// A table whose rows may be absent.
protocol OptionalTable {
    /// The type of the rows that are there.
    static var presentTable: any Table.Type { get }
}

extension Optional: OptionalTable where Wrapped: Table {
    static var presentTable: any Table.Type { Wrapped.self }
}
