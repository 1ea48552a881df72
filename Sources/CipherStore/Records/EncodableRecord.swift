import Foundation

/// A type that encodes itself into the columns of a table.
///
/// ```swift
/// struct Place: EncodableRecord {
///     var title: String
///     var latitude: Double
///
///     func encode(to container: inout PersistenceContainer) {
///         container["title"] = title
///         container["latitude"] = latitude
///     }
/// }
/// ```
///
/// A type that conforms to `Encodable` needs no `encode(to:)` of its own.
public protocol EncodableRecord {
    /// Puts the values to store into a container.
    ///
    /// - throws: Whatever keeps the record from being encoded.
    func encode(to container: inout PersistenceContainer) throws

    /// What the encoder of an `Encodable` record has in its `userInfo`.
    static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { get }

    /// The encoder for a property that is stored as JSON.
    ///
    /// Give its output a stable order (`.sortedKeys`), or equal records may
    /// look different.
    static func databaseJSONEncoder(for column: String) -> JSONEncoder

    /// How an `Encodable` record stores a `Data` property.
    static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy

    /// How an `Encodable` record stores a `Date` property.
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy

    /// How an `Encodable` record stores a `UUID` property.
    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy

    /// How an `Encodable` record derives a column from a coding key.
    static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { get }
}

extension EncodableRecord {
    /// Nothing.
    public static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { [:] }

    /// An encoder that writes data in Base64, dates in milliseconds since 1970
    /// and keys in order, and throws for numbers that are not finite.
    public static func databaseJSONEncoder(for column: String) -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dataEncodingStrategy = .base64
        encoder.dateEncodingStrategy = .millisecondsSince1970
        encoder.nonConformingFloatEncodingStrategy = .throw
        encoder.outputFormatting = .sortedKeys
        encoder.userInfo = databaseEncodingUserInfo.assumedSendable
        return encoder
    }

    /// As blobs.
    public static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy {
        .deferredToData
    }

    /// As text in UTC.
    public static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .deferredToDate
    }

    /// As blobs of 16 bytes.
    public static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
        .deferredToUUID
    }

    /// The keys as they are.
    public static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { .useDefaultKeys }
}

extension EncodableRecord {
    /// The columns of the record and their values.
    ///
    /// - throws: What ``encode(to:)`` throws.
    public var databaseDictionary: [String: DatabaseValue] {
        get throws { try PersistenceContainer(self).dictionary }
    }
}

extension [CodingUserInfoKey: Any] {
    /// The same dictionary for a coder of Foundation, which asks for values that
    /// are safe to share. The coder stays on the thread that asked for it.
    ///
    /// `Sendable` exists at compile time only, so the two types have one layout.
    var assumedSendable: [CodingUserInfoKey: any Sendable] {
        isEmpty ? [:] : unsafeBitCast(self, to: [CodingUserInfoKey: any Sendable].self)
    }
}
