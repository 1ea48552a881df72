/// Decodes an array or a set from the rows of another request.
struct RowsDecoder: Decoder {
    let rows: [Row]
    let recordType: any FetchableRecord.Type
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any]

    private(set) var currentIndex = 0

    init(
        rows: [Row], recordType: any FetchableRecord.Type, codingPath: [any CodingKey],
        userInfo: [CodingUserInfoKey: Any]
    ) {
        self.rows = rows
        self.recordType = recordType
        self.codingPath = codingPath
        self.userInfo = userInfo
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw mismatch([String: Any].self, "rows are decoded as an array or a set")
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { self }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        RowsSingleValueContainer(decoder: self)
    }

    private func mismatch(_ type: Any.Type, _ reason: String) -> DecodingError {
        .typeMismatch(type, DecodingError.Context(codingPath: codingPath, debugDescription: reason))
    }
}

extension RowsDecoder: UnkeyedDecodingContainer, RefusingDecodedScalars {
    var count: Int? { rows.count }
    var isAtEnd: Bool { currentIndex >= rows.count }

    mutating func decodeNil() -> Bool { false }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let row = try nextRow(type)
        if let record = type as? any FetchableRecord.Type { return try open(record, row) }
        if let value = type as? any DatabaseValueConvertible.Type { return try openValue(value, row) }
        return try type.init(from: decoder(of: row))
    }

    private mutating func nextRow(_ type: Any.Type) throws -> Row {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                type, DecodingError.Context(codingPath: codingPath, debugDescription: "no more rows"))
        }
        defer { currentIndex += 1 }
        return rows[currentIndex]
    }

    private func decoder(of row: Row) -> RecordDecoder {
        RecordDecoder(Void.self, row: row, recordType: recordType, codingPath: codingPath, userInfo: userInfo)
    }

    private func open<Record: FetchableRecord, Value>(_ type: Record.Type, _ row: Row) throws -> Value {
        // It is the same type, where the compiler does not know it.
        unsafeBitCast(try Record(row: row), to: Value.self)
    }

    /// Decodes the first column of a row.
    private func openValue<Other: DatabaseValueConvertible, Value>(
        _ type: Other.Type, _ row: Row
    ) throws -> Value {
        // It is the same type, where the compiler does not know it.
        unsafeBitCast(try row.decode(Other.self, atIndex: 0), to: Value.self)
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        decoder(of: try nextRow(type)).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw mismatch([Any].self, "a row is not an array")
    }

    mutating func superDecoder() throws -> any Decoder { decoder(of: try nextRow(Any.self)) }
}

/// Decodes an optional array or set of rows.
private struct RowsSingleValueContainer: SingleValueDecodingContainer, RefusingDecodedScalars {
    let decoder: RowsDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }
    func decodeNil() -> Bool { false }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try type.init(from: decoder) }
}

/// Refuses to decode scalars from what is a row.
protocol RefusingDecodedScalars {
    var codingPath: [any CodingKey] { get }
}

extension RefusingDecodedScalars {
    private func refusal(_ type: Any.Type) -> DecodingError {
        .typeMismatch(
            type,
            DecodingError.Context(codingPath: codingPath, debugDescription: "a row is not a single value"))
    }

    func decode(_ type: Bool.Type) throws -> Bool { throw refusal(type) }
    func decode(_ type: String.Type) throws -> String { throw refusal(type) }
    func decode(_ type: Double.Type) throws -> Double { throw refusal(type) }
    func decode(_ type: Float.Type) throws -> Float { throw refusal(type) }
    func decode(_ type: Int.Type) throws -> Int { throw refusal(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { throw refusal(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { throw refusal(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { throw refusal(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { throw refusal(type) }
    func decode(_ type: UInt.Type) throws -> UInt { throw refusal(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { throw refusal(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { throw refusal(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { throw refusal(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { throw refusal(type) }
}
