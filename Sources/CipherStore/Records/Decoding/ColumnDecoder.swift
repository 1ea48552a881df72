import Foundation

/// Decodes a property from the single value of its column.
///
/// A property that asks for a container of several values is stored as JSON.
final class ColumnDecoder {
    /// What a type that needs JSON is stopped with.
    private struct JSONRequired: Error {}

    private unowned let recordDecoder: RecordDecoder
    private var column = 0
    private var name = ""
    private var key: (any CodingKey)?
    private var requiresJSON = false

    private var row: Row { recordDecoder.row }

    init(_ recordDecoder: RecordDecoder) {
        self.recordDecoder = recordDecoder
    }

    /// Decodes a column.
    ///
    /// - returns: nil when the type needs JSON.
    func decode<Value: Decodable>(
        _ type: Value.Type, at column: Int, name: String, key: any CodingKey
    ) throws -> Value? {
        self.column = column
        self.name = name
        self.key = key
        requiresJSON = false
        do {
            let value = try type.init(from: self)
            return value
        } catch  where requiresJSON {
            return nil
        }
    }
}

extension ColumnDecoder: Decoder {
    var codingPath: [any CodingKey] { recordDecoder.codingPath + (key.map { [$0] } ?? []) }
    var userInfo: [CodingUserInfoKey: Any] { recordDecoder.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        requiresJSON = true
        throw JSONRequired()
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        requiresJSON = true
        throw JSONRequired()
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension ColumnDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { row.hasNull(atIndex: column) }
    func decode(_ type: Bool.Type) throws -> Bool { try row.decode(atIndex: column) }
    func decode(_ type: String.Type) throws -> String { try row.decode(atIndex: column) }
    func decode(_ type: Double.Type) throws -> Double { try row.decode(atIndex: column) }
    func decode(_ type: Float.Type) throws -> Float { try row.decode(atIndex: column) }
    func decode(_ type: Int.Type) throws -> Int { try row.decode(atIndex: column) }
    func decode(_ type: Int8.Type) throws -> Int8 { try row.decode(atIndex: column) }
    func decode(_ type: Int16.Type) throws -> Int16 { try row.decode(atIndex: column) }
    func decode(_ type: Int32.Type) throws -> Int32 { try row.decode(atIndex: column) }
    func decode(_ type: Int64.Type) throws -> Int64 { try row.decode(atIndex: column) }
    func decode(_ type: UInt.Type) throws -> UInt { try row.decode(atIndex: column) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try row.decode(atIndex: column) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try row.decode(atIndex: column) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try row.decode(atIndex: column) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try row.decode(atIndex: column) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        // The unsafe casts are between a type and itself.
        if type == Date.self {
            let strategy = recordDecoder.recordType.databaseDateDecodingStrategy(for: name)
            return unsafeBitCast(try strategy.decode(row, at: column), to: type)
        }
        if type == Data.self {
            let strategy = recordDecoder.recordType.databaseDataDecodingStrategy(for: name)
            return unsafeBitCast(try strategy.decode(row, at: column), to: type)
        }
        if !(type is any AnyOptional.Type), let value = type as? any DatabaseValueConvertible.Type {
            return try open(value)
        }
        return try type.init(from: self)
    }

    private func open<Other: DatabaseValueConvertible, Value>(_ type: Other.Type) throws -> Value {
        unsafeBitCast(try row.decode(type, atIndex: column), to: Value.self)
    }
}
