import Foundation

// GRDB's convention: a date is written as UTC text with milliseconds, and is
// read from SQLite's date formats or from a Unix timestamp.

extension Date: DatabaseValueConvertible, StatementColumnConvertible {
    /// The date as `"YYYY-MM-DD HH:MM:SS.SSS"`, in UTC.
    public var databaseValue: DatabaseValue {
        DateText.format(self).databaseValue
    }

    /// Decodes text in SQLite's date formats, and Unix timestamps in seconds.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Date? {
        switch dbValue.storage {
        case .string(let text): DateText.parse(text)
        case .int64(let seconds): Date(timeIntervalSince1970: Double(seconds))
        case .double(let seconds): Date(timeIntervalSince1970: seconds)
        default: nil
        }
    }

    /// Decodes a column.
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let value = DatabaseValue(sqliteStatement: sqliteStatement, index: index)
        guard let date = Date.fromDatabaseValue(value) else { return nil }
        self = date
    }
}

/// The text form of dates, without a formatter.
enum DateText {
    /// Days from 1970-01-01 to a date of the proleptic Gregorian calendar.
    ///
    /// The algorithm is Howard Hinnant's `days_from_civil`.
    static func days(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The inverse of ``days(year:month:day:)``: Hinnant's `civil_from_days`.
    static func civil(days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthIndex = (5 * dayOfYear + 2) / 153
        let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthIndex + 2) / 5 + 1)
    }

    static func format(_ date: Date) -> String {
        let seconds = date.timeIntervalSince1970
        // Years 0000 to 9999 are what SQLite's date functions understand.
        let bounded = min(max(seconds, -62_167_219_200), 253_402_300_799.999)
        let milliseconds = Int((bounded * 1000).rounded())
        let days = Int((Double(milliseconds) / 86_400_000).rounded(.down))
        let rest = milliseconds - days * 86_400_000
        let (year, month, day) = civil(days: days)
        var text = ""
        text.reserveCapacity(23)
        append(year, 4, to: &text)
        text.append("-")
        append(month, 2, to: &text)
        text.append("-")
        append(day, 2, to: &text)
        text.append(" ")
        append(rest / 3_600_000, 2, to: &text)
        text.append(":")
        append(rest / 60_000 % 60, 2, to: &text)
        text.append(":")
        append(rest / 1000 % 60, 2, to: &text)
        text.append(".")
        append(rest % 1000, 3, to: &text)
        return text
    }

    private static func append(_ number: Int, _ width: Int, to text: inout String) {
        let digits = String(number)
        for _ in digits.utf8.count..<max(width, digits.utf8.count) { text.append("0") }
        text.append(digits)
    }

    /// Parses `YYYY-MM-DD`, with an optional time after a blank or `T`, and an
    /// optional zone `Z` or `±HH:MM`.
    static func parse(_ text: String) -> Date? {
        var scanner = DigitScanner(text)
        guard let year = scanner.number(4), scanner.skip("-"), let month = scanner.number(2),
            scanner.skip("-"), let day = scanner.number(2), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        var seconds = Double(days(year: year, month: month, day: day)) * 86_400
        if scanner.isAtEnd { return Date(timeIntervalSince1970: seconds) }
        guard scanner.skip(" ") || scanner.skip("T"), let time = scanner.time() else { return nil }
        seconds += time
        guard let offset = scanner.zone(), scanner.isAtEnd else { return nil }
        return Date(timeIntervalSince1970: seconds - offset)
    }
}

/// Reads digits of fixed width.
private struct DigitScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard let first = rest.first, first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    mutating func digit() -> Int? {
        guard let first = rest.first, first >= 48, first <= 57 else { return nil }
        rest.removeFirst()
        return Int(first) - 48
    }

    mutating func number(_ width: Int) -> Int? {
        var value = 0
        for _ in 0..<width {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    /// `HH:MM[:SS[.SSS]]` in seconds.
    mutating func time() -> Double? {
        guard let hour = number(2), skip(":"), let minute = number(2), hour < 25, minute < 60 else {
            return nil
        }
        var seconds = Double(hour * 3600 + minute * 60)
        guard skip(":") else { return seconds }
        guard let second = number(2), second < 61 else { return nil }
        seconds += Double(second)
        guard skip(".") else { return seconds }
        var scale = 0.1
        var hasDigit = false
        while let digit = digit() {
            seconds += Double(digit) * scale
            scale /= 10
            hasDigit = true
        }
        return hasDigit ? (seconds * 1000).rounded() / 1000 : nil
    }

    /// The zone's offset in seconds; none is UTC.
    mutating func zone() -> Double? {
        if isAtEnd || skip("Z") { return 0 }
        let sign: Double
        if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
        guard let hour = number(2), skip(":"), let minute = number(2) else { return nil }
        return sign * Double(hour * 3600 + minute * 60)
    }
}
