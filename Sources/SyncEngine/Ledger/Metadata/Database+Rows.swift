import CipherStore

extension Database {
    /// Reads rows one by one, where they are: metadata are read often, and copies of rows cost more than the rows.
    ///
    /// - parameters:
    ///     - sql: A query. Its statement is kept.
    ///     - transform: Makes a value of a row, which it must not keep.
    func rows<Value>(
        _ sql: String, _ arguments: StatementArguments = StatementArguments(),
        _ transform: (Row) throws -> Value
    ) throws -> [Value] {
        let cursor = try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
        var values: [Value] = []
        while let row = try cursor.next() { values.append(try transform(row)) }
        return values
    }
}

extension Row {
    /// Decodes a value by position, which must have the type: what stands in metadata may have been written by any
    /// program. Of the current row of a statement, `decode(_:atIndex:)` takes what SQLite converts, such as 0 for a text.
    ///
    /// - throws: `RowDecodingError` when the value does not fit.
    func decodeStrictly<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, atIndex index: Int
    ) throws -> Value {
        try decode(type, atIndex: index)
    }
}
