import Foundation

extension Date: DatabaseValueConvertible, StatementColumnConvertible {
    /// The date as `"YYYY-MM-DD HH:MM:SS.SSS"`, in UTC, rounded to a millisecond.
    ///
    /// This format sorts in the order of time, compares with `CURRENT_TIMESTAMP`
    /// and is understood by SQLite's date functions. Those functions know the
    /// years 0000 to 9999; other years have a sign and six digits, as in
    /// `"+010000-01-01 00:00:00.000"`, which only this type reads.
    ///
    /// A date that is not finite, or whose year has more than six digits, is NULL.
    public var databaseValue: DatabaseValue {
        DateText.string(self)?.databaseValue ?? .null
    }

    /// Decodes text in SQLite's date formats, and Unix timestamps in seconds.
    ///
    /// Missing parts are zero, and the time is UTC when the text has no zone. A
    /// time without a date does not decode.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Date? {
        switch dbValue.storage {
        case .string(let text): DateText.parse(text)?.date
        case .blob(let text): text.withUnsafeBytes { DateText.parse($0)?.date }
        case .int64(let seconds): Date(timeIntervalSince1970: Double(seconds))
        case .double(let seconds): Date(timeIntervalSince1970: seconds)
        case .null: nil
        }
    }

    /// Decodes a column.
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let column = RawValue(sqliteStatement, index)
        switch column.storageClass {
        case RawColumn.textClass:
            let text = column.text
            guard let date = DateText.readFixedForm(text) ?? DateText.parse(text)?.date else { return nil }
            self = date
        case RawColumn.integerClass, RawColumn.realClass:
            self.init(timeIntervalSince1970: column.double)
        case RawColumn.blobClass:
            guard let date = DateText.parse(column.blob)?.date else { return nil }
            self = date
        default: return nil
        }
    }

    /// Binds the date as text, without making a string.
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: DateText.capacity) { text in
            guard let start = text.baseAddress, case let count = DateText.write(self, to: start), count > 0
            else { return RawBinding.null(sqliteStatement, index) }
            return RawBinding.text(
                sqliteStatement, index, UnsafeRawBufferPointer(start: start, count: count))
        }
    }
}

extension Date {
    /// Makes a date of the instant that a text with these components stands for.
    ///
    /// What the components' format leaves out is zero. The components are read
    /// in their time zone, or in UTC when they have none.
    ///
    /// - returns: nil for a format without a date, and for components out of
    ///   range, such as a month 13.
    public init?(databaseDateComponents: DatabaseDateComponents) {
        guard let parts = DateText.parse(databaseDateComponents.text), let date = parts.date else {
            return nil
        }
        let zone = databaseDateComponents.dateComponents.timeZone
        // The offset is looked up for the local time, as close as it gets.
        let offset = zone?.secondsFromGMT(for: date) ?? 0
        let shifted = date - TimeInterval(offset)
        let actualOffset = zone?.secondsFromGMT(for: shifted) ?? 0
        self = date - TimeInterval(actualOffset)
    }

    /// Makes a date of a Julian day, the days since noon on 24 November 4714 BC.
    ///
    /// SQLite's `julianday` function returns such numbers. As there, the result
    /// is rounded to a millisecond.
    ///
    /// ```swift
    /// let date = Date(julianDay: 2_456_293.5)  // 2013-01-01 00:00:00 UTC
    /// ```
    ///
    /// - returns: nil when SQLite's date functions don't know the day: before
    ///   Julian day 0, or after the year 9999.
    public init?(julianDay: Double) {
        guard julianDay >= 0, julianDay < 5_373_484.5 else { return nil }
        let milliseconds = Int(julianDay * 86_400_000 + 0.5)
        // The reference date is Julian day 2451910.5.
        self.init(timeIntervalSinceReferenceDate: Double(milliseconds - 211_845_067_200_000) / 1000)
    }
}
