/// A type that is a column.
///
/// ```swift
/// enum Columns: String, ColumnExpression {
///     case id, name, score
/// }
///
/// Player.filter { $0.score > 1000 }
/// ```
public protocol ColumnExpression: SQLSpecificExpressible {
    /// The name of the column, as SQL has it without quotes.
    var name: String { get }
}

extension ColumnExpression {
    /// The column as an expression.
    public var sqlExpression: SQLExpression { .column(name) }

    /// The column as an expression that is never qualified with a table.
    ///
    /// It names what is no column of a table, such as a result column:
    ///
    /// ```swift
    /// Player
    ///     .annotated(with: (Column("score") + Column("bonus")).forKey("total"))
    ///     .order(Column("total").detached)
    /// ```
    public var detached: SQLExpression { SQLExpression(.detached(.column(name))) }
}

extension ColumnExpression where Self: RawRepresentable, Self.RawValue == String {
    /// The raw value.
    public var name: String { rawValue }
}

/// A column.
///
/// ```swift
/// let nameColumn = Column("name")
/// let arthur = try Player.filter(nameColumn == "Arthur").fetchOne(db)
/// ```
public struct Column: ColumnExpression, Sendable {
    /// The hidden column that numbers the rows of a table.
    ///
    /// Related SQLite documentation: <https://www.sqlite.org/lang_createtable.html#rowid>
    public static let rowID = Column("rowid")

    /// The name of the column.
    public var name: String

    /// Makes a column of a name.
    public init(_ name: String) {
        self.name = name
    }

    /// Makes a column with the name of a coding key.
    public init(_ codingKey: some CodingKey) {
        name = codingKey.stringValue
    }
}

extension SQLSelectable where Self == Column {
    /// The rowid of a table: `[.allColumns, .rowID]`.
    public static var rowID: Column { Column("rowid") }
}
