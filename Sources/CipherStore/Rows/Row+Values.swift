// Reading a column as a type. The subscripts trap when the type does not fit,
// as GRDB's do, because that is a mistake in the program; `decode` throws.
//
// An optional is a type too: NULL and a missing column are nil.

extension Row {
    /// Returns a value by position, as the type that it has in the database.
    public subscript(_ index: Int) -> (any DatabaseValueConvertible)? {
        databaseValue(atIndex: index).storage.value
    }

    /// Returns a value by position.
    @inlinable
    public subscript<Value: DatabaseValueConvertible>(_ index: Int) -> Value {
        trapping { try decode(Value.self, atIndex: index) }
    }

    /// Returns a value by position.
    @inlinable
    public subscript<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ index: Int) -> Value {
        checkIndex(index)
        if let sqliteStatement,
            let value = Value.fromStatement(sqliteStatement, atUncheckedIndex: CInt(index))
        {
            return value
        }
        return trapping { try decodeWithoutFastPath(atIndex: index) }
    }

    /// Returns a value by name, as the type that it has in the database, or nil
    /// when the column is missing.
    public subscript(_ name: String) -> (any DatabaseValueConvertible)? {
        index(ofColumn: name).flatMap { databaseValue(atIndex: $0).storage.value }
    }

    /// Returns a value by name.
    @inlinable
    public subscript<Value: DatabaseValueConvertible>(_ name: String) -> Value {
        guard let index = index(ofColumn: name) else { return trapping { try missing(Value.self, name) } }
        return self[index]
    }

    /// Returns a value by name.
    @inlinable
    public subscript<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ name: String) -> Value {
        guard let index = index(ofColumn: name) else { return trapping { try missing(Value.self, name) } }
        return self[index]
    }

    /// Returns the first value of some columns that is not NULL.
    ///
    /// ```swift
    /// let name: String? = row.coalesce(["nickname", "name"])
    /// ```
    ///
    /// - returns: nil when all are NULL or missing.
    public func coalesce<Value: DatabaseValueConvertible>(_ columns: some Collection<String>) -> Value? {
        for column in columns {
            if let value: Value = self[column] as Value? { return value }
        }
        return nil
    }

    // MARK: Throwing access

    /// Decodes a value by position.
    ///
    /// - throws: ``RowDecodingError`` when the value does not fit.
    @inlinable
    public func decode<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, atIndex index: Int
    ) throws -> Value {
        let value = databaseValue(atIndex: index)
        if let decoded = Value.fromDatabaseValue(value) { return decoded }
        throw mismatch(type, value, index: index)
    }

    /// Decodes a value by position.
    ///
    /// - throws: ``RowDecodingError`` when the value does not fit.
    @inlinable
    public func decode<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: Value.Type = Value.self, atIndex index: Int
    ) throws -> Value {
        checkIndex(index)
        if let sqliteStatement,
            let value = Value.fromStatement(sqliteStatement, atUncheckedIndex: CInt(index))
        {
            return value
        }
        return try decodeWithoutFastPath(atIndex: index)
    }

    /// Decodes a value by position, or returns nil for NULL.
    ///
    /// - throws: ``RowDecodingError`` when the value does not fit.
    @inlinable
    public func decodeIfPresent<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, atIndex index: Int
    ) throws -> Value? {
        try decode(Value?.self, atIndex: index)
    }

    /// Decodes a value by position, or returns nil for NULL.
    ///
    /// - throws: ``RowDecodingError`` when the value does not fit.
    @inlinable
    public func decodeIfPresent<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: Value.Type = Value.self, atIndex index: Int
    ) throws -> Value? {
        try decode(Value?.self, atIndex: index)
    }

    /// Decodes a value by name.
    ///
    /// - throws: ``RowDecodingError`` when the column is missing or does not fit.
    @inlinable
    public func decode<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, forColumn name: String
    ) throws -> Value {
        guard let index = index(ofColumn: name) else { return try missing(type, name) }
        return try decode(type, atIndex: index)
    }

    /// Decodes a value by name.
    ///
    /// - throws: ``RowDecodingError`` when the column is missing or does not fit.
    @inlinable
    public func decode<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: Value.Type = Value.self, forColumn name: String
    ) throws -> Value {
        guard let index = index(ofColumn: name) else { return try missing(type, name) }
        return try decode(type, atIndex: index)
    }

    /// Decodes a value by name, or returns nil when it is NULL or missing.
    ///
    /// - throws: ``RowDecodingError`` when the value does not fit.
    @inlinable
    public func decodeIfPresent<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, forColumn name: String
    ) throws -> Value? {
        try decode(Value?.self, forColumn: name)
    }

    /// Decodes a value by name, or returns nil when it is NULL or missing.
    ///
    /// - throws: ``RowDecodingError`` when the value does not fit.
    @inlinable
    public func decodeIfPresent<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: Value.Type = Value.self, forColumn name: String
    ) throws -> Value? {
        try decode(Value?.self, forColumn: name)
    }

    /// Decodes a column of an adapted row, or of a copy, or one that the fast
    /// path refused.
    @usableFromInline
    func decodeWithoutFastPath<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        atIndex index: Int
    ) throws -> Value {
        if sqliteStatement == nil, let source = source(atIndex: index),
            let value = Value.fromStatement(source.statement, atUncheckedIndex: source.index)
        {
            return value
        }
        let value = databaseValue(atIndex: index)
        if let decoded = Value.fromDatabaseValue(value) { return decoded }
        throw mismatch(Value.self, value, index: index)
    }

    /// The error of a value that does not fit.
    @usableFromInline
    func mismatch<Value>(_ type: Value.Type, _ value: DatabaseValue, index: Int) -> RowDecodingError {
        RowDecodingError(.valueMismatch(value), type: "\(Value.self)", row: self, index: index)
    }

    /// The value of a column that is not there.
    @usableFromInline
    func missing<Value: DatabaseValueConvertible>(_ type: Value.Type, _ name: String) throws -> Value {
        if let value = Value.fromMissingColumn() { return value }
        throw RowDecodingError(.keyNotFound(.column(name)), type: "\(Value.self)", row: self)
    }

    @usableFromInline func trapping<Value>(_ body: () throws -> Value) -> Value {
        do {
            return try body()
        } catch {
            fatalError("\(error)")
        }
    }
}
