import Foundation

// Reading a column by an expression such as `Column("name")`: the same as by
// its name.

extension Row {
    /// Returns the value of a column, as the type that it has in the database,
    /// or nil when the column is missing.
    public subscript(_ column: some ColumnExpression) -> (any DatabaseValueConvertible)? { self[column.name] }

    /// Returns the value of a column.
    @inlinable
    public subscript<Value: DatabaseValueConvertible>(_ column: some ColumnExpression) -> Value {
        self[column.name]
    }

    /// Returns the value of a column.
    @inlinable
    public subscript<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ column: some ColumnExpression
    ) -> Value {
        self[column.name]
    }

    /// Returns the first value of some columns that is not NULL.
    ///
    /// - returns: nil when all are NULL or missing.
    public func coalesce<Value: DatabaseValueConvertible>(
        _ columns: some Collection<some ColumnExpression>
    ) -> Value? {
        coalesce(columns.map(\.name))
    }

    /// Returns the first value of some columns that is not NULL.
    ///
    /// - returns: nil when all are NULL or missing.
    @_disfavoredOverload
    public func coalesce<Value: DatabaseValueConvertible>(
        _ columns: some Collection<any ColumnExpression>
    ) -> Value? {
        coalesce(columns.map(\.name))
    }

    /// Returns whether there is a column of that name. Names have no case.
    public func hasColumn(_ column: some ColumnExpression) -> Bool { hasColumn(column.name) }

    /// Calls a function with a blob that is not copied: see ``withUnsafeData(named:_:)``.
    ///
    /// - throws: ``RowDecodingError`` when the value is no data; what the function throws.
    public func withUnsafeData<T>(
        at column: some ColumnExpression, _ body: (Data?) throws -> T
    ) throws -> T {
        try withUnsafeData(named: column.name, body)
    }

    // MARK: Throwing access

    /// Decodes the value of a column.
    ///
    /// - throws: ``RowDecodingError`` when the column is missing or does not fit.
    @inlinable
    public func decode<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, forColumn column: some ColumnExpression
    ) throws -> Value {
        try decode(type, forColumn: column.name)
    }

    /// Decodes the value of a column.
    ///
    /// - throws: ``RowDecodingError`` when the column is missing or does not fit.
    @inlinable
    public func decode<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: Value.Type = Value.self, forColumn column: some ColumnExpression
    ) throws -> Value {
        try decode(type, forColumn: column.name)
    }

    /// Decodes the value of a column, or returns nil when it is NULL or missing.
    ///
    /// - throws: ``RowDecodingError`` when the value does not fit.
    @inlinable
    public func decodeIfPresent<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, forColumn column: some ColumnExpression
    ) throws -> Value? {
        try decodeIfPresent(type, forColumn: column.name)
    }

    /// Decodes the value of a column, or returns nil when it is NULL or missing.
    ///
    /// - throws: ``RowDecodingError`` when the value does not fit.
    @inlinable
    public func decodeIfPresent<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: Value.Type = Value.self, forColumn column: some ColumnExpression
    ) throws -> Value? {
        try decodeIfPresent(type, forColumn: column.name)
    }
}
