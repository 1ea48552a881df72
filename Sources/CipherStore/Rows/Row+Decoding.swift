// Reading a column as a type. The accessors trap when the type does not fit,
// as GRDB's do, because that is a mistake in the program; `decode` throws.

extension Row {
    /// Returns a value by position.
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
        if let sqliteStatement, let value = Value(sqliteStatement: sqliteStatement, index: CInt(index)) {
            return value
        }
        return trapping { try decode(Value.self, atIndex: index) }
    }

    /// Returns a value by name, or nil when the column is missing or NULL.
    public subscript(_ name: String) -> (any DatabaseValueConvertible)? {
        index(ofColumn: name).flatMap { databaseValue(atIndex: $0).storage.value }
    }

    /// Returns a value by name.
    @inlinable
    public subscript<Value: DatabaseValueConvertible>(_ name: String) -> Value {
        if let index = index(ofColumn: name) { return self[index] }
        return Value.fromMissingColumn() ?? self[existingIndex(ofColumn: name)]
    }

    /// Returns a value by name.
    @inlinable
    public subscript<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ name: String) -> Value {
        if let index = index(ofColumn: name) { return self[index] }
        return Value.fromMissingColumn() ?? self[existingIndex(ofColumn: name)]
    }

    // MARK: Throwing access

    /// Decodes a value by position.
    ///
    /// - throws: ``RowDecodingError`` when the value does not fit.
    public func decode<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, atIndex index: Int
    ) throws -> Value {
        try Value.decode(
            databaseValue(atIndex: index), context: "column: \(columnNames[index]), column index: \(index)")
    }

    /// Decodes a value by position, or returns nil for NULL.
    ///
    /// - throws: ``RowDecodingError`` when the value does not fit.
    public func decodeIfPresent<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, atIndex index: Int
    ) throws -> Value? {
        hasNull(atIndex: index) ? nil : try decode(type, atIndex: index)
    }

    /// Decodes a value by name.
    ///
    /// - throws: ``RowDecodingError`` when the column is missing or does not fit.
    public func decode<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, forColumn name: String
    ) throws -> Value {
        try decode(type, atIndex: requireIndex(ofColumn: name))
    }

    @usableFromInline func existingIndex(ofColumn name: String) -> Int {
        if let index = index(ofColumn: name) { return index }
        return trapping { try requireIndex(ofColumn: name) }
    }

    func requireIndex(ofColumn name: String) throws -> Int {
        if let index = index(ofColumn: name) { return index }
        throw RowDecodingError(type: "a value", value: .null, context: "column not found: \(name)")
    }

    @usableFromInline func trapping<Value>(_ body: () throws -> Value) -> Value {
        do {
            return try body()
        } catch {
            fatalError("\(error)")
        }
    }
}
