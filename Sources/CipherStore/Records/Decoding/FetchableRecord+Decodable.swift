import Foundation

extension FetchableRecord {
    /// Nothing.
    public static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] { [:] }

    /// A decoder that reads data from Base64 and dates from milliseconds since
    /// 1970, and throws for numbers that are not finite.
    public static func databaseJSONDecoder(for column: String) -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dataDecodingStrategy = .base64
        decoder.dateDecodingStrategy = .millisecondsSince1970
        decoder.nonConformingFloatDecodingStrategy = .throw
        decoder.userInfo = databaseDecodingUserInfo.assumedSendable
        return decoder
    }

    /// From blobs and text.
    public static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy {
        .deferredToData
    }

    /// From SQLite's date formats and Unix timestamps.
    public static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .deferredToDate
    }

    /// The keys as they are.
    public static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { .useDefaultKeys }
}

extension FetchableRecord where Self: Decodable {
    /// Decodes the properties of the record from columns.
    ///
    /// A property that has a database value is read from the column of its
    /// coding key. One that decodes from a single value, such as an enum with a
    /// raw value, decodes from that column. Others are decoded from the scope or
    /// the prefetched rows of that name, or from the column's JSON.
    public init(row: Row) throws {
        self = try RecordDecoder.decode(Self.self, from: row)
    }
}

/// Decodes `Decodable` records from rows.
///
/// A record type that needs its own `init(row:)` can use it there:
///
/// ```swift
/// init(row: Row) throws {
///     self = try FetchableRecordDecoder().decode(Player.self, from: row)
///     isFetched = true
/// }
/// ```
public struct FetchableRecordDecoder: Sendable {
    /// Makes a decoder.
    public init() {}

    /// Decodes a record.
    ///
    /// - throws: ``RowDecodingError`` or `DecodingError`.
    public func decode<Record: FetchableRecord & Decodable>(
        _ type: Record.Type, from row: Row
    ) throws -> Record {
        try RecordDecoder.decode(type, from: row)
    }
}
