/// A cursor of what a statement gives.
///
/// Its types are made by the fetching functions: ``RowCursor``,
/// ``DatabaseValueCursor``, ``FastDatabaseValueCursor``, ``RecordCursor``.
/// You don't conform other types to it.
///
/// A statement gives its rows to one cursor at a time: when you make another
/// one of the same ``Statement``, the first one fails.
public protocol DatabaseCursor<Element>: Cursor {
    /// The run of the statement that the cursor follows.
    var run: StatementRun { get }

    /// Returns the element of the statement's current row.
    func currentElement() throws -> Element
}

extension DatabaseCursor {
    /// Moves to the next row and returns its element, or nil at the end.
    ///
    /// - throws: A ``DatabaseError`` when the statement fails: it fails again
    ///   when you ask again. What decoding throws.
    @inlinable
    public func next() throws -> Element? {
        try run.step() ? try currentElement() : nil
    }

    /// Returns the elements that are left.
    ///
    /// It is what ``next()`` gives until it gives nil, without the optional, which
    /// would move each element twice. A large array grows four-fold, because to
    /// move its elements to fresh pages costs more than pages that are not used,
    /// which the system does not provide before they are.
    @inlinable
    func collect() throws -> [Element] {
        let run = run
        var elements: [Element] = []
        while try run.step() {
            if elements.count == elements.capacity,
                elements.count &* MemoryLayout<Element>.stride >= 262_144
            {
                elements.reserveCapacity(4 &* elements.count)
            }
            elements.append(try currentElement())
        }
        return elements
    }

    /// The statement of the cursor.
    var statement: Statement { run.statement }

    /// The SQL of the statement.
    public var sql: String { statement.sql }

    /// The arguments of the statement.
    public var arguments: StatementArguments { statement.arguments }

    /// The number of columns of the statement.
    public var columnCount: Int { statement.columnCount }

    /// The names of the columns of the statement.
    public var columnNames: [String] { statement.columnNames }
}

/// A cursor that runs a statement and gives nothing of its rows.
public final class StatementCursor: DatabaseCursor {
    /// The type of the elements.
    public typealias Element = Void

    /// The run of the statement that the cursor follows.
    public let run: StatementRun

    init(_ run: StatementRun) { self.run = run }

    /// Returns nothing.
    public func currentElement() {}
}

/// A cursor of rows. All its rows are one object; copy those you keep.
public final class RowCursor: DatabaseCursor {
    /// The type of the elements.
    public typealias Element = Row

    /// The run of the statement that the cursor follows.
    public let run: StatementRun
    private let adapter: (any RowAdapter)?
    @exclusivity(unchecked) @usableFromInline var row: Row?

    @usableFromInline
    init(_ statement: Statement, _ arguments: StatementArguments?, _ adapter: (any RowAdapter)?) throws {
        run = try StatementRun(statement, arguments: arguments)
        self.adapter = adapter
        _ = try adapter?.layout(over: RowLayout(columnNames: statement.columnNames))
    }

    /// Returns the row of the statement.
    @inlinable
    public func currentElement() throws -> Row { try row ?? makeRow() }

    /// Makes the row once the statement has run, and its columns are known.
    @usableFromInline func makeRow() throws -> Row {
        let new = try Row(run, adapted: adapter?.columns(of: statement))
        row = new
        return new
    }
}

/// A cursor of the values of one column.
public final class DatabaseValueCursor<Value: DatabaseValueConvertible>: DatabaseCursor {
    /// The type of the elements.
    public typealias Element = Value

    /// The run of the statement that the cursor follows.
    public let run: StatementRun
    @usableFromInline let index: CInt

    @inlinable
    init(_ statement: Statement, _ arguments: StatementArguments?, _ adapter: (any RowAdapter)?) throws {
        run = try StatementRun(statement, arguments: arguments)
        index = try statement.firstColumn(adapter)
    }

    /// Returns the value of the current row.
    @inlinable
    public func currentElement() throws -> Value {
        let value = DatabaseValue(sqliteStatement: run.sqliteStatement, index: index)
        if let decoded = Value.fromDatabaseValue(value) { return decoded }
        try run.requireColumn(index)
        throw Row(run).mismatch(Value.self, value, index: Int(index))
    }
}

/// A cursor of the values of one column, for types that decode themselves from
/// a statement.
public final class FastDatabaseValueCursor<Value: DatabaseValueConvertible & StatementColumnConvertible>:
    DatabaseCursor
{
    /// The type of the elements.
    public typealias Element = Value

    /// The run of the statement that the cursor follows.
    public let run: StatementRun
    @usableFromInline let index: CInt

    @inlinable
    init(_ statement: Statement, _ arguments: StatementArguments?, _ adapter: (any RowAdapter)?) throws {
        run = try StatementRun(statement, arguments: arguments)
        index = try statement.firstColumn(adapter)
    }

    /// Returns the value of the current row.
    @inlinable
    public func currentElement() throws -> Value {
        if let value = Value.fromStatement(run.sqliteStatement, atUncheckedIndex: index) { return value }
        return try currentElementWithoutFastPath()
    }

    @usableFromInline func currentElementWithoutFastPath() throws -> Value {
        try run.requireColumn(index)
        return try Row(run).decode(Value.self, atIndex: Int(index))
    }
}

/// A cursor of records.
public final class RecordCursor<Record: FetchableRecord>: DatabaseCursor {
    /// The type of the elements.
    public typealias Element = Record

    @usableFromInline let rows: RowCursor

    /// The run of the statement that the cursor follows.
    @inlinable
    public var run: StatementRun { rows.run }

    @inlinable
    init(_ statement: Statement, _ arguments: StatementArguments?, _ adapter: (any RowAdapter)?) throws {
        rows = try RowCursor(statement, arguments, adapter)
    }

    /// Returns the record of the current row.
    @inlinable
    public func currentElement() throws -> Record { try Record(row: rows.currentElement()) }
}

extension Statement {
    /// The position of the first column that an adapter shows.
    @usableFromInline func firstColumn(_ adapter: (any RowAdapter)?) throws -> CInt {
        guard let adapter else { return 0 }
        guard let column = try adapter.layout(over: RowLayout(columnNames: columnNames)).columns.first else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "there is no column to fetch a value from", sql: sql)
        }
        return CInt(column.index)
    }

    /// Returns a cursor that runs the statement.
    ///
    /// - throws: A ``DatabaseError`` when the arguments do not fit.
    public func makeCursor(arguments: StatementArguments? = nil) throws -> StatementCursor {
        try StatementCursor(StatementRun(self, arguments: arguments))
    }
}
