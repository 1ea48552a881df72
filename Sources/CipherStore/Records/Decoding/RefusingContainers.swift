// Containers for what can't be encoded. `Encoder` can't throw when it is asked
// for a container, so that the container must.

/// Refuses the scalar types.
protocol RefusingScalars {
    var reason: String { get }
}

extension RefusingScalars {
    var error: EncodingError {
        .invalidValue(self, EncodingError.Context(codingPath: [], debugDescription: reason))
    }

    func encodeNil() throws { throw error }
    func encode(_ value: Bool) throws { throw error }
    func encode(_ value: String) throws { throw error }
    func encode(_ value: Double) throws { throw error }
    func encode(_ value: Float) throws { throw error }
    func encode(_ value: Int) throws { throw error }
    func encode(_ value: Int8) throws { throw error }
    func encode(_ value: Int16) throws { throw error }
    func encode(_ value: Int32) throws { throw error }
    func encode(_ value: Int64) throws { throw error }
    func encode(_ value: UInt) throws { throw error }
    func encode(_ value: UInt8) throws { throw error }
    func encode(_ value: UInt16) throws { throw error }
    func encode(_ value: UInt32) throws { throw error }
    func encode(_ value: UInt64) throws { throw error }
}

/// Refuses the elements of an array.
struct RefusingEncodingContainer: UnkeyedEncodingContainer, RefusingScalars {
    let reason: String

    var codingPath: [any CodingKey] { [] }
    var count: Int { 0 }

    func encode<T: Encodable>(_ value: T) throws { throw error }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(RefusingKeyedEncodingContainer<NestedKey>(reason: reason))
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func superEncoder() -> any Encoder { RefusingEncoder(reason: reason) }
}

/// Refuses the properties of an object.
struct RefusingKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let reason: String

    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws { throw RefusingEncodingContainer(reason: reason).error }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        throw RefusingEncodingContainer(reason: reason).error
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(RefusingKeyedEncodingContainer<NestedKey>(reason: reason))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        RefusingEncodingContainer(reason: reason)
    }

    func superEncoder() -> any Encoder { RefusingEncoder(reason: reason) }
    func superEncoder(forKey key: Key) -> any Encoder { RefusingEncoder(reason: reason) }
}

/// Refuses everything.
private struct RefusingEncoder: Encoder {
    let reason: String

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RefusingKeyedEncodingContainer<Key>(reason: reason))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingEncodingContainer(reason: reason) }
    func singleValueContainer() -> any SingleValueEncodingContainer {
        RefusingSingleValueContainer(reason: reason)
    }
}

private struct RefusingSingleValueContainer: SingleValueEncodingContainer, RefusingScalars {
    let reason: String
    var codingPath: [any CodingKey] { [] }
    func encode<T: Encodable>(_ value: T) throws { throw error }
}
