import Foundation

/// Puts the properties of a record into columns.
///
/// It is copied for each property, so that it must not count references. The
/// container that an encoder keeps for one record after the other is outlived by
/// the encoder (see ``RecordEncoder/end()``), and its owner is of no size. Another
/// container owns the encoder.
struct RecordKeyedEncodingContainer<Key: CodingKey, Owner>: KeyedEncodingContainerProtocol {
    private let reference: Unmanaged<RecordEncoder>
    private let owner: Owner

    init(_ encoder: RecordEncoder, owner: Owner) {
        reference = .passUnretained(encoder)
        self.owner = owner
    }

    private var encoder: RecordEncoder { reference.takeUnretainedValue() }

    var codingPath: [any CodingKey] { [] }

    @inline(__always)
    private func set(_ key: Key, _ value: (RecordEncoder) throws -> EncodedValue) rethrows {
        try reference._withUnsafeGuaranteedRef { $0.set(try value($0), for: key) }
    }

    func encodeNil(forKey key: Key) { set(key) { _ in .null } }
    func encode(_ value: Bool, forKey key: Key) { set(key) { _ in EncodedValue(value ? 1 as Int64 : 0) } }
    func encode(_ value: String, forKey key: Key) { set(key) { $0.storage.text(value) } }
    func encode(_ value: Double, forKey key: Key) { set(key) { _ in EncodedValue(value) } }
    func encode(_ value: Float, forKey key: Key) { set(key) { _ in EncodedValue(Double(value)) } }
    func encode(_ value: Int, forKey key: Key) { set(key) { _ in EncodedValue(Int64(value)) } }
    func encode(_ value: Int8, forKey key: Key) { set(key) { _ in EncodedValue(Int64(value)) } }
    func encode(_ value: Int16, forKey key: Key) { set(key) { _ in EncodedValue(Int64(value)) } }
    func encode(_ value: Int32, forKey key: Key) { set(key) { _ in EncodedValue(Int64(value)) } }
    func encode(_ value: Int64, forKey key: Key) { set(key) { _ in EncodedValue(value) } }
    func encode(_ value: UInt, forKey key: Key) throws { try set(key) { try $0.integer(value) } }
    func encode(_ value: UInt8, forKey key: Key) { set(key) { _ in EncodedValue(Int64(value)) } }
    func encode(_ value: UInt16, forKey key: Key) { set(key) { _ in EncodedValue(Int64(value)) } }
    func encode(_ value: UInt32, forKey key: Key) { set(key) { _ in EncodedValue(Int64(value)) } }
    func encode(_ value: UInt64, forKey key: Key) throws { try set(key) { try $0.integer(value) } }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try reference._withUnsafeGuaranteedRef { try $0.encode(value, forKey: key) }
    }

    // The standard implementations of these leave nil out, where a column must be NULL.

    func encodeIfPresent(_ value: Bool?, forKey key: Key) {
        if let value { encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    func encodeIfPresent(_ value: String?, forKey key: Key) {
        if let value { encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    func encodeIfPresent(_ value: Double?, forKey key: Key) {
        if let value { encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    func encodeIfPresent(_ value: Float?, forKey key: Key) {
        if let value { encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    func encodeIfPresent(_ value: Int?, forKey key: Key) {
        if let value { encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    func encodeIfPresent(_ value: Int8?, forKey key: Key) {
        if let value { encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    func encodeIfPresent(_ value: Int16?, forKey key: Key) {
        if let value { encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    func encodeIfPresent(_ value: Int32?, forKey key: Key) {
        if let value { encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    func encodeIfPresent(_ value: Int64?, forKey key: Key) {
        if let value { encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    func encodeIfPresent(_ value: UInt8?, forKey key: Key) {
        if let value { encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    func encodeIfPresent(_ value: UInt16?, forKey key: Key) {
        if let value { encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    func encodeIfPresent(_ value: UInt32?, forKey key: Key) {
        if let value { encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
        if let value { return try encode(value, forKey: key) }
        if T.self == UUID.self { encoder.noteNilUUID() }
        encodeNil(forKey: key)
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
