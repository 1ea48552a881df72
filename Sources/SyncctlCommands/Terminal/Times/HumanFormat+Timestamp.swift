/// Moments as text: the one place that writes dates.
extension HumanFormat {
    /// How a timestamp is written.
    package enum TimestampStyle: Sendable {
        /// `2026-11-21T00:40:00Z`, for JSON: always in UTC.
        case internet
        /// `2026-11-21T00:40:00.123Z`, for JSON where order within a second matters: always in UTC.
        case internetMilliseconds
        /// `2026-11-21 01:40:00+01:00`, for people, in the zone of ``DisplayZone/current``.
        case second
        /// `2026-11-21 01:40+01:00`, for people, in the zone of ``DisplayZone/current``.
        case minute

        /// Whether it is shown in the zone that people chose.
        var isForPeople: Bool { self == .second || self == .minute }
    }

    /// A moment, given in milliseconds since 1970.
    package static func timestamp(_ milliseconds: Int64, style: TimestampStyle = .internet) -> String {
        let offset = style.isForPeople ? DisplayZone.current.offset(at: milliseconds) : 0
        let (shown, overflow) = milliseconds.addingReportingOverflow(offset * 1000)
        guard !overflow else { return timestamp(milliseconds, style: .internet) }
        let (days, ofDay) = floorDivide(shown, by: 86_400_000)
        let date = civilDate(daysSince1970: days)
        let day = "\(year(date.year))-\(twoDigits(date.month))-\(twoDigits(date.day))"
        let minute = "\(twoDigits(ofDay / 3_600_000)):\(twoDigits(ofDay / 60_000 % 60))"
        let second = "\(minute):\(twoDigits(ofDay / 1000 % 60))"
        switch style {
        case .internet: return "\(day)T\(second)Z"
        case .internetMilliseconds: return "\(day)T\(second).\(digits(ofDay % 1000, count: 3))Z"
        case .second: return "\(day) \(second)\(zone(offset))"
        case .minute: return "\(day) \(minute)\(zone(offset))"
        }
    }

    /// The zone after a time, as RFC 3339 writes it: `Z`, `+01:00`, `-03:30`.
    private static func zone(_ offset: Int64) -> String {
        let minutes = Int64(offset.magnitude) / 60
        if minutes == 0 { return "Z" }
        return "\(offset < 0 ? "-" : "+")\(twoDigits(minutes / 60)):\(twoDigits(minutes % 60))"
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
}
