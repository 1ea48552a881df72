/// A row of a query's result.
///
/// ```swift
/// if let row = try Row.fetchOne(db, sql: "SELECT name, score FROM player WHERE id = ?", arguments: [id]) {
///     let name: String = row["name"]
///     let score: Int? = row[1]
/// }
/// ```
///
/// The rows of a cursor are one object that the cursor moves on: copy a row
/// with ``copy()`` before you keep it.
public final class Row {
    /// The statement whose current row this is; nil for a copied row.
    @usableFromInline let sqliteStatement: SQLiteStatement?
    @usableFromInline let statement: Statement?
    @usableFromInline let values: [DatabaseValue]
    private let names: [String]

    /// The number of columns.
    public let count: Int

    /// Makes the row that follows a statement.
    init(statement: Statement) {
        self.statement = statement
        sqliteStatement = statement.sqliteStatement
        count = statement.columnCount
        values = []
        names = []
    }

    private init(names: [String], values: [DatabaseValue]) {
        statement = nil
        sqliteStatement = nil
        count = values.count
        self.names = names
        self.values = values
    }

    /// Makes a row of names and values.
    public convenience init(_ columns: [(String, (any DatabaseValueConvertible)?)]) {
        self.init(names: columns.map(\.0), values: columns.map { $0.1?.databaseValue ?? .null })
    }

    /// Returns a row that stays valid when the statement moves on.
    public func copy() -> Row {
        guard statement != nil else { return self }
        return Row(names: Array(columnNames), values: Array(databaseValues))
    }

    /// The names of the columns, in order; duplicates are kept.
    public var columnNames: [String] { statement?.columnNames ?? names }

    /// The values, in order.
    public var databaseValues: [DatabaseValue] {
        (0..<count).map { databaseValue(atIndex: $0) }
    }

    /// Returns whether there is a column of that name. Names have no case.
    public func hasColumn(_ name: String) -> Bool { index(ofColumn: name) != nil }

    /// Returns whether a value is NULL.
    public func hasNull(atIndex index: Int) -> Bool {
        checkIndex(index)
        guard let sqliteStatement else { return values[index].isNull }
        return RawColumn.isNull(sqliteStatement, CInt(index))
    }

    /// The leftmost column of a name, compared without case.
    @usableFromInline func index(ofColumn name: String) -> Int? {
        if let statement { return statement.index(ofColumn: name) }
        if let index = names.firstIndex(of: name) { return index }
        let lowercased = name.lowercased()
        return names.firstIndex { $0.lowercased() == lowercased }
    }

    @usableFromInline func databaseValue(atIndex index: Int) -> DatabaseValue {
        checkIndex(index)
        guard let sqliteStatement else { return values[index] }
        return DatabaseValue(sqliteStatement: sqliteStatement, index: CInt(index))
    }

    @inlinable @inline(__always)
    func checkIndex(_ index: Int) {
        precondition(index >= 0 && index < count, "row index out of range")
    }
}

/// The position of a column in a row.
///
/// It is a type of its own, because an integer index gives a value alone.
public struct RowIndex: Comparable, Strideable, Sendable {
    let index: Int

    /// Returns whether one position comes before another.
    public static func < (left: RowIndex, right: RowIndex) -> Bool { left.index < right.index }

    /// Returns the number of columns between two positions.
    public func distance(to other: RowIndex) -> Int { other.index - index }

    /// Returns the position that is some columns further.
    public func advanced(by count: Int) -> RowIndex { RowIndex(index: index + count) }
}

extension Row: RandomAccessCollection {
    /// The index of the first column.
    public var startIndex: RowIndex { RowIndex(index: 0) }
    /// The index after the last column.
    public var endIndex: RowIndex { RowIndex(index: count) }
    /// The name and the value of a column.
    public subscript(position: RowIndex) -> (String, DatabaseValue) {
        (columnNames[position.index], databaseValue(atIndex: position.index))
    }
}

extension Row: Equatable {
    /// Returns whether two rows have the same names and values, in the same order.
    public static func == (left: Row, right: Row) -> Bool {
        left === right
            || (left.columnNames == right.columnNames && left.databaseValues == right.databaseValues)
    }
}

extension Row: CustomStringConvertible {
    /// The row as `[name:"Arthur" score:100]`.
    public var description: String {
        "[" + map { name, value in "\(name):\(value)" }.joined(separator: " ") + "]"
    }
}
