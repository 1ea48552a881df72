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
        let storage = container.storage
        encoder.begin(type(of: self), storage)
        defer { storage.encoder = encoder.end() }
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
    @exclusivity(unchecked) private var currentStorage: PersistenceContainer.Storage?

    /// Where the columns go: nowhere, for who keeps a container beyond its record.
    @inline(__always)
    var storage: PersistenceContainer.Storage { currentStorage ?? PersistenceContainer.Storage() }

    @exclusivity(unchecked) private var recordType: (any EncodableRecord.Type)?
    @exclusivity(unchecked) private var columnStrategy = DatabaseColumnEncodingStrategy.useDefaultKeys
    @exclusivity(unchecked) private var properties: [EncodedProperty] = []
    private var snakeCaseNames: [String: String] = [:]
    private var jsonEncoders: [String: JSONEncoder] = [:]

    /// The keys of the columns of a layout, as far as they are known.
    private let keys = ExpectedKeys()
    @exclusivity(unchecked) private var layout = ColumnLayout.empty

    /// What has the container, and the type of its keys.
    @exclusivity(unchecked) private var containerSource: (any AnyContainerSource)?
    @exclusivity(unchecked) private var keyType: ObjectIdentifier?

    /// What nested containers are to fill in.
    @exclusivity(unchecked) var nestedValues: [(column: String, value: NestedValue)] = []
    private lazy var columnEncoder = ColumnEncoder(self)

    fileprivate(set) var databaseUserInfo: [CodingUserInfoKey: Any] = [:]

    /// Gets ready for a record.
    func begin(_ type: any EncodableRecord.Type, _ storage: PersistenceContainer.Storage) {
        currentStorage = storage
        if type != recordType {
            recordType = type
            columnStrategy = type.databaseColumnEncodingStrategy
            databaseUserInfo = type.databaseEncodingUserInfo
            properties = []
            jsonEncoders = [:]
            containerSource = nil
            keys.removeAll()
        }
        if layout !== storage.layout {
            layout = storage.layout
            keys.removeAll()
        }
    }

    /// Ends a record, and returns the encoder for the next one.
    ///
    /// - returns: nil when somebody keeps the container, which nobody should:
    ///   it would write into the next record.
    func end() -> RecordEncoder? {
        currentStorage = nil
        if !nestedValues.isEmpty { nestedValues = [] }
        guard let containerSource, !containerSource.isOnlyOwner() else { return self }
        // The container does not keep the encoder, so the encoder is given up.
        _ = Unmanaged.passRetained(self)
        return nil
    }

    /// Puts the columns of another record among those of this one.
    func encode(_ record: any EncodableRecord) throws {
        let container = try PersistenceContainer(record)
        for (column, value) in zip(container.columns, container.values) { storage.set(value, for: column) }
    }

    // MARK: Columns

    /// Sets the column of a key.
    @inline(__always)
    func set<Key: CodingKey>(_ value: EncodedValue, for key: Key) {
        if storage.isFollowing, keys.has(key, at: storage.count) {
            storage.append(value)
        } else {
            setUnexpected(value, for: key)
        }
    }

    @inline(never)
    private func setUnexpected(_ value: EncodedValue, for key: some CodingKey) {
        setUnexpected(value, for: key, column: column(for: key))
    }

    private func setUnexpected(_ value: EncodedValue, for key: some CodingKey, column: String) {
        let position = storage.count
        let wasFollowing = storage.isFollowing
        storage.set(value, for: column)
        // It was the layout's column if the record still follows the layout, one position further.
        guard wasFollowing, storage.count == position + 1,
            storage.isFollowing || storage.completedLayout != nil
        else { return }
        keys.learn(key, at: position)
    }

    /// The column of a key.
    @inline(__always)
    func column(for key: some CodingKey) -> String {
        if storage.isFollowing, keys.has(key, at: storage.count) { return layout.names[storage.count] }
        return makeColumn(for: key)
    }

    @inline(never)
    private func makeColumn(for key: some CodingKey) -> String {
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

    /// Notes that the UUID that is set next is nil.
    func noteNilUUID() { storage.noteNilUUID() }

    // MARK: Values

    /// Encodes a property of a type that is known at run time only.
    func encode<Value: Encodable>(_ value: Value, forKey key: some CodingKey) throws {
        let column = column(for: key)
        let encoded: EncodedValue
        // The types are equal, so that the casts change nothing.
        if Value.self == Date.self {
            encoded = encodedDate(unsafeBitCast(value, to: Date.self), column)
        } else if Value.self == UUID.self {
            encoded = encodedUUID(unsafeBitCast(value, to: UUID.self), column)
        } else {
            encoded = storage.encoded(try databaseValue(of: value, column: column, key: key))
        }
        if storage.isFollowing, keys.has(key, at: storage.count) {
            storage.append(encoded)
        } else {
            setUnexpected(encoded, for: key, column: column)
        }
    }

    /// Encodes an integer of a type that is larger than those of SQLite.
    ///
    /// - throws: A ``DatabaseError`` of code `SQLITE_MISMATCH` when it is out of range.
    func integer(_ value: some FixedWidthInteger) throws -> EncodedValue {
        if let value = Int64(exactly: value) { return EncodedValue(value) }
        throw DatabaseValue(unencodable: value).encodingError ?? DatabaseError(resultCode: .SQLITE_MISMATCH)
    }

    private func encodedDate(_ date: Date, _ column: String) -> EncodedValue {
        let strategy = recordType?.databaseDateEncodingStrategy(for: column) ?? .deferredToDate
        if case .deferredToDate = strategy { return storage.date(date) }
        return storage.encoded(strategy.databaseValue(of: date))
    }

    private func encodedUUID(_ uuid: UUID, _ column: String) -> EncodedValue {
        let strategy = recordType?.databaseUUIDEncodingStrategy(for: column) ?? .deferredToUUID
        if case .deferredToUUID = strategy { return storage.uuid(uuid) }
        return storage.encoded(strategy.databaseValue(of: uuid))
    }

    private func databaseValue<Value: Encodable>(
        of value: Value, column: String, key: some CodingKey
    ) throws -> DatabaseValue {
        if let value = try directValue(of: value, column: column) { return value }
        switch property(at: storage.count, Value.self) {
        case .value(let type):
            return open(type, value)
        case .encodable:
            // Each value is asked: others of its type may be nil, or a single value where this one is several.
            if let value = try columnEncoder.encode(value, column: column, key: key) { return value }
            return String(decoding: try jsonEncoder(for: column).encode(value), as: UTF8.self).databaseValue
        }
    }

    /// The value of a type that has a strategy of its own, or nil for others.
    func directValue<Value>(of value: Value, column: String) throws -> DatabaseValue? {
        // The types are equal, so that the casts change nothing.
        if Value.self == Date.self {
            let strategy = recordType?.databaseDateEncodingStrategy(for: column) ?? .deferredToDate
            return strategy.databaseValue(of: unsafeBitCast(value, to: Date.self))
        }
        if Value.self == UUID.self {
            let strategy = recordType?.databaseUUIDEncodingStrategy(for: column) ?? .deferredToUUID
            return strategy.databaseValue(of: unsafeBitCast(value, to: UUID.self))
        }
        if Value.self == Data.self {
            let strategy = recordType?.databaseDataEncodingStrategy(for: column) ?? .deferredToData
            return try strategy.databaseValue(of: unsafeBitCast(value, to: Data.self))
        }
        return nil
    }

    private func open<Other: DatabaseValueConvertible>(
        _ type: Other.Type, _ value: some Encodable
    ) -> DatabaseValue {
        // It is the type of the value, seen as one that has a database value.
        unsafeBitCast(value, to: type).databaseValue
    }

    /// The JSON encoder of a column, which is asked for once.
    private func jsonEncoder(for column: String) -> JSONEncoder {
        if let encoder = jsonEncoders[column] { return encoder }
        let encoder = recordType?.databaseJSONEncoder(for: column) ?? JSONEncoder()
        jsonEncoders[column] = encoder
        return encoder
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

extension RecordEncoder: Encoder {
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { databaseUserInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        // Each record of a type asks for the same container.
        if let containerSource, keyType == ObjectIdentifier(type) {
            return unsafeDowncast(containerSource, to: ContainerSource<KeyedEncodingContainer<Key>>.self)
                .copy()
        }
        return makeContainer(type)
    }

    @inline(never)
    private func makeContainer<Key: CodingKey>(_ type: Key.Type) -> KeyedEncodingContainer<Key> {
        guard containerSource == nil else {
            // Only the first container is looked after by `end()`: others own the encoder.
            return KeyedEncodingContainer(RecordKeyedEncodingContainer<Key, RecordEncoder>(self, owner: self))
        }
        let container = KeyedEncodingContainer(RecordKeyedEncodingContainer<Key, Void>(self, owner: ()))
        containerSource = ContainerSource(container)
        keyType = ObjectIdentifier(type)
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
