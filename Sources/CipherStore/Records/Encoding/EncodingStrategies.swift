import Foundation

/// How `Encodable` records store their `Data` properties.
public enum DatabaseDataEncodingStrategy: Sendable {
    /// As a blob.
    case deferredToData
    /// As text. Bytes that are not UTF-8 make the encoding throw.
    case text
    /// As the function says; nil is NULL.
    case custom(@Sendable (Data) -> (any DatabaseValueConvertible)?)
}

/// How `Encodable` records store their `Date` properties.
public enum DatabaseDateEncodingStrategy: @unchecked Sendable {
    // Unchecked for the formatter, which is not changed here and is documented to be safe to
    // share as long as nobody else changes it.

    /// As `"YYYY-MM-DD HH:MM:SS.SSS"`, in UTC.
    case deferredToDate
    /// As a floating-point number of seconds since the first of January 2001, UTC.
    case timeIntervalSinceReferenceDate
    /// As a floating-point number of seconds since the first of January 1970, UTC.
    case timeIntervalSince1970
    /// As a whole number of seconds since the first of January 1970, UTC.
    case secondsSince1970
    /// As a whole number of milliseconds since the first of January 1970, UTC.
    case millisecondsSince1970
    /// As `"YYYY-MM-DDTHH:MM:SSZ"`.
    case iso8601
    /// As text that a formatter makes.
    case formatted(DateFormatter)
    /// As the function says; nil is NULL.
    case custom(@Sendable (Date) -> (any DatabaseValueConvertible)?)
}

/// How `Encodable` records store their `UUID` properties.
public enum DatabaseUUIDEncodingStrategy: Sendable {
    /// As a blob of 16 bytes.
    case deferredToUUID
    /// As text such as `"E621E1F8-C36C-495A-93FC-0C247A3E6E5F"`.
    case uppercaseString
    /// As text such as `"e621e1f8-c36c-495a-93fc-0c247a3e6e5f"`.
    case lowercaseString
}

/// How `Encodable` records derive the names of columns from coding keys.
public enum DatabaseColumnEncodingStrategy: Sendable {
    /// The key itself.
    case useDefaultKeys
    /// The key in snake case: `"recordID"` is stored in `"record_id"`.
    case convertToSnakeCase
    /// As the function says.
    case custom(@Sendable (any CodingKey) -> String)
}

extension DatabaseDataEncodingStrategy {
    /// Encodes a value.
    ///
    /// - throws: `EncodingError` for bytes that are no text.
    func databaseValue(of data: Data) throws -> DatabaseValue {
        switch self {
        case .deferredToData: return data.databaseValue
        case .custom(let encode): return encode(data)?.databaseValue ?? .null
        case .text:
            guard let text = String(data: data, encoding: .utf8) else {
                throw EncodingError.invalidValue(
                    data, EncodingError.Context(codingPath: [], debugDescription: "Non-UTF8 data"))
            }
            return text.databaseValue
        }
    }
}

extension DatabaseDateEncodingStrategy {
    /// Encodes a value.
    func databaseValue(of date: Date) -> DatabaseValue {
        switch self {
        case .deferredToDate: date.databaseValue
        case .timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.databaseValue
        case .timeIntervalSince1970: date.timeIntervalSince1970.databaseValue
        case .secondsSince1970: Self.whole(date.timeIntervalSince1970)
        case .millisecondsSince1970: Self.whole(Self.milliseconds(date))
        case .iso8601: date.formatted(.iso8601).databaseValue
        case .formatted(let formatter): formatter.string(from: date).databaseValue
        case .custom(let encode): encode(date)?.databaseValue ?? .null
        }
    }

    /// The milliseconds since 1970, whole where they are whole but for the rounding of the date.
    ///
    /// A date counts from 2001, so that what is read from a whole number may be a hair less than it.
    private static func milliseconds(_ date: Date) -> Double {
        let product = date.timeIntervalSince1970 * 1000
        let nearest = product.rounded()
        return abs(product - nearest) < max(0.001, 2 * product.ulp) ? nearest : product
    }

    /// The whole number below, or the number itself when no integer can hold it.
    private static func whole(_ number: Double) -> DatabaseValue {
        Int64(exactly: number.rounded(.down))?.databaseValue ?? number.databaseValue
    }
}

extension DatabaseUUIDEncodingStrategy {
    /// Encodes a value.
    func databaseValue(of uuid: UUID) -> DatabaseValue {
        switch self {
        case .deferredToUUID: uuid.databaseValue
        case .uppercaseString: uuid.uuidString.databaseValue
        case .lowercaseString: uuid.uuidString.lowercased().databaseValue
        }
    }
}
