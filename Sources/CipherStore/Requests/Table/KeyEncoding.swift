import Foundation

/// How the keys of a request are stored: a record that stores its dates, data or
/// UUIDs in a form of its own is found by keys of that form.
struct KeyEncoding {
    private let record: any EncodableRecord.Type

    /// The encoding of a request's keys.
    ///
    /// - returns: nil when keys are stored as all values are.
    init?<Request, Key>(of request: Request.Type, keys: Key.Type) {
        guard Self.customizableTypes.contains(ObjectIdentifier(keys)),
            let request = request as? any TypedRequest.Type,
            let record = Self.rowDecoder(of: request) as? any EncodableRecord.Type
        else { return nil }
        self.record = record
    }

    /// The encoding of a record type's keys; nil when it is the one of all values.
    init?<Record>(ofRecord type: Record.Type) {
        guard let record = type as? any EncodableRecord.Type else { return nil }
        self.record = record
    }

    /// Whether record types choose how they store such keys.
    static func isCustomizable<Key>(_ type: Key.Type) -> Bool {
        customizableTypes.contains(ObjectIdentifier(type))
    }

    private static let customizableTypes: Set<ObjectIdentifier> = [
        ObjectIdentifier(Data.self), ObjectIdentifier(Data?.self),
        ObjectIdentifier(Date.self), ObjectIdentifier(Date?.self),
        ObjectIdentifier(UUID.self), ObjectIdentifier(UUID?.self),
    ]

    private static func rowDecoder<Request: TypedRequest>(of _: Request.Type) -> Any.Type {
        Request.RowDecoder.self
    }

    /// Prepares a key, whose value depends on the column that it is compared with.
    ///
    /// - returns: A function that takes the name of the column.
    func value(of key: some DatabaseValueConvertible) -> @Sendable (String) throws -> DatabaseValue {
        // The strategies are static functions of no actor, and a metatype is constant.
        nonisolated(unsafe) let record = record
        switch key {
        case let data as Data:
            return { try record.databaseDataEncodingStrategy(for: $0).databaseValue(of: data) }
        case let date as Date:
            return { record.databaseDateEncodingStrategy(for: $0).databaseValue(of: date) }
        case let uuid as UUID:
            return { record.databaseUUIDEncodingStrategy(for: $0).databaseValue(of: uuid) }
        default:
            let value = key.databaseValue
            return { _ in value }
        }
    }
}
