import ArgumentParser

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A moment on the command line: a date, a date with a time, or how long ago.
struct TimeArgument: FormedArgument {
    private enum Meaning {
        case ago(milliseconds: Int64)
        case moment(milliseconds: Int64)
        /// What a clock shows in a zone that is known only once all options are.
        case shown(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int)
    }

    /// The forms that are understood, for help and messages.
    package static let forms = "2026-11-21, \"2026-11-21 14:30\", 2026-11-21T14:30:00Z, 90m, 12h or 7d"

    private let text: String
    private let meaning: Meaning

    init?(argument: String) {
        text = argument
        guard let meaning = Self.duration(argument) ?? Self.date(argument) else { return nil }
        self.meaning = meaning
    }

    /// The moment in milliseconds since 1970. A date without a zone is meant in the zone in which times are shown.
    ///
    /// - throws: ``Failure`` for a date that is none, such as February 30.
    func milliseconds(now: Int64) throws -> Int64 {
        switch meaning {
        case .ago(let duration): return now - duration
        case .moment(let moment): return moment
        case .shown(let year, let month, let day, let hour, let minute, let second):
            var parts = tm()
            (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(year - 1900), Int32(month - 1), Int32(day))
            (parts.tm_hour, parts.tm_min, parts.tm_sec) = (Int32(hour), Int32(minute), Int32(second))
            guard let result = DisplayZone.current.milliseconds(of: parts) else {
                throw Failure.usage("\(text) is no date", hints: ["write it as \(Self.forms)"])
            }
            return result
        }
    }

    /// `90m`: a number and its unit.
    private static func duration(_ text: String) -> Meaning? {
        let units: [Character: Int64] = [
            "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000,
        ]
        guard let last = text.last, let unit = units[last], let count = number(text.dropLast(), 1...6) else {
            return nil
        }
        return .ago(milliseconds: Int64(count) * unit)
    }

    /// A date, and a time and a zone if they are there.
    private static func date(_ text: String) -> Meaning? {
        let parts = text.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == " " || $0 == "T" }
        let day = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard day.count == 3, let year = number(day[0], 4...4), let month = number(day[1], 2...2),
            let dayOfMonth = number(day[2], 2...2), (1...12).contains(month), (1...31).contains(dayOfMonth)
        else { return nil }
        guard parts.count == 2 else {
            return .shown(year: year, month: month, day: dayOfMonth, hour: 0, minute: 0, second: 0)
        }
        let (clock, offset) = zone(parts[1])
        guard let time = time(clock) else { return nil }
        guard let offset else {
            return .shown(
                year: year, month: month, day: dayOfMonth, hour: time.hour, minute: time.minute,
                second: time.second)
        }
        var shown = tm()
        (shown.tm_year, shown.tm_mon, shown.tm_mday) = (
            Int32(year - 1900), Int32(month - 1), Int32(dayOfMonth)
        )
        (shown.tm_hour, shown.tm_min, shown.tm_sec) = (
            Int32(time.hour), Int32(time.minute), Int32(time.second)
        )
        return DisplayZone.utc.milliseconds(of: shown).map {
            .moment(milliseconds: $0 - Int64(offset) * 1000)
        }
    }

    /// Takes the zone off the end of a time: `Z`, `+01:00`.
    private static func zone(_ text: Substring) -> (clock: Substring, offset: Int?) {
        if text.hasSuffix("Z") { return (text.dropLast(), 0) }
        guard let sign = text.lastIndex(where: { $0 == "+" || $0 == "-" }) else { return (text, nil) }
        let parts = text[text.index(after: sign)...].split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let hours = number(parts[0], 2...2), let minutes = number(parts[1], 2...2),
            hours < 24, minutes < 60
        else { return (text, nil) }
        return (text[..<sign], (text[sign] == "-" ? -1 : 1) * (hours * 3600 + minutes * 60))
    }

    private static func time(_ text: Substring) -> (hour: Int, minute: Int, second: Int)? {
        let whole = text.split(separator: ".", maxSplits: 1).first ?? ""
        let parts = whole.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3 else { return nil }
        let numbers = parts.compactMap { number($0, 2...2) }
        guard numbers.count == parts.count, numbers[0] < 24, numbers[1] < 60 else { return nil }
        let second = numbers.count == 3 ? numbers[2] : 0
        return second < 60 ? (numbers[0], numbers[1], second) : nil
    }

    private static func number(_ text: Substring, _ length: ClosedRange<Int>) -> Int? {
        guard length.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }
}
