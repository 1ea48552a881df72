import Foundation

extension EncodableRecord where Self: Encodable {
    /// Encodes the properties of the record into columns.
    ///
    /// A property that has a database value is stored as that value. One that
    /// encodes as a single value, such as an enum with a raw value, is stored
    /// as what it encodes. Others, such as arrays and nested containers, are stored as JSON text.
    public func encode(to container: inout PersistenceContainer) throws {
        container.makeUnique()
        let encoder = container.storage.encoder.take() ?? RecordEncoder()
        encoder.begin(type(of: self), container.storage)
        defer { encoder.storage.encoder = encoder.end() }
        try encode(to: encoder as any Encoder)
        if !encoder.nestedValues.isEmpty { try encoder.storeNestedValues(type(of: self)) }
    }
}

/// Encodes the properties of an `Encodable` record into columns.
///
/// It can be used for one record after the other. What it finds out about the
/// properties of a record, it remembers for the next one.
final class RecordEncoder {
    /// Where the columns go, while a record is encoded.
    @exclusivity(unchecked) private(set) var storage = PersistenceContainer.Storage()

    @exclusivity(unchecked) private var recordType: (any EncodableRecord.Type)?
    @exclusivity(unchecked) private var columnStrategy = DatabaseColumnEncodingStrategy.useDefaultKeys
    @exclusivity(unchecked) private var properties: [EncodedProperty] = []
    private var snakeCaseNames: [String: String] = [:]
    /// The box of the container, and the type of its keys.
    @exclusivity(unchecked) private var keyedContainer: AnyObject?
    @exclusivity(unchecked) private var keyType: ObjectIdentifier?
    /// What nested containers are to fill in.
    @exclusivity(unchecked) var nestedValues: [(column: String, value: NestedValue)] = []
    private let idleStorage = PersistenceContainer.Storage()
    private lazy var columnEncoder = ColumnEncoder(self)

    fileprivate(set) var databaseUserInfo: [CodingUserInfoKey: Any] = [:]

    /// Gets ready for a record.
    func begin(_ type: any EncodableRecord.Type, _ storage: PersistenceContainer.Storage) {
        self.storage = storage
        guard type != recordType else { return }
        recordType = type
        columnStrategy = type.databaseColumnEncodingStrategy
        databaseUserInfo = type.databaseEncodingUserInfo
        properties = []
        keyedContainer = nil
    }

    /// Ends a record, and returns the encoder for the next one.
    ///
    /// - returns: nil when somebody keeps the container, which nobody should:
    ///   it would write into the next record.
    func end() -> RecordEncoder? {
        storage = idleStorage
        if !nestedValues.isEmpty { nestedValues = [] }
        return keyedContainer == nil || isKnownUniquelyReferenced(&keyedContainer) ? self : nil
    }

    /// Puts the columns of another record among those of this one.
    func encode(_ record: any EncodableRecord) throws {
        let container = try PersistenceContainer(record)
        for (column, value) in zip(container.columns, container.values) { storage.set(value, for: column) }
    }

    /// Returns the column of a key.
    @inline(__always)
    func column(for key: some CodingKey) -> String {
        switch columnStrategy {
        case .useDefaultKeys: return key.stringValue
        case .custom(let name): return name(key)
        case .convertToSnakeCase:
            let key = key.stringValue
            if let name = snakeCaseNames[key] { return name }
            let name = key.convertedToSnakeCase
            snakeCaseNames[key] = name
            return name
        }
    }

    /// Encodes a property of a type that is known at run time only.
    func encode<Value: Encodable>(_ value: Value, forKey key: some CodingKey) throws {
        let column = column(for: key)
        storage.set(try databaseValue(of: value, column: column, key: key), for: column)
    }

    private func databaseValue<Value: Encodable>(
        of value: Value, column: String, key: some CodingKey
    ) throws -> DatabaseValue {
        if let value = try directValue(of: value, column: column) { return value }
        let position = storage.values.count
        let kind = property(at: position, Value.self)
        switch kind {
        case .value(let type):
            return open(type, value)
        case .json(let encoder):
            return try json(value, encoder)
        case .encodable:
            if let value = try columnEncoder.encode(value, column: column, key: key) { return value }
            let encoder = jsonEncoder(for: column)
            properties[position].kind = .json(encoder)
            return try json(value, encoder)
        }
    }

    /// The value of a type that has a strategy of its own, or nil for others.
    func directValue<Value>(of value: Value, column: String) throws -> DatabaseValue? {
        // The types are equal, so that the casts change nothing.
        if Value.self == Date.self { return dateValue(unsafeBitCast(value, to: Date.self), column) }
        if Value.self == UUID.self { return uuidValue(unsafeBitCast(value, to: UUID.self), column) }
        if Value.self == Data.self { return try dataValue(unsafeBitCast(value, to: Data.self), column) }
        return nil
    }

    private func dateValue(_ date: Date, _ column: String) -> DatabaseValue {
        (recordType?.databaseDateEncodingStrategy(for: column) ?? .deferredToDate).databaseValue(of: date)
    }

    private func uuidValue(_ uuid: UUID, _ column: String) -> DatabaseValue {
        (recordType?.databaseUUIDEncodingStrategy(for: column) ?? .deferredToUUID).databaseValue(of: uuid)
    }

    private func dataValue(_ data: Data, _ column: String) throws -> DatabaseValue {
        try (recordType?.databaseDataEncodingStrategy(for: column) ?? .deferredToData).databaseValue(of: data)
    }

    private func open<Other: DatabaseValueConvertible>(
        _ type: Other.Type, _ value: some Encodable
    ) -> DatabaseValue {
        // It is the type of the value, seen as one that has a database value.
        unsafeBitCast(value, to: type).databaseValue
    }

    private func json(_ value: some Encodable, _ encoder: JSONEncoder) throws -> DatabaseValue {
        String(decoding: try encoder.encode(value), as: UTF8.self).databaseValue
    }

    private func jsonEncoder(for column: String) -> JSONEncoder {
        recordType?.databaseJSONEncoder(for: column) ?? JSONEncoder()
    }

    /// Returns how the property at a position is encoded.
    private func property<Value: Encodable>(at position: Int, _ type: Value.Type) -> EncodedProperty.Kind {
        let identifier = ObjectIdentifier(type)
        if position < properties.count, properties[position].type == identifier {
            return properties[position].kind
        }
        let kind = EncodedProperty.Kind(type)
        let property = EncodedProperty(type: identifier, kind: kind)
        while properties.count <= position { properties.append(property) }
        properties[position] = property
        return kind
    }
}

/// How a property of a record is encoded.
private struct EncodedProperty {
    enum Kind {
        /// By the database value that its type gives.
        case value(any DatabaseValueConvertible.Type)
        /// By what its type encodes.
        case encodable
        /// As JSON.
        case json(JSONEncoder)

        init(_ type: any Encodable.Type) {
            // An optional gives its value to the encoder, which knows the strategies.
            if !(type is any AnyOptional.Type), let type = type as? any DatabaseValueConvertible.Type {
                self = .value(type)
            } else {
                self = .encodable
            }
        }
    }

    let type: ObjectIdentifier
    var kind: Kind
}

/// Any `Optional`.
protocol AnyOptional {}
extension Optional: AnyOptional {}

extension RecordEncoder: Encoder {
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { databaseUserInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        // Each record of a type asks for the same container.
        if let keyedContainer, keyType == ObjectIdentifier(type) {
            // The container is nothing but a reference to its box.
            return unsafeBitCast(keyedContainer, to: KeyedEncodingContainer<Key>.self)
        }
        let container = KeyedEncodingContainer(RecordKeyedEncodingContainer<Key>(encoder: self))
        if MemoryLayout.size(ofValue: container) == MemoryLayout<AnyObject>.size {
            keyedContainer = unsafeBitCast(container, to: AnyObject.self)
            keyType = ObjectIdentifier(type)
        }
        return container
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        RefusingEncodingContainer(reason: "a record is not an array")
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        RecordSingleValueContainer(encoder: self)
    }
}

/// Encodes what a record encodes instead of itself.
private struct RecordSingleValueContainer: SingleValueEncodingContainer, RefusingScalars {
    let encoder: RecordEncoder

    var codingPath: [any CodingKey] { [] }
    var reason: String { "a record is not a single value" }

    func encode<T: Encodable>(_ value: T) throws {
        if let record = value as? any EncodableRecord {
            try encoder.encode(record)
        } else {
            try value.encode(to: encoder)
        }
    }
}
