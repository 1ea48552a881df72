import Foundation

/// Gives a record its properties.
///
/// It is copied for each property, so that it must not count references. A
/// decoder that is kept outlives it (see ``RecordDecoder/releaseContainer()``),
/// and its owner is of no size. Another container owns the decoder.
struct RecordKeyedDecodingContainer<Key: CodingKey, Owner>: KeyedDecodingContainerProtocol {
    private let reference: Unmanaged<RecordDecoder>
    private let owner: Owner

    init(_ decoder: RecordDecoder, owner: Owner) {
        reference = .passUnretained(decoder)
        self.owner = owner
    }

    private var decoder: RecordDecoder { reference.takeUnretainedValue() }

    var codingPath: [any CodingKey] { decoder.codingPath }

    var allKeys: [Key] {
        let row = decoder.row
        var names = Set(row.columnNames.map(decoder.key(ofColumn:)))
        names.formUnion(row.scopesTree.names)
        names.formUnion(row.prefetches.names)
        return names.sorted().compactMap { Key(stringValue: $0) }
    }

    func contains(_ key: Key) -> Bool {
        let name = key.stringValue
        return decoder.column(of: name) != nil || decoder.row.scopesTree[name] != nil
            || decoder.prefetchedRows(name) != nil
    }

    func decodeNil(forKey key: Key) -> Bool {
        let property = decoder.property(key)
        let column = decoder.properties[property].column
        if column >= 0, !decoder.row.hasNull(atIndex: column) { return false }
        if decoder.prefetchedRows(key.stringValue) != nil { return false }
        return decoder.scope(property)?.containsNonNullValue != true
    }

    /// Decodes a property that is a value.
    @inline(__always)
    private func value<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ key: Key
    ) throws -> Value {
        try reference._withUnsafeGuaranteedRef { try $0.value(key) }
    }

    /// Decodes a property that is a value, or nil.
    @inline(__always)
    private func optionalValue<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ key: Key
    ) throws -> Value? {
        try reference._withUnsafeGuaranteedRef { try $0.optionalValue(key) }
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try value(key) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try value(key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try value(key) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try value(key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try value(key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try value(key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try value(key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try value(key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try value(key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try value(key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try value(key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try value(key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try value(key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try value(key) }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optionalValue(key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optionalValue(key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optionalValue(key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try optionalValue(key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optionalValue(key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try optionalValue(key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try optionalValue(key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try optionalValue(key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optionalValue(key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try optionalValue(key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try optionalValue(key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try optionalValue(key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try optionalValue(key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try optionalValue(key) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try reference._withUnsafeGuaranteedRef { try $0.decode(type, forKey: key) }
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try reference._withUnsafeGuaranteedRef { try $0.decodeIfPresent(type, forKey: key) }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let property = decoder.property(key)
        guard let scope = decoder.scope(property) else {
            if let json = try decoder.json(property) { return try json.container(keyedBy: type) }
            throw RowDecodingError(.keyNotFound(.scope(key.stringValue)), type: "a scope", row: decoder.row)
        }
        return decoder.decoder(of: scope, forKey: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        guard let rows = decoder.prefetchedRows(key.stringValue) else {
            if let json = try decoder.json(decoder.property(key)) { return try json.unkeyedContainer() }
            throw RowDecodingError(
                .keyNotFound(.prefetchedRows(key.stringValue)), type: "an array", row: decoder.row)
        }
        return decoder.rowsDecoder(rows, forKey: key)
    }

    /// The columns of a superclass are columns of the record.
    func superDecoder() -> any Decoder { decoder }
    func superDecoder(forKey key: Key) -> any Decoder { decoder }
}
