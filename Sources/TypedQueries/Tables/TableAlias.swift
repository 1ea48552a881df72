/// A name by which a statement calls a table.
///
/// ```swift
/// enum Referrer: AliasName {}
/// User.join(User.as(Referrer.self).all) { $0.referrerID.eq($1.id) }
/// ```
public protocol AliasName {
    /// The name. By default it is that of the type, with a lower-case first letter, in the plural.
    static var aliasName: String { get }
}

extension AliasName {
    /// The name of the type, with a lower-case first letter and in the plural.
    public static var aliasName: String { String(describing: Self.self).lowercasedFirstLetter.pluralized }
}

extension String {
    fileprivate var lowercasedFirstLetter: String { prefix(1).lowercased() + dropFirst() }

    fileprivate var pluralized: String {
        if hasSuffix("y"), let previous = dropLast().last, !"aeiou".contains(previous) {
            return dropLast() + "ies"
        }
        for suffix in ["s", "x", "z", "ch", "sh"] where hasSuffix(suffix) { return self + "es" }
        return self + "s"
    }
}

/// A table under another name.
public struct TableAlias<Base: Table, Name: AliasName>: Table {
    /// The type of its values in Swift: rows of the table.
    public typealias QueryOutput = Base
    /// The type of the rows that queries begin with.
    public typealias DefaultScope = Where<Self>

    let base: Base

    /// The columns of the table, under the other name.
    @dynamicMemberLookup
    public struct TableColumns: TableDefinition {
        /// The table.
        public typealias QueryValue = TableAlias<Base, Name>

        /// Makes the columns.
        @inlinable
        public init() {}

        /// The columns of the table.
        public static var columnList: ColumnList {
            Base.TableColumns.columnList.mapped { aliased($0) }
        }

        private static func aliased<Column: TableColumnExpression>(
            _ column: Column
        ) -> any TableColumnExpression {
            let name = column.queryColumnName
            if column.isQueryColumnGenerated { return GeneratedColumn<TableAlias, Column.Value>(name) }
            return TableColumn<TableAlias, Column.Value>(name)
        }

        /// A column under the other name.
        public subscript<Member: QueryRepresentable>(
            dynamicMember keyPath: KeyPath<Base.TableColumns, TableColumn<Base, Member>>
        ) -> TableColumn<TableAlias, Member> {
            TableColumn(Base.columns[keyPath: keyPath].queryColumnName)
        }

        /// A generated column under the other name.
        public subscript<Member: QueryRepresentable>(
            dynamicMember keyPath: KeyPath<Base.TableColumns, GeneratedColumn<Base, Member>>
        ) -> GeneratedColumn<TableAlias, Member> {
            GeneratedColumn(Base.columns[keyPath: keyPath].queryColumnName)
        }
    }

    /// Makes a representation of a row.
    public init(queryOutput: Base) { base = queryOutput }

    /// The row.
    public var queryOutput: Base { base }

    /// The table's name.
    public static var tableName: String { Base.tableName }

    /// The other name.
    public static var tableAlias: String? { Name.aliasName }

    /// The table's schema.
    public static var schemaName: String? { Base.schemaName }

    /// The table.
    public static var tableFragment: QueryFragment { Base.tableFragment }

    /// The rows that queries of the table begin with.
    public static var all: Where<Self> { Where.standard(of: Base.self) }

    /// The number of the table's columns.
    @inlinable
    public static var columnWidth: Int { Base.columnWidth }

    /// Reads a row.
    public init(decoder: inout some QueryDecoder) throws { base = try Base(decoder: &decoder) }

    /// Writes the values of the row.
    public func writeValues(to row: inout RowWriter) { base.writeValues(to: &row) }
}

/// A table under another name, whatever its type is.
protocol AliasedTable {
    /// A change of the table without the other name; the change itself, where it speaks of the table by both.
    static func unaliased(_ change: QueryFragment) -> QueryFragment
}

extension TableAlias: AliasedTable {
    static func unaliased(_ change: QueryFragment) -> QueryFragment {
        change.mentions(Base.self) ? change : change.retargeted(Self.self, to: Base.self)
    }
}

extension QueryFragment {
    /// Adds a change of a table, without the table's other name on old engines, which have none in changes.
    @inlinable
    mutating func append<T: Table>(changeOf type: T.Type, _ write: (inout QueryFragment) -> Void) {
        if T.tableAlias == nil { write(&self) } else { append(changeOfAliased: type, write) }
    }

    @usableFromInline mutating func append<T: Table>(
        changeOfAliased type: T.Type, _ write: (inout QueryFragment) -> Void
    ) {
        guard EngineFeatures.current.sqliteVersionNumber < 3_025_000,
            let alias = T.self as? any AliasedTable.Type
        else { return write(&self) }
        var change = QueryFragment()
        write(&change)
        append(alias.unaliased(change))
    }
}

extension TableAlias.TableColumns where Base: PrimaryKeyedTable {
    /// The column of the key, or the group of its columns.
    public var primaryKey: TableColumn<TableAlias, Base.PrimaryKey> {
        TableColumn(Base.columns.primaryKey.queryColumnName)
    }
}

extension Table {
    /// The table under another name.
    public static func `as`<Name: AliasName>(_ name: Name.Type) -> TableAlias<Self, Name>.Type {
        TableAlias<Self, Name>.self
    }
}

/// The name of the row that could not be inserted, in the update of an upsert.
public enum ExcludedName: AliasName {
    /// The name that SQLite gives it.
    public static var aliasName: String { "excluded" }
}

/// The row that could not be inserted, in the update of an upsert.
public typealias Excluded<Base: Table> = TableAlias<Base, ExcludedName>
