/// Decodes an array or a set from the rows of another request.
struct RowsDecoder: Decoder {
    let rows: AssociatedRowList
    let recordType: any FetchableRecord.Type
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any]

    private(set) var currentIndex = 0

    /// The row that moves from one record to the next, so that its decoder serves all.
    private let movingRow: Row?
    /// How elements of a type are decoded: mostly all are of one type.
    private var kind: (type: ObjectIdentifier, source: ElementSource)?

    init(
        rows: AssociatedRowList, recordType: any FetchableRecord.Type, codingPath: [any CodingKey],
        userInfo: [CodingUserInfoKey: Any]
    ) {
        self.rows = rows
        self.recordType = recordType
        self.codingPath = codingPath
        self.userInfo = userInfo
        if case .places(_, let block) = rows { movingRow = block.movingRow() } else { movingRow = nil }
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
        switch source(of: type) {
        case .record(let record): try open(record, nextRow(type, isBrief: true))
        case .value(let value): try openValue(value, nextRow(type, isBrief: true))
        case .decodable: try type.init(from: decoder(of: nextRow(type)))
        }
    }

    private mutating func source<T: Decodable>(of type: T.Type) -> ElementSource {
        if let kind, kind.type == ObjectIdentifier(type) { return kind.source }
        let source = ElementSource(type)
        kind = (ObjectIdentifier(type), source)
        return source
    }

    /// Returns the next row.
    ///
    /// - parameter isBrief: Whether it is not used after the element was decoded.
    private mutating func nextRow(_ type: Any.Type, isBrief: Bool = false) throws -> Row {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                type, DecodingError.Context(codingPath: codingPath, debugDescription: "no more rows"))
        }
        defer { currentIndex += 1 }
        guard isBrief, let movingRow, case .places(let places, let block) = rows else {
            return rows[currentIndex]
        }
        movingRow.move(to: block.offset(of: places[currentIndex]))
        return movingRow
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

/// How an element is decoded from a row.
private enum ElementSource {
    case record(any FetchableRecord.Type)
    /// From the first column.
    case value(any DatabaseValueConvertible.Type)
    case decodable

    init(_ type: any Decodable.Type) {
        if let record = type as? any FetchableRecord.Type {
            self = .record(record)
        } else if let value = type as? any DatabaseValueConvertible.Type {
            self = .value(value)
        } else {
            self = .decodable
        }
    }
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
