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

    /// A long span of time, in the one unit that tells most of it.
    package static func span(_ milliseconds: Int64) -> String {
        let seconds = milliseconds / 1000
        let units: [(seconds: Int64, name: String)] = [
            (365 * 86_400, "year"), (86_400, "day"), (3_600, "hour"), (60, "minute"),
        ]
        for unit in units where seconds >= 2 * unit.seconds {
            return count(Int(seconds / unit.seconds), unit.name)
        }
        return count(Int(seconds), "second")
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

    static func twoDigits(_ value: Int64) -> String {
        digits(value, count: 2)
    }

    static func digits(_ value: Int64, count: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}
