import Foundation

// What records encode into nested containers, which become the JSON of a column.

/// A value of a nested container. The containers fill it in after they were handed out.
final class NestedValue: Encodable {
    fileprivate enum Content {
        case null
        case value(any Encodable)
        case object([(key: NestedKey, value: NestedValue)])
        case array([NestedValue])
    }

    fileprivate var content: Content

    fileprivate init(_ content: Content = .null) { self.content = content }

    func encode(to encoder: any Encoder) throws {
        switch content {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .value(let value):
            // Not `value.encode(to:)`: the JSON encoder knows how dates and bytes are written.
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .object(let members):
            var container = encoder.container(keyedBy: NestedKey.self)
            for (key, value) in members { try container.encode(value, forKey: key) }
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        }
    }

    fileprivate func set(_ value: NestedValue, forKey key: any CodingKey) {
        var members: [(key: NestedKey, value: NestedValue)] = []
        if case .object(let present) = content { members = present }
        // Held in two places, all members would be copied for each one.
        content = .null
        members.append((NestedKey(stringValue: key.stringValue), value))
        content = .object(members)
    }

    fileprivate func append(_ value: NestedValue) {
        var elements: [NestedValue] = []
        if case .array(let present) = content { elements = present }
        // Held in two places, all elements would be copied for each one.
        content = .null
        elements.append(value)
        content = .array(elements)
    }
}

/// A key of any type.
struct NestedKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { return nil }
}

extension RecordEncoder {
    /// The value that a nested container fills in for a column.
    func nestedValue(forKey key: some CodingKey) -> NestedValue {
        let value = NestedValue()
        let column = column(for: key)
        nestedValues.append((column, value))
        // It takes the column's place among the others.
        storage.set(DatabaseValue.null, for: column)
        return value
    }

    /// Stores what was encoded into nested containers, once the record has been encoded.
    func storeNestedValues(_ type: any EncodableRecord.Type) throws {
        for (column, value) in nestedValues {
            let json = try type.databaseJSONEncoder(for: column).encode(value)
            storage.set(String(decoding: json, as: UTF8.self).databaseValue, for: column)
        }
    }
}

/// Encodes the properties of an object.
struct NestedKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let value: NestedValue

    init(_ value: NestedValue) {
        self.value = value
        value.content = .object([])
    }

    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { value.set(NestedValue(), forKey: key) }

    func encode<T: Encodable>(_ property: T, forKey key: Key) {
        value.set(NestedValue(.value(property)), forKey: key)
    }

    private func newValue(_ key: any CodingKey) -> NestedValue {
        let new = NestedValue()
        value.set(new, forKey: key)
        return new
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(NestedKeyedEncodingContainer<NestedKey>(newValue(key)))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        NestedUnkeyedEncodingContainer(newValue(key))
    }

    func superEncoder() -> any Encoder {
        NestedEncoder(value: newValue(CipherStore.NestedKey(stringValue: "super")))
    }

    func superEncoder(forKey key: Key) -> any Encoder { NestedEncoder(value: newValue(key)) }
}

/// Encodes the elements of an array.
struct NestedUnkeyedEncodingContainer: UnkeyedEncodingContainer {
    let value: NestedValue

    init(_ value: NestedValue) {
        self.value = value
        value.content = .array([])
    }

    var codingPath: [any CodingKey] { [] }
    var count: Int { if case .array(let elements) = value.content { elements.count } else { 0 } }

    func encodeNil() { value.append(NestedValue()) }
    func encode<T: Encodable>(_ element: T) { value.append(NestedValue(.value(element))) }

    private func newValue() -> NestedValue {
        let new = NestedValue()
        value.append(new)
        return new
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(NestedKeyedEncodingContainer<NestedKey>(newValue()))
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        NestedUnkeyedEncodingContainer(newValue())
    }

    func superEncoder() -> any Encoder { NestedEncoder(value: newValue()) }
}

/// Encodes one value.
private struct NestedEncoder: Encoder, SingleValueEncodingContainer {
    let value: NestedValue

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(NestedKeyedEncodingContainer<Key>(value))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { NestedUnkeyedEncodingContainer(value) }
    func singleValueContainer() -> any SingleValueEncodingContainer { self }
    func encodeNil() { value.content = .null }
    func encode<T: Encodable>(_ single: T) { value.content = .value(single) }
}
