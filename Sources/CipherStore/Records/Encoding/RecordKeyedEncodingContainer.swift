import Foundation

/// Puts the properties of a record into columns.
struct RecordKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    // The encoder has this container, so that it must not be kept by it.
    unowned let encoder: RecordEncoder

    var codingPath: [any CodingKey] { [] }

    private func set(_ value: DatabaseValue, _ key: Key) {
        encoder.storage.set(value, for: encoder.column(for: key))
    }

    func encodeNil(forKey key: Key) { set(.null, key) }
    func encode(_ value: Bool, forKey key: Key) { set(value.databaseValue, key) }
    func encode(_ value: String, forKey key: Key) { set(value.databaseValue, key) }
    func encode(_ value: Double, forKey key: Key) { set(value.databaseValue, key) }
    func encode(_ value: Float, forKey key: Key) { set(value.databaseValue, key) }
    func encode(_ value: Int, forKey key: Key) { set(value.databaseValue, key) }
    func encode(_ value: Int8, forKey key: Key) { set(value.databaseValue, key) }
    func encode(_ value: Int16, forKey key: Key) { set(value.databaseValue, key) }
    func encode(_ value: Int32, forKey key: Key) { set(value.databaseValue, key) }
    func encode(_ value: Int64, forKey key: Key) { set(value.databaseValue, key) }
    func encode(_ value: UInt, forKey key: Key) { set(value.databaseValue, key) }
    func encode(_ value: UInt8, forKey key: Key) { set(value.databaseValue, key) }
    func encode(_ value: UInt16, forKey key: Key) { set(value.databaseValue, key) }
    func encode(_ value: UInt32, forKey key: Key) { set(value.databaseValue, key) }
    func encode(_ value: UInt64, forKey key: Key) { set(value.databaseValue, key) }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try encoder.encode(value, forKey: key)
    }

    // The standard implementations of these leave nil out, where a column must be NULL.

    func encodeIfPresent(_ value: Bool?, forKey key: Key) { set(value?.databaseValue ?? .null, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) { set(value?.databaseValue ?? .null, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) { set(value?.databaseValue ?? .null, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) { set(value?.databaseValue ?? .null, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) { set(value?.databaseValue ?? .null, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) { set(value?.databaseValue ?? .null, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) { set(value?.databaseValue ?? .null, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) { set(value?.databaseValue ?? .null, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) { set(value?.databaseValue ?? .null, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) { set(value?.databaseValue ?? .null, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) { set(value?.databaseValue ?? .null, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) { set(value?.databaseValue ?? .null, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) { set(value?.databaseValue ?? .null, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) { set(value?.databaseValue ?? .null, key) }

    func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
        if let value { return try encoder.encode(value, forKey: key) }
        if T.self == UUID.self { encoder.storage.noteNilUUID() }
        set(.null, key)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(NestedKeyedEncodingContainer<NestedKey>(encoder.nestedValue(forKey: key)))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        NestedUnkeyedEncodingContainer(encoder.nestedValue(forKey: key))
    }

    /// The columns of a superclass are columns of the record.
    func superEncoder() -> any Encoder { encoder }
    func superEncoder(forKey key: Key) -> any Encoder { encoder }
}
