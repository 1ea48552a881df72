import Foundation

/// A type that says how dates are stored, for the functions of dates.
///
/// The same Swift makes other SQL for each: texts are read as they are, seconds as `unixepoch`, and so on.
public protocol DateStorage: QueryRepresentable {
    /// The type of a part of the date, such as the year: an integer, or an optional one.
    associatedtype DatePart: QueryRepresentable = Int

    /// The type of a text that is made of the date.
    associatedtype DateText: QueryRepresentable = String

    /// What SQLite's date functions have to be told about a stored date.
    static var storedDateModifier: StaticString? { get }

    /// Adds an expression that makes a stored date of the arguments of a date function.
    static func writeStored(_ arguments: QueryFragment, to fragment: inout QueryFragment)
}

extension Date: DateStorage {
    /// Nothing: SQLite reads the text.
    public static var storedDateModifier: StaticString? { nil }

    /// Adds `strftime('%Y-%m-%d %H:%M:%f', …)`, in the form that dates have.
    public static func writeStored(_ arguments: QueryFragment, to fragment: inout QueryFragment) {
        fragment.append(literal: "strftime('%Y-%m-%d %H:%M:%f', ")
        fragment.append(arguments)
        fragment.append(literal: ")")
    }
}

extension Date.UnixTimeRepresentation: DateStorage {
    /// Seconds since 1970.
    public static var storedDateModifier: StaticString? { "unixepoch" }

    /// Adds `CAST(strftime('%s', …) AS INTEGER)`.
    public static func writeStored(_ arguments: QueryFragment, to fragment: inout QueryFragment) {
        fragment.append(literal: "CAST(strftime('%s', ")
        fragment.append(arguments)
        fragment.append(literal: ") AS INTEGER)")
    }
}

extension Date.JulianDayRepresentation: DateStorage {
    /// Nothing: SQLite takes a number for a Julian day.
    public static var storedDateModifier: StaticString? { nil }

    /// Adds `julianday(…)`.
    public static func writeStored(_ arguments: QueryFragment, to fragment: inout QueryFragment) {
        fragment.append(literal: "julianday(")
        fragment.append(arguments)
        fragment.append(literal: ")")
    }
}

extension Optional: DateStorage where Wrapped: DateStorage {
    /// A part of a date that may be NULL.
    public typealias DatePart = Wrapped.DatePart?
    /// A text of a date that may be NULL.
    public typealias DateText = Wrapped.DateText?

    /// That of the type.
    public static var storedDateModifier: StaticString? { Wrapped.storedDateModifier }

    /// Adds what the type adds.
    public static func writeStored(_ arguments: QueryFragment, to fragment: inout QueryFragment) {
        Wrapped.writeStored(arguments, to: &fragment)
    }
}

/// Changes of a date, in the order in which they are made.
///
/// ```swift
/// $0.createdAt(.startOfDay.days(-1))    // strftime(…, "reminders"."createdAt", 'start of day', '-1 days')
/// ```
///
/// Each is a modifier of SQLite's date functions: <https://sqlite.org/lang_datefunc.html>.
public struct DateModifiers: Hashable, Sendable {
    private var modifiers: [String] = []

    /// Changes nothing.
    public init() {}

    private func adding(_ modifier: String) -> Self {
        var result = self
        result.modifiers.append(modifier)
        return result
    }

    /// Adds years; a day that the month lacks becomes one of the next month.
    public func years(_ count: Int) -> Self { adding("\(Self.signed(count)) years") }
    /// Adds months; a day that the month lacks becomes one of the next month.
    public func months(_ count: Int) -> Self { adding("\(Self.signed(count)) months") }
    /// Adds days.
    public func days(_ count: Int) -> Self { adding("\(Self.signed(count)) days") }
    /// Adds hours.
    public func hours(_ count: Int) -> Self { adding("\(Self.signed(count)) hours") }
    /// Adds minutes.
    public func minutes(_ count: Int) -> Self { adding("\(Self.signed(count)) minutes") }
    /// Adds seconds, to the millisecond.
    public func seconds(_ count: Double) -> Self { adding(Self.text(ofSeconds: count)) }
    /// Midnight, of the day in UTC.
    public var startOfDay: Self { adding("start of day") }
    /// Midnight of the month's first day.
    public var startOfMonth: Self { adding("start of month") }
    /// Midnight of the year's first day.
    public var startOfYear: Self { adding("start of year") }
    /// The next day that is a weekday, or the day itself: 0 is Sunday.
    public func weekday(_ number: Int) -> Self { adding("weekday \(number)") }
    /// From UTC to the time zone of the machine.
    public var localTime: Self { adding("localtime") }
    /// From the time zone of the machine to UTC.
    public var utc: Self { adding("utc") }

    /// Adds years.
    public static func years(_ count: Int) -> Self { Self().years(count) }
    /// Adds months.
    public static func months(_ count: Int) -> Self { Self().months(count) }
    /// Adds days.
    public static func days(_ count: Int) -> Self { Self().days(count) }
    /// Adds hours.
    public static func hours(_ count: Int) -> Self { Self().hours(count) }
    /// Adds minutes.
    public static func minutes(_ count: Int) -> Self { Self().minutes(count) }
    /// Adds seconds, to the millisecond.
    public static func seconds(_ count: Double) -> Self { Self().seconds(count) }
    /// Midnight, of the day in UTC.
    public static var startOfDay: Self { Self().startOfDay }
    /// Midnight of the month's first day.
    public static var startOfMonth: Self { Self().startOfMonth }
    /// Midnight of the year's first day.
    public static var startOfYear: Self { Self().startOfYear }
    /// The next day that is a weekday, or the day itself: 0 is Sunday.
    public static func weekday(_ number: Int) -> Self { Self().weekday(number) }
    /// From UTC to the time zone of the machine.
    public static var localTime: Self { Self().localTime }
    /// From the time zone of the machine to UTC.
    public static var utc: Self { Self().utc }

    private static func signed(_ count: Int) -> String { count < 0 ? "\(count)" : "+\(count)" }

    private static func text(ofSeconds count: Double) -> String {
        // No more than what SQLite's dates reach.
        let known = Swift.min(Swift.max(count.isNaN ? 0 : count, -500_000_000_000), 500_000_000_000)
        let milliseconds = Int((known * 1000).rounded())
        let fraction = String(milliseconds.magnitude % 1000 + 1000).dropFirst()
        return "\(milliseconds < 0 ? "-" : "+")\(milliseconds.magnitude / 1000).\(fraction) seconds"
    }

    /// Adds the modifiers as texts, each behind a comma.
    func write(to fragment: inout QueryFragment) {
        // They are made of words of this file and numbers.
        for modifier in modifiers { fragment.append(sql: ", '\(modifier)'" as String) }
    }
}
