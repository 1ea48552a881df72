import Foundation

/// Dates as text: `2026-11-25 20:15:00.000` in UTC.
@usableFromInline enum ISO8601Text {
    /// The text of a date, to the millisecond; nil for one that is not in the years 0 to 9999.
    static func text(of date: Date) -> String? {
        guard let milliseconds = Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded()),
            (-62_167_219_200_000...253_402_300_799_999).contains(milliseconds)
        else { return nil }
        let days = (milliseconds >= 0 ? milliseconds : milliseconds - 86_399_999) / 86_400_000
        let (year, month, day) = civil(days)
        var rest = milliseconds - days * 86_400_000
        var text: [UInt8] = []
        text.reserveCapacity(23)
        func add(_ number: Int64, _ count: Int, _ end: Unicode.Scalar?) {
            var digits = number
            let start = text.count
            for _ in 0..<count {
                text.insert(UInt8(ascii: "0") + UInt8(digits % 10), at: start)
                digits /= 10
            }
            if let end { text.append(UInt8(ascii: end)) }
        }
        add(year, 4, "-")
        add(month, 2, "-")
        add(day, 2, " ")
        add(rest / 3_600_000, 2, ":")
        rest %= 3_600_000
        add(rest / 60_000, 2, ":")
        rest %= 60_000
        add(rest / 1000, 2, ".")
        add(rest % 1000, 3, nil)
        return String(decoding: text, as: UTF8.self)
    }

    /// The text of a date.
    ///
    /// - throws: A ``QueryBindingError`` for one that has none: it could not be read again.
    static func required(of date: Date) throws -> String {
        guard let text = text(of: date) else {
            throw QueryBindingError("the date is not in the years 0 to 9999")
        }
        return text
    }

    /// The date of a number of days since 1970, in the Gregorian calendar.
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        // Eras of 400 years that begin on the first of March.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9, day)
    }

    /// Reads a date, with or without time, seconds, fractions and time zone, with a blank or a `T` before the time.
    static func date(of text: UnsafeRawBufferPointer) throws -> Date {
        var reader = Reader(text: text)
        guard let date = reader.date(), reader.isAtEnd else {
            throw QueryDecodingError.invalidValue("the text is no date of the form 2026-11-25 20:15:00.000")
        }
        return date
    }

    private struct Reader {
        let text: UnsafeRawBufferPointer
        var index = 0

        var isAtEnd: Bool { index == text.count }

        mutating func number(_ count: Int, _ range: ClosedRange<Int64>) -> Int64? {
            guard index + count <= text.count else { return nil }
            var number: Int64 = 0
            for _ in 0..<count {
                let digit = Int64(text[index]) - 48
                guard (0...9).contains(digit) else { return nil }
                number = number * 10 + digit
                index += 1
            }
            return range.contains(number) ? number : nil
        }

        mutating func take(_ characters: String) -> Unicode.Scalar? {
            guard index < text.count else { return nil }
            let scalar = Unicode.Scalar(text[index])
            guard characters.unicodeScalars.contains(scalar) else { return nil }
            index += 1
            return scalar
        }

        mutating func date() -> Date? {
            guard let year = number(4, 0...9999), take("-") != nil, let month = number(2, 1...12),
                take("-") != nil, let day = number(2, 1...31)
            else { return nil }
            var seconds = Double(days(year, month, day) * 86_400)
            guard take(" T") != nil else { return Date(timeIntervalSince1970: seconds) }
            guard let hour = number(2, 0...24), take(":") != nil, let minute = number(2, 0...59) else {
                return nil
            }
            seconds += Double(hour * 3600 + minute * 60)
            if take(":") != nil {
                guard let second = number(2, 0...60) else { return nil }
                seconds += Double(second)
                guard let fraction = fraction() else { return nil }
                seconds += fraction
            }
            guard let offset = offset() else { return nil }
            return Date(timeIntervalSince1970: seconds - offset)
        }

        private mutating func fraction() -> Double? {
            guard take(".") != nil else { return 0 }
            var fraction = 0.0
            var scale = 1.0
            let start = index
            while let digit = number(1, 0...9) {
                fraction = fraction * 10 + Double(digit)
                scale *= 10
                guard index - start < 16 else { return nil }
            }
            return index > start ? fraction / scale : nil
        }

        private mutating func offset() -> Double? {
            guard !isAtEnd else { return 0 }
            guard let sign = take("Z+-") else { return nil }
            if sign == "Z" { return 0 }
            guard let hour = number(2, 0...14) else { return nil }
            _ = take(":")
            guard let minute = number(2, 0...59) else { return nil }
            return Double(hour * 3600 + minute * 60) * (sign == "-" ? -1 : 1)
        }

        private func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
            let year = month <= 2 ? year - 1 : year
            let era = (year >= 0 ? year : year - 399) / 400
            let yearOfEra = year - era * 400
            let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
            return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        }
    }
}

extension Date: QueryBindable {
    /// A text.
    public typealias QueryValue = Date

    /// Reads a text that is a date.
    public init(decoder: inout some QueryDecoder) throws {
        self = try decoder.required(decoder.decodeText { try ISO8601Text.date(of: $0) })
    }

    /// The text: `2026-11-25 20:15:00.000` in UTC.
    @inlinable
    public var queryBinding: QueryBinding { .date(self) }

    /// A date that is stored as the seconds since 1970, without a fraction.
    public struct UnixTimeRepresentation: QueryBindable, Sendable {
        /// An integer.
        public typealias QueryValue = Self
        /// The type of its values in Swift.
        public typealias QueryOutput = Date
        /// The date.
        public var queryOutput: Date

        /// Makes a representation.
        public init(queryOutput: Date) { self.queryOutput = queryOutput }

        /// Reads a number.
        public init(decoder: inout some QueryDecoder) throws {
            queryOutput = Date(timeIntervalSince1970: try Double(decoder: &decoder))
        }

        /// The seconds, rounded down.
        public var queryBinding: QueryBinding {
            let seconds = queryOutput.timeIntervalSince1970.rounded(.down)
            guard let integer = Int64(exactly: seconds) else {
                return .invalid(QueryBindingError("a date that has no number of seconds"))
            }
            return .int(integer)
        }
    }

    /// A date that is stored as a Julian day number.
    public struct JulianDayRepresentation: QueryBindable, Sendable {
        /// A floating-point number.
        public typealias QueryValue = Self
        /// The type of its values in Swift.
        public typealias QueryOutput = Date
        /// The date.
        public var queryOutput: Date

        /// Makes a representation.
        public init(queryOutput: Date) { self.queryOutput = queryOutput }

        /// Reads a number.
        public init(decoder: inout some QueryDecoder) throws {
            let days = try Double(decoder: &decoder)
            // A day number is exact to about 40 microseconds: what is nearer to a millisecond is one.
            let milliseconds = ((days - 2_440_587.5) * 86_400_000).rounded()
            queryOutput = Date(timeIntervalSince1970: milliseconds / 1000)
        }

        /// The days since noon of November 24, 4714 BC.
        public var queryBinding: QueryBinding {
            .double(queryOutput.timeIntervalSince1970 / 86_400 + 2_440_587.5)
        }
    }
}

extension Date? {
    /// A date that may be NULL, stored as the seconds since 1970.
    public typealias UnixTimeRepresentation = Date.UnixTimeRepresentation?
    /// A date that may be NULL, stored as a Julian day number.
    public typealias JulianDayRepresentation = Date.JulianDayRepresentation?
}
