import Foundation

/// How `Decodable` records read their `Data` properties.
public enum DatabaseDataDecodingStrategy: Sendable {
    /// From blobs, and from the UTF-8 bytes of text.
    case deferredToData
    /// As the function says; nil is an error.
    case custom(@Sendable (DatabaseValue) -> Data?)
}

/// How `Decodable` records read their `Date` properties.
public enum DatabaseDateDecodingStrategy: @unchecked Sendable {
    // Unchecked for the formatter, which is not changed here and is documented to be safe to
    // share as long as nobody else changes it.

    /// From SQLite's date formats, and from Unix timestamps.
    case deferredToDate
    /// From a number of seconds since the first of January 2001, UTC.
    case timeIntervalSinceReferenceDate
    /// From a number of seconds since the first of January 1970, UTC.
    case timeIntervalSince1970
    /// From a number of milliseconds since the first of January 1970, UTC.
    case millisecondsSince1970
    /// From text such as `"2001-01-01T00:00:00Z"`.
    case iso8601
    /// From text that a formatter reads.
    case formatted(DateFormatter)
    /// As the function says; nil is an error.
    case custom(@Sendable (DatabaseValue) -> Date?)
}

/// How `Decodable` records find the column of a coding key.
public enum DatabaseColumnDecodingStrategy: Sendable {
    /// By the key itself. Names of columns have no case.
    case useDefaultKeys
    /// By the key in snake case: `"record_id"` is read for `"recordId"`.
    case convertFromSnakeCase
    /// By the key that the function makes of the name of a column.
    case custom(@Sendable (String) -> any CodingKey)
}

extension DatabaseDataDecodingStrategy {
    /// Decodes a column.
    func decode(_ row: Row, at index: Int) throws -> Data {
        switch self {
        case .deferredToData: return try row.decode(Data.self, atIndex: index)
        case .custom(let decode):
            let value = row.databaseValue(atIndex: index)
            if let data = decode(value) { return data }
            throw RowDecodingError(.valueMismatch(value), type: "Data", row: row, index: index)
        }
    }
}

extension DatabaseDateDecodingStrategy {
    /// Decodes a column.
    func decode(_ row: Row, at index: Int) throws -> Date {
        switch self {
        case .deferredToDate: return try row.decode(Date.self, atIndex: index)
        default:
            let value = row.databaseValue(atIndex: index)
            if let date = decode(value) { return date }
            throw RowDecodingError(.valueMismatch(value), type: "Date", row: row, index: index)
        }
    }

    private func decode(_ value: DatabaseValue) -> Date? {
        switch self {
        case .deferredToDate: Date.fromDatabaseValue(value)
        case .timeIntervalSinceReferenceDate:
            Double.fromDatabaseValue(value).map { Date(timeIntervalSinceReferenceDate: $0) }
        case .timeIntervalSince1970: Double.fromDatabaseValue(value).map { Date(timeIntervalSince1970: $0) }
        case .millisecondsSince1970:
            Double.fromDatabaseValue(value).map { Date(timeIntervalSince1970: $0 / 1000) }
        case .iso8601: String.fromDatabaseValue(value).flatMap { try? Date($0, strategy: .iso8601) }
        case .formatted(let formatter): String.fromDatabaseValue(value).flatMap { formatter.date(from: $0) }
        case .custom(let decode): decode(value)
        }
    }
}

extension RecordDecoder {
    /// What to say of a key that no column has, or none is converted to.
    func missingKey(_ key: some CodingKey) -> RowDecodingError.Key {
        let name = key.stringValue
        let text = "\(key) (\"\(name)\")"
        switch recordType.databaseColumnDecodingStrategy {
        case .useDefaultKeys: return .column(name)
        case .custom: return .converted(text)
        case .convertFromSnakeCase:
            // "recordID" is written as "record_id", which is read as "recordId".
            let column = name.convertedToSnakeCase
            let reread = column.convertedFromSnakeCase
            let divergence = reread == name ? "" : ", with divergent representation \(reread)"
            return .converted("\(text)\(divergence), converted to \(column)")
        }
    }
}
