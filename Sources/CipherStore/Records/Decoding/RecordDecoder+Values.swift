import Foundation

// Decoding properties of types that are known at run time only. The unsafe
// casts are between a type and itself, where the compiler does not know it.

extension RecordDecoder {
    /// Decodes a property of a type that is known.
    @inline(__always)
    func value<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ key: some CodingKey
    ) throws -> Value {
        let column = properties.column(at: property(key))
        if column >= 0 {
            if let statement = liveStatement {
                if let value = Value.fromStatement(statement, atUncheckedIndex: column) { return value }
            } else if let stored = storedValue(column), let value = Value.fromDatabaseValue(stored) {
                return value
            }
        }
        return try otherValue(key, column)
    }

    /// A value of a row that moves over a block, or nil to ask the row.
    @inline(__always)
    private func storedValue(_ column: CInt) -> DatabaseValue? {
        let row = row
        return row.isMoving ? row.databaseValue(atIndex: Int(column)) : nil
    }

    @inline(never)
    private func otherValue<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ key: some CodingKey, _ column: CInt
    ) throws -> Value {
        guard column >= 0 else { throw missingColumn(key) }
        return try row.decode(Value.self, atIndex: Int(column))
    }

    /// Decodes a property of a type that is known, or nil.
    @inline(__always)
    func optionalValue<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ key: some CodingKey
    ) throws -> Value? {
        let column = properties.column(at: property(key))
        if column < 0 { return nil }
        if let statement = liveStatement {
            // NULL is the one thing that is both no value and not to be decoded.
            if let value = Value.fromStatement(statement, atUncheckedIndex: column) { return value }
            if RawColumn.isNull(statement, column) { return nil }
        } else if let stored = storedValue(column) {
            if stored.isNull { return nil }
            if let value = Value.fromDatabaseValue(stored) { return value }
        }
        return try row.decode(Value?.self, atIndex: Int(column))
    }

    /// Decodes a property.
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: some CodingKey) throws -> Value {
        let property = property(key)
        let column = Int(properties.column(at: property))
        if column >= 0 {
            if type == Date.self { return unsafeBitCast(try date(property, column), to: type) }
            if type == UUID.self { return unsafeBitCast(try plain(column) as UUID, to: type) }
            if type == Data.self {
                return unsafeBitCast(try dataStrategy(property).decode(row, at: column), to: type)
            }
        }
        switch kind(of: property, type) {
        case .column(let type):
            guard column >= 0 else { throw missingColumn(key) }
            return try open(type, column)
        case .value(let type):
            guard column >= 0 else { throw missingColumn(key) }
            return try openValue(type, column)
        case .complex, .decodable:
            return try decodeComplex(type, property, key)
        }
    }

    /// Decodes a property, or returns nil when it is NULL or missing.
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: some CodingKey) throws -> Value? {
        let property = property(key)
        let column = Int(properties.column(at: property))
        if column >= 0 {
            if isNull(column), liveStatement != nil || scope(property) == nil { return nil }
            if type == Date.self { return unsafeBitCast(try date(property, column), to: type) }
            if type == UUID.self { return unsafeBitCast(try plain(column) as UUID, to: type) }
            if type == Data.self {
                return unsafeBitCast(try dataStrategy(property).decode(row, at: column), to: type)
            }
        }
        switch kind(of: property, type) {
        case .column(let type):
            return column < 0 || row.hasNull(atIndex: column) ? nil : try open(type, column)
        case .value(let type):
            return column < 0 || row.hasNull(atIndex: column) ? nil : try openValue(type, column)
        case .complex, .decodable:
            if let scope = scope(property) {
                return scope.containsNonNullValue ? try decodeScope(type, scope, property, key) : nil
            }
            if prefetchedRows(key.stringValue) == nil, column < 0 || row.hasNull(atIndex: column) {
                return nil
            }
            return try decodeComplex(type, property, key)
        }
    }

    @inline(__always)
    private func isNull(_ column: Int) -> Bool {
        guard let statement = liveStatement else { return row.hasNull(atIndex: column) }
        return RawColumn.isNull(statement, CInt(truncatingIfNeeded: column))
    }

    @inline(__always)
    private func plain<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ column: Int
    ) throws -> Value {
        if let statement = liveStatement,
            let value = Value.fromStatement(statement, atUncheckedIndex: CInt(truncatingIfNeeded: column))
        {
            return value
        }
        return try row.decode(Value.self, atIndex: column)
    }

    @inline(__always)
    private func date(_ property: Int, _ column: Int) throws -> Date {
        if properties.isPlainDate(at: property) { return try plain(column) }
        return try dateStrategy(property).decode(row, at: column)
    }

    /// Returns how values of a type are decoded.
    private func kind<Value: Decodable>(of property: Int, _ type: Value.Type) -> DecodedKind.Source {
        if let kind = properties[property].kind, kind.type == ObjectIdentifier(type) { return kind.source }
        let kind = DecodedKind(type)
        properties[property].kind = kind
        return kind.source
    }

    private func open<Other: DatabaseValueConvertible & StatementColumnConvertible, Value>(
        _ type: Other.Type, _ column: Int
    ) throws -> Value {
        unsafeBitCast(try row.decode(type, atIndex: column), to: Value.self)
    }

    private func openValue<Other: DatabaseValueConvertible, Value>(
        _ type: Other.Type, _ column: Int
    ) throws -> Value {
        unsafeBitCast(try row.decode(type, atIndex: column), to: Value.self)
    }

    /// Decodes what is not a value: a scope, prefetched rows, JSON, or the row itself.
    private func decodeComplex<Value: Decodable>(
        _ type: Value.Type, _ property: Int, _ key: some CodingKey
    ) throws -> Value {
        if let scope = scope(property) { return try decodeScope(type, scope, property, key) }
        if let rows = prefetchedRows(key.stringValue) {
            return try type.init(from: rowsDecoder(rows, forKey: key))
        }
        let column = Int(properties.column(at: property))
        if column >= 0 { return try decodeColumn(type, column, property, key) }
        try takeRoot(for: key)
        return try decodeRow(type, row, property, key)
    }

    private func decodeScope<Value: Decodable>(
        _ type: Value.Type, _ scope: Row, _ property: Int, _ key: some CodingKey
    ) throws -> Value {
        try decodeRow(type, scope, property, key)
    }

    /// Decodes a record, or another type that decodes from columns.
    private func decodeRow<Value: Decodable>(
        _ type: Value.Type, _ row: Row, _ property: Int, _ key: some CodingKey
    ) throws -> Value {
        if case .complex(let record) = kind(of: property, type) { return try openRecord(record, row) }
        return try type.init(from: decoder(of: row, forKey: key))
    }

    private func openRecord<Record: FetchableRecord, Value>(_ type: Record.Type, _ row: Row) throws -> Value {
        unsafeBitCast(try Record(row: row), to: Value.self)
    }

    private func decodeColumn<Value: Decodable>(
        _ type: Value.Type, _ column: Int, _ property: Int, _ key: some CodingKey
    ) throws -> Value {
        // Each column is tried: that of another row may be NULL, or a single value where this one is JSON.
        if let value = try decodeColumn(type, at: column, property: property, key: key) { return value }
        return try jsonDecoder(property).decode(type, from: row.decode(Data.self, atIndex: column))
    }

    /// A decoder of a row that belongs to a property.
    func decoder(of row: Row, forKey key: some CodingKey) -> RecordDecoder {
        RecordDecoder(
            Void.self, row: row, recordType: recordType, codingPath: codingPath + [key], userInfo: userInfo)
    }

    /// A decoder of the rows of another request.
    func rowsDecoder(_ rows: AssociatedRowList, forKey key: some CodingKey) -> RowsDecoder {
        RowsDecoder(rows: rows, recordType: recordType, codingPath: codingPath + [key], userInfo: userInfo)
    }
}

/// Decodes what a record decodes from itself as a whole.
struct RowSingleValueContainer: SingleValueDecodingContainer, RefusingDecodedScalars {
    let decoder: RecordDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { !decoder.row.containsNonNullValue }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard let record = type as? any FetchableRecord.Type else { return try type.init(from: decoder) }
        return try open(record)
    }

    private func open<Record: FetchableRecord, Value>(_ type: Record.Type) throws -> Value {
        unsafeBitCast(try Record(row: decoder.row), to: Value.self)
    }
}
