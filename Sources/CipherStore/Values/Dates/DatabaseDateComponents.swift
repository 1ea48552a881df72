import Foundation

/// Date components, and the text format they are stored in.
///
/// ```swift
/// var components = DateComponents()
/// components.year = 1973
/// components.month = 9
/// components.day = 18
///
/// // Stores "1973-09-18"
/// try db.execute(
///     sql: "INSERT INTO player (birthDate) VALUES (?)",
///     arguments: [DatabaseDateComponents(components, format: .YMD)])
///
/// // Reads "1973-09-18"
/// if let stored = try DatabaseDateComponents.fetchOne(db, sql: "SELECT birthDate FROM player") {
///     stored.format  // .YMD
///     stored.dateComponents  // DateComponents
/// }
/// ```
public struct DatabaseDateComponents: Sendable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The formats in which components are stored. SQLite's date functions
    /// understand all of them.
    public enum Format: String, Sendable {
        /// `"1973-09-18"`
        case YMD = "yyyy-MM-dd"
        /// `"1973-09-18 10:11"`
        case YMD_HM = "yyyy-MM-dd HH:mm"
        /// `"1973-09-18 10:11:12"`
        case YMD_HMS = "yyyy-MM-dd HH:mm:ss"
        /// `"1973-09-18 10:11:12.123"`
        case YMD_HMSS = "yyyy-MM-dd HH:mm:ss.SSS"
        /// `"10:11"`
        case HM = "HH:mm"
        /// `"10:11:12"`
        case HMS = "HH:mm:ss"
        /// `"10:11:12.123"`
        case HMSS = "HH:mm:ss.SSS"

        fileprivate var hasDate: Bool {
            switch self {
            case .YMD, .YMD_HM, .YMD_HMS, .YMD_HMSS: true
            case .HM, .HMS, .HMSS: false
            }
        }

        fileprivate var precision: DateParts.TimePrecision {
            switch self {
            case .YMD: .none
            case .YMD_HM, .HM: .minutes
            case .YMD_HMS, .HMS: .seconds
            case .YMD_HMSS, .HMSS: .milliseconds
            }
        }
    }

    /// The components.
    public let dateComponents: DateComponents

    /// The format in which the components are stored, or were found.
    public let format: Format

    /// Makes components that are stored in a format.
    ///
    /// - parameter dateComponents: The components. What the format needs and
    ///   they lack is written as zero, or as 1 for a month and a day.
    /// - parameter format: The format.
    public init(_ dateComponents: DateComponents, format: Format) {
        self.dateComponents = dateComponents
        self.format = format
    }

    /// Makes the components of a text, in the format it has.
    init(_ parts: DateParts) {
        var components = DateComponents()
        if let zone = parts.zone { components.timeZone = TimeZone(secondsFromGMT: zone * 60) }
        if parts.hasDate {
            components.year = parts.year
            components.month = parts.month
            components.day = parts.day
        }
        if parts.precision != .none {
            components.hour = parts.hour
            components.minute = parts.minute
        }
        switch parts.precision {
        case .none:
            format = .YMD
        case .minutes:
            format = parts.hasDate ? .YMD_HM : .HM
        case .seconds:
            components.second = parts.second
            format = parts.hasDate ? .YMD_HMS : .HMS
        case .milliseconds:
            components.second = parts.second
            components.nanosecond = parts.millisecond * 1_000_000
            format = parts.hasDate ? .YMD_HMSS : .HMSS
        }
        dateComponents = components
    }

    /// The components in their format. The time zone is not stored.
    var text: String {
        var text = ""
        if format.hasDate {
            text += Self.year(dateComponents.year ?? 0)
            text += "-" + Self.padded(dateComponents.month ?? 1, to: 2)
            text += "-" + Self.padded(dateComponents.day ?? 1, to: 2)
        }
        let precision = format.precision
        if precision == .none { return text }
        if format.hasDate { text += " " }
        text += Self.padded(dateComponents.hour ?? 0, to: 2)
        text += ":" + Self.padded(dateComponents.minute ?? 0, to: 2)
        if precision == .minutes { return text }
        text += ":" + Self.padded(dateComponents.second ?? 0, to: 2)
        if precision == .seconds { return text }
        // Calendars turn 0.123 seconds into 122999906 nanoseconds.
        let milliseconds = (Double(dateComponents.nanosecond ?? 0) / 1_000_000).rounded()
        return text + "." + Self.padded(Int(min(milliseconds, 999)), to: 3)
    }

    /// A year that ``DateText`` reads.
    private static func year(_ year: Int) -> String {
        if (0...9999).contains(year) { return padded(year, to: 4) }
        return (year < 0 ? "-" : "+") + padded(Int(clamping: year.magnitude), to: 6)
    }

    private static func padded(_ number: Int, to width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}

extension DatabaseDateComponents: DatabaseValueConvertible, StatementColumnConvertible {
    /// The components as text, in their format.
    public var databaseValue: DatabaseValue { text.databaseValue }

    /// Decodes text in SQLite's date and time formats.
    ///
    /// The result tells the format of the text, and has a time zone when the
    /// text has one. Digits after the milliseconds are left out.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> DatabaseDateComponents? {
        switch dbValue.storage {
        case .string(let text): DateText.parse(text).map { Self($0) }
        case .blob(let text): text.withUnsafeBytes { DateText.parse($0) }.map { Self($0) }
        default: nil
        }
    }

    /// Decodes a column.
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let column = RawValue(sqliteStatement, index)
        let parts: DateParts?
        switch column.storageClass {
        case RawColumn.textClass: parts = DateText.parse(column.text)
        case RawColumn.blobClass: parts = DateText.parse(column.blob)
        default: return nil
        }
        guard let parts else { return nil }
        self.init(parts)
    }
}

extension DatabaseDateComponents: Codable {
    /// Decodes a text, as from JSON.
    ///
    /// - throws: `DecodingError` when the text is no date.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let parts = DateText.parse(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "The text is neither a date nor a time.")
        }
        self.init(parts)
    }

    /// Encodes the components as the text that is stored in a database.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
