/// Encodes a property as a single value.
///
/// A property that asks for a container of several values is to be stored as
/// JSON instead.
final class ColumnEncoder {
    private unowned let recordEncoder: RecordEncoder
    private var column = ""
    private var key: (any CodingKey)?
    private var value: DatabaseValue?
    private var requiresJSON = false

    init(_ recordEncoder: RecordEncoder) {
        self.recordEncoder = recordEncoder
    }

    /// Encodes a value.
    ///
    /// - returns: nil when the value needs JSON.
    func encode(_ value: some Encodable, column: String, key: any CodingKey) throws -> DatabaseValue? {
        self.column = column
        self.key = key
        self.value = nil
        requiresJSON = false
        do {
            try value.encode(to: self)
        } catch  where requiresJSON {
            return nil
        }
        return requiresJSON ? nil : self.value ?? .null
    }
}

extension ColumnEncoder: Encoder {
    var codingPath: [any CodingKey] { key.map { [$0] } ?? [] }
    var userInfo: [CodingUserInfoKey: Any] { recordEncoder.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        requiresJSON = true
        return KeyedEncodingContainer(RefusingKeyedEncodingContainer<Key>(reason: "JSON is required"))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        requiresJSON = true
        return RefusingEncodingContainer(reason: "JSON is required")
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension ColumnEncoder: SingleValueEncodingContainer {
    func encodeNil() { value = .null }
    func encode(_ value: Bool) { self.value = value.databaseValue }
    func encode(_ value: String) { self.value = value.databaseValue }
    func encode(_ value: Double) { self.value = value.databaseValue }
    func encode(_ value: Float) { self.value = value.databaseValue }
    func encode(_ value: Int) { self.value = value.databaseValue }
    func encode(_ value: Int8) { self.value = value.databaseValue }
    func encode(_ value: Int16) { self.value = value.databaseValue }
    func encode(_ value: Int32) { self.value = value.databaseValue }
    func encode(_ value: Int64) { self.value = value.databaseValue }
    func encode(_ value: UInt) { self.value = value.databaseValue }
    func encode(_ value: UInt8) { self.value = value.databaseValue }
    func encode(_ value: UInt16) { self.value = value.databaseValue }
    func encode(_ value: UInt32) { self.value = value.databaseValue }
    func encode(_ value: UInt64) { self.value = value.databaseValue }

    func encode<T: Encodable>(_ value: T) throws {
        if let value = try recordEncoder.directValue(of: value, column: column) {
            self.value = value
        } else if let value = value as? any DatabaseValueConvertible {
            self.value = value.databaseValue
        } else {
            try value.encode(to: self)
        }
    }
}
