/// A cursor of rows. All its rows are one object; copy those you keep.
public final class RowCursor: Cursor {
    @usableFromInline let statement: Statement
    @usableFromInline let row: Row
    @usableFromInline var isDone = false

    init(statement: Statement, arguments: StatementArguments?) throws {
        self.statement = statement
        try statement.prepareToRun(arguments)
        row = Row(statement: statement)
    }

    deinit { statement.reset() }

    /// Moves to the next row, or returns nil at the end.
    @inlinable
    public func next() throws -> Row? {
        if isDone { return nil }
        if try statement.step() { return row }
        isDone = true
        statement.reset()
        return nil
    }
}

/// A cursor of the values in the first column.
public final class FastDatabaseValueCursor<Value: DatabaseValueConvertible & StatementColumnConvertible>:
    Cursor
{
    @usableFromInline let rows: RowCursor

    init(rows: RowCursor) { self.rows = rows }

    /// Returns the next value, or nil at the end.
    @inlinable
    public func next() throws -> Value? {
        guard let row = try rows.next() else { return nil }
        if let statement = row.sqliteStatement, let value = Value(sqliteStatement: statement, index: 0) {
            return value
        }
        return try row.decode(Value.self, atIndex: 0)
    }
}

extension Row {
    /// Returns a cursor of the rows of a query.
    public static func fetchCursor(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> RowCursor {
        try RowCursor(statement: db.makeStatement(sql: sql), arguments: arguments)
    }

    /// Returns a cursor of the rows of a statement.
    public static func fetchCursor(
        _ statement: Statement, arguments: StatementArguments? = nil
    ) throws -> RowCursor {
        try RowCursor(statement: statement, arguments: arguments)
    }

    /// Returns all rows of a query.
    public static func fetchAll(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> [Row] {
        try copies(fetchCursor(db, sql: sql, arguments: arguments))
    }

    /// Returns all rows of a statement.
    public static func fetchAll(_ statement: Statement, arguments: StatementArguments? = nil) throws -> [Row]
    {
        try copies(fetchCursor(statement, arguments: arguments))
    }

    /// Returns the first row of a query, or nil.
    public static func fetchOne(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> Row? {
        try first(fetchCursor(db, sql: sql, arguments: arguments))
    }

    /// Returns the first row of a statement, or nil.
    public static func fetchOne(_ statement: Statement, arguments: StatementArguments? = nil) throws -> Row? {
        try first(fetchCursor(statement, arguments: arguments))
    }

    /// A cursor resets its statement when it goes, so it must outlive the copy.
    private static func first(_ cursor: RowCursor) throws -> Row? {
        try withExtendedLifetime(cursor) { try cursor.next()?.copy() }
    }

    private static func copies(_ cursor: RowCursor) throws -> [Row] {
        var rows: [Row] = []
        while let row = try cursor.next() { rows.append(row.copy()) }
        return rows
    }
}

extension DatabaseValueConvertible where Self: StatementColumnConvertible {
    /// Returns a cursor of the values in the first column of a query.
    public static func fetchCursor(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> FastDatabaseValueCursor<Self> {
        try FastDatabaseValueCursor(rows: Row.fetchCursor(db, sql: sql, arguments: arguments))
    }

    /// Returns the values in the first column of a query.
    public static func fetchAll(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> [Self] {
        try Array(fetchCursor(db, sql: sql, arguments: arguments))
    }

    /// Returns the first value of a query, or nil when there is no row or it is NULL.
    public static func fetchOne(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> Self? {
        let cursor = try Row.fetchCursor(db, sql: sql, arguments: arguments)
        return try withExtendedLifetime(cursor) {
            try cursor.next()?.decodeIfPresent(Self.self, atIndex: 0) as Self?
        }
    }
}

extension DatabaseValueConvertible where Self: StatementColumnConvertible & Hashable {
    /// Returns the set of the values in the first column of a query.
    public static func fetchSet(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> Set<Self> {
        try Set(fetchCursor(db, sql: sql, arguments: arguments))
    }
}
