import Foundation

// A Codable type is stored as the one database value it encodes, or as JSON
// text when it encodes several. A type that has its own conversion is stored by
// that one, wherever it is encoded.

extension DatabaseValueConvertible {
    /// Returns a decoder that reads what ``databaseJSONEncoder()`` writes: data
    /// in base 64, and dates in milliseconds since 1970.
    public static func databaseJSONDecoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dataDecodingStrategy = .base64
        decoder.dateDecodingStrategy = .millisecondsSince1970
        decoder.nonConformingFloatDecodingStrategy = .throw
        return decoder
    }

    /// Returns an encoder that writes data in base 64, dates in milliseconds
    /// since 1970, and sorted keys, so that equal values are equal texts.
    public static func databaseJSONEncoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dataEncodingStrategy = .base64
        encoder.dateEncodingStrategy = .millisecondsSince1970
        encoder.nonConformingFloatEncodingStrategy = .throw
        encoder.outputFormatting = .sortedKeys
        return encoder
    }
}

extension DatabaseValueConvertible where Self: Encodable {
    /// The one value that the instance encodes, or else JSON text.
    ///
    /// An instance can't be encoded when its own `encode(to:)` throws, or when it
    /// holds a floating-point number that JSON does not have and
    /// ``databaseJSONEncoder()`` does not translate it. A statement or a record
    /// that is to store it throws a ``DatabaseError`` of code `SQLITE_MISMATCH` then.
    public var databaseValue: DatabaseValue {
        do {
            if let value = try SingleValueEncoder.encode(self) { return value }
            let json = try Self.databaseJSONEncoder().encode(self)
            return String(decoding: json, as: UTF8.self).databaseValue
        } catch {
            return DatabaseValue(unencodable: "could not encode \(Self.self) as a database value")
        }
    }
}

extension DatabaseValueConvertible where Self: Decodable {
    /// Decodes the one value that an instance encodes, or else JSON text.
    ///
    /// - returns: nil when the instance can't be decoded.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        let decoder = SingleValueDecoder(dbValue)
        if let value = try? Self(from: decoder) { return value }
        guard decoder.needsJSON, let json = Data.fromDatabaseValue(dbValue) else { return nil }
        return try? databaseJSONDecoder().decode(Self.self, from: json)
    }
}

/// A value needs more than one database value.
private struct NeedsJSON: Error {}

/// Encodes what is one database value, and notices what is not.
private final class SingleValueEncoder: Encoder {
    private var value: DatabaseValue?
    private var needsJSON = false

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Returns the value that an instance encodes, or nil when it needs JSON.
    static func encode(_ instance: some Encodable) throws -> DatabaseValue? {
        let encoder = SingleValueEncoder()
        do {
            try instance.encode(to: encoder)
        } catch  where encoder.needsJSON {
            return nil
        }
        return encoder.needsJSON ? nil : encoder.value
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        needsJSON = true
        return KeyedEncodingContainer(RefusingKeyedContainer<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        needsJSON = true
        return RefusingUnkeyedContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension SingleValueEncoder: SingleValueEncodingContainer {
    func encodeNil() { value = .null }

    func encode<T: Encodable>(_ instance: T) throws {
        if let convertible = instance as? any DatabaseValueConvertible {
            value = convertible.databaseValue
        } else {
            try instance.encode(to: self)
        }
    }
}

/// Stops at the first element, because all will be encoded again as JSON.
private struct RefusingKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: SingleValueEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws { throw NeedsJSON() }
    func encode<T: Encodable>(_ instance: T, forKey key: Key) throws { throw NeedsJSON() }
    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder.container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.unkeyedContainer()
    }
    func superEncoder() -> any Encoder { encoder }
    func superEncoder(forKey key: Key) -> any Encoder { encoder }
}

private struct RefusingUnkeyedContainer: UnkeyedEncodingContainer {
    let encoder: SingleValueEncoder
    var codingPath: [any CodingKey] { [] }
    var count: Int { 0 }

    func encodeNil() throws { throw NeedsJSON() }
    func encode<T: Encodable>(_ instance: T) throws { throw NeedsJSON() }
    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder.container(keyedBy: type)
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder }
}

/// Decodes what is one database value, and notices what is not.
private final class SingleValueDecoder: Decoder {
    private let dbValue: DatabaseValue
    private(set) var needsJSON = false

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ dbValue: DatabaseValue) {
        self.dbValue = dbValue
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        needsJSON = true
        throw NeedsJSON()
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        needsJSON = true
        throw NeedsJSON()
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension SingleValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { dbValue.isNull }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard let convertible = type as? any DatabaseValueConvertible.Type else { return try T(from: self) }
        guard let value = convertible.fromDatabaseValue(dbValue) as? T else {
            throw DecodingError.typeMismatch(
                type, DecodingError.Context(codingPath: [], debugDescription: "The value does not fit."))
        }
        return value
    }
}
