/// Numbers, sizes and times as people read them, without a locale: output is the same everywhere.
package enum HumanFormat {
    /// An integer with its digits in groups: `1,204`.
    package static func count(_ value: Int) -> String {
        let digits = Array(String(value.magnitude).utf8)
        var result = value < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { result += "," }
            result.unicodeScalars.append(Unicode.Scalar(digit))
        }
        return result
    }

    /// An integer with its noun: `1 change`, `1,204 changes`. A plural that is not formed with
    /// `s` is given.
    package static func count(_ value: Int, _ noun: String, plural: String? = nil) -> String {
        "\(count(value)) \(value == 1 ? noun : plural ?? noun + "s")"
    }

    /// A size in binary units: `11 B`, `12.1 KiB`, `318 KiB`.
    package static func bytes(_ value: Int) -> String {
        guard value.magnitude >= 1024 else { return "\(count(value)) B" }
        var amount = Double(value.magnitude)
        var unit = "B"
        for larger in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
            amount /= 1024
            unit = larger
            // Below the value that rounds to 1,024 of this unit, which is 1 of the next.
            if amount < 1023.5 { break }
        }
        let sign = value < 0 ? "-" : ""
        // 99.95 rounds to 100.0, and sizes from 100 up have no decimal.
        if amount >= 99.95 { return "\(sign)\(Int(amount.rounded())) \(unit)" }
        let tenths = Int((amount * 10).rounded())
        let decimal = tenths.isMultiple(of: 10) ? "" : ".\(tenths % 10)"
        return "\(sign)\(tenths / 10)\(decimal) \(unit)"
    }

    /// A duration as a clock shows it, in full seconds: `0:29`, `12:05`, `1:02:03`.
    package static func clock(_ duration: Duration) -> String {
        let total = max(0, duration.components.seconds)
        let (hours, minutes, seconds) = (total / 3600, total / 60 % 60, total % 60)
        return hours > 0
            ? "\(hours):\(twoDigits(minutes)):\(twoDigits(seconds))"
            : "\(minutes):\(twoDigits(seconds))"
    }

    /// The time that has passed, in its largest unit: `just now`, `4 min ago`, `2 days ago`.
    package static func age(of milliseconds: Int64, now: Int64) -> String {
        let (difference, overflow) = now.subtractingReportingOverflow(milliseconds)
        let seconds = overflow ? 0 : difference / 1000
        switch seconds {
        case ..<(-59): return "in the future"
        case ..<5: return "just now"
        case ..<60: return "\(seconds) s ago"
        case ..<3600: return "\(seconds / 60) min ago"
        case ..<86_400: return "\(seconds / 3600) h ago"
        default: return "\(count(Int(seconds / 86_400), "day")) ago"
        }
    }

    /// How a timestamp is written. All are in UTC.
    package enum TimestampStyle: Sendable {
        /// `2026-11-21T00:40:00Z`, for JSON.
        case internet
        /// `2026-11-21T00:40:00.123Z`, for JSON where order within a second matters.
        case internetMilliseconds
        /// `2026-11-21 00:40:00`, for people.
        case second
        /// `2026-11-21 00:40`, for people.
        case minute
    }

    /// A moment, given in milliseconds since 1970.
    package static func timestamp(_ milliseconds: Int64, style: TimestampStyle = .internet) -> String {
        let (days, ofDay) = floorDivide(milliseconds, by: 86_400_000)
        let date = civilDate(daysSince1970: days)
        let day = "\(year(date.year))-\(twoDigits(date.month))-\(twoDigits(date.day))"
        let minute = "\(twoDigits(ofDay / 3_600_000)):\(twoDigits(ofDay / 60_000 % 60))"
        let second = "\(minute):\(twoDigits(ofDay / 1000 % 60))"
        switch style {
        case .internet: return "\(day)T\(second)Z"
        case .internetMilliseconds: return "\(day)T\(second).\(digits(ofDay % 1000, count: 3))Z"
        case .second: return "\(day) \(second)"
        case .minute: return "\(day) \(minute)"
        }
    }

    /// The date of a day in the Gregorian calendar, by Howard Hinnant's `civil_from_days`: years
    /// are counted from March, so that the leap day is the last day of a year.
    private static func civilDate(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = floorDivide(daysSince1970 + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func floorDivide(
        _ value: Int64, by divisor: Int64
    ) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func year(_ year: Int64) -> String {
        year < 0 ? "-" + digits(-year, count: 4) : digits(year, count: 4)
    }

    private static func twoDigits(_ value: Int64) -> String {
        digits(value, count: 2)
    }

    private static func digits(_ value: Int64, count: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}
