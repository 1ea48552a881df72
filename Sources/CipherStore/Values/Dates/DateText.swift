import Foundation

/// What the text of a date or of a time says.
struct DateParts {
    /// How much of a time a text has.
    enum TimePrecision {
        case none
        case minutes
        case seconds
        case milliseconds
    }

    var hasDate = false
    var precision = TimePrecision.none
    var year = 0
    var month = 1
    var day = 1
    var hour = 0
    var minute = 0
    var second = 0
    var millisecond = 0
    /// The minutes the time is ahead of UTC; nil when the text does not say.
    var zone: Int?

    /// The instant, in UTC unless there is a zone; nil for a time alone.
    var date: Date? {
        guard hasDate else { return nil }
        let day = DateText.days(year: year, month: month, day: day) - DateText.referenceDay
        let minutes = (day * 24 + hour) * 60 + minute - (zone ?? 0)
        let milliseconds = (minutes * 60 + second) * 1000 + millisecond
        return Date(timeIntervalSinceReferenceDate: Double(milliseconds) / 1000)
    }
}

/// The text form of dates, without a formatter and without strings.
///
/// Dates are those of the proleptic Gregorian calendar, as in SQLite's date
/// functions. Years outside of 0000 to 9999, which those functions do not read,
/// have a sign and six digits, as in ISO 8601's expanded form.
enum DateText {
    /// 2001-01-01, from which `Date` counts, in days after 1970-01-01.
    static let referenceDay = 11_323

    /// The bytes of the longest text.
    static let capacity = 26

    private static let millisecondsPerDay = 86_400_000

    /// Years of up to six digits, in milliseconds from the reference date.
    private static let writable = -31_620_065_904_000_000.0...31_493_806_473_599_996.0

    /// Days from 1970-01-01 to a date.
    ///
    /// The algorithm is Howard Hinnant's `days_from_civil`. A day after the end
    /// of its month is one of the next month.
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

    /// Writes `YYYY-MM-DD HH:MM:SS.SSS`, in UTC, rounded to a millisecond.
    ///
    /// - parameter text: Room for ``capacity`` bytes.
    /// - returns: The number of bytes, which is 0 for a date that is not finite
    ///   or whose year has more than six digits.
    static func write(_ date: Date, to text: UnsafeMutablePointer<UInt8>) -> Int {
        let exact = (date.timeIntervalSinceReferenceDate * 1000).rounded()
        guard writable.contains(exact) else { return 0 }
        let milliseconds = Int(exact)
        let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: millisecondsPerDay)
        let day = remainder < 0 ? quotient - 1 : quotient
        let time = UInt32(truncatingIfNeeded: remainder < 0 ? remainder + millisecondsPerDay : remainder)
        let (year, month, dayOfMonth) = civil(days: day + referenceDay)
        let end = write(year: year, to: text)
        writePair(UInt32(truncatingIfNeeded: month), after: UInt8(ascii: "-"), to: end)
        writePair(UInt32(truncatingIfNeeded: dayOfMonth), after: UInt8(ascii: "-"), to: end + 3)
        writePair(time / 3_600_000, after: UInt8(ascii: " "), to: end + 6)
        writePair(time / 60_000 % 60, after: UInt8(ascii: ":"), to: end + 9)
        writePair(time / 1000 % 60, after: UInt8(ascii: ":"), to: end + 12)
        let fraction = time % 1000
        writePair(fraction / 10, after: UInt8(ascii: "."), to: end + 15)
        end[18] = digit(fraction % 10)
        return end + 19 - text
    }

    /// Returns the text of a date, or nil when it has none.
    static func string(_ date: Date) -> String? {
        let text = String(unsafeUninitializedCapacity: capacity) { buffer in
            buffer.baseAddress.map { write(date, to: $0) } ?? 0
        }
        return text.isEmpty ? nil : text
    }

    /// Parses a date or a time in one of SQLite's formats; see ``DateTextParser``.
    static func parse(_ text: UnsafeRawBufferPointer) -> DateParts? {
        var parser = DateTextParser(text)
        return parser.parse()
    }

    /// Parses the text of a string.
    static func parse(_ text: String) -> DateParts? {
        var text = text
        return text.withUTF8 { parse(UnsafeRawBufferPointer($0)) }
    }

    /// Writes a year and returns where it ends.
    private static func write(
        year: Int, to text: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        let digits = UInt32(truncatingIfNeeded: year.magnitude)
        guard year < 0 || year > 9999 else {
            writePair(digits / 100, to: text)
            writePair(digits % 100, to: text + 2)
            return text + 4
        }
        writePair(digits / 10_000, after: UInt8(ascii: year < 0 ? "-" : "+"), to: text)
        writePair(digits / 100 % 100, to: text + 3)
        writePair(digits % 100, to: text + 5)
        return text + 7
    }

    @inline(__always)
    private static func writePair(
        _ number: UInt32, after separator: UInt8, to text: UnsafeMutablePointer<UInt8>
    ) {
        text[0] = separator
        writePair(number, to: text + 1)
    }

    @inline(__always)
    private static func writePair(_ number: UInt32, to text: UnsafeMutablePointer<UInt8>) {
        text[0] = digit(number / 10)
        text[1] = digit(number % 10)
    }

    @inline(__always)
    private static func digit(_ number: UInt32) -> UInt8 {
        UInt8(truncatingIfNeeded: number) &+ UInt8(ascii: "0")
    }
}

/// Parses `YYYY-MM-DD`, `YYYY-MM-DD HH:MM[:SS[.SSS]]` or `HH:MM[:SS[.SSS]]`.
///
/// The date and the time are separated by a blank or by `T`; a time may be
/// followed by `Z` or `±HH:MM`. A fraction has any number of digits, of which
/// three count. The ranges of the numbers are SQLite's: hours go to 24, zones
/// to 14 hours, and days to 31, whatever the month.
private struct DateTextParser {
    private let bytes: UnsafeRawBufferPointer
    private var index = 0
    private var parts = DateParts()

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    private var isAtEnd: Bool { index == bytes.count }

    mutating func parse() -> DateParts? {
        // Of all formats, only those without a date have a colon there.
        if bytes.count <= 2 || bytes[2] != UInt8(ascii: ":") {
            guard date() else { return nil }
            if isAtEnd { return parts }
            guard skip(UInt8(ascii: " ")) || skip(UInt8(ascii: "T")) else { return nil }
        }
        guard time(), isAtEnd || zone(), isAtEnd else { return nil }
        return parts
    }

    private mutating func date() -> Bool {
        guard let year = year(),
            skip(UInt8(ascii: "-")), let month = number(2, in: 1...12),
            skip(UInt8(ascii: "-")), let day = number(2, in: 1...31)
        else { return false }
        parts.hasDate = true
        parts.year = year
        parts.month = month
        parts.day = day
        return true
    }

    private mutating func year() -> Int? {
        if let year = number(4, in: 0...9999) { return year }
        if skip(UInt8(ascii: "+")) { return number(6, in: 10_000...999_999) }
        if skip(UInt8(ascii: "-")) { return number(6, in: 1...999_999).map { -$0 } }
        return nil
    }

    private mutating func time() -> Bool {
        guard let hour = number(2, in: 0...24),
            skip(UInt8(ascii: ":")), let minute = number(2, in: 0...59)
        else { return false }
        parts.hour = hour
        parts.minute = minute
        parts.precision = .minutes
        guard skip(UInt8(ascii: ":")) else { return true }
        guard let second = number(2, in: 0...59) else { return false }
        parts.second = second
        parts.precision = .seconds
        guard skip(UInt8(ascii: ".")) else { return true }
        parts.precision = .milliseconds
        return fraction()
    }

    private mutating func fraction() -> Bool {
        var unit = 100
        let start = index
        while index < bytes.count, case let digit = bytes[index] &- UInt8(ascii: "0"), digit < 10 {
            parts.millisecond += Int(digit) * unit
            unit /= 10
            index += 1
        }
        return index > start
    }

    private mutating func zone() -> Bool {
        if skip(UInt8(ascii: "Z")) {
            parts.zone = 0
            return true
        }
        let isBehind = skip(UInt8(ascii: "-"))
        guard isBehind || skip(UInt8(ascii: "+")), let hours = number(2, in: 0...14),
            skip(UInt8(ascii: ":")), let minutes = number(2, in: 0...59)
        else { return false }
        parts.zone = (hours * 60 + minutes) * (isBehind ? -1 : 1)
        return true
    }

    @inline(__always)
    private mutating func skip(_ character: UInt8) -> Bool {
        guard index < bytes.count, bytes[index] == character else { return false }
        index += 1
        return true
    }

    /// Reads so many digits, and nothing when the number is not in range.
    @inline(__always)
    private mutating func number(_ width: Int, in range: ClosedRange<Int>) -> Int? {
        guard bytes.count - index >= width else { return nil }
        var value = 0
        for offset in index..<index + width {
            let digit = bytes[offset] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value &* 10 &+ Int(digit)
        }
        guard range.contains(value) else { return nil }
        index += width
        return value
    }
}
