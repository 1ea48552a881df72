/// Changes of a date, in the order in which they are made.
///
/// ```swift
/// $0.createdAt(.startOfDay.days(-1))    // strftime(…, "reminders"."createdAt", 'start of day', '-1 days')
/// ```
///
/// Each is a modifier of SQLite's date functions: <https://sqlite.org/lang_datefunc.html>. Changes of an extension are
/// changes like these:
///
/// ```swift
/// extension DateModifiers {
///     static let endOfMonth = Self.startOfMonth.months(1).days(-1)
/// }
/// Reminder.where { $0.dueDate < .now(.months(1).endOfMonth) }
/// ```
@dynamicMemberLookup
public struct DateModifiers: Hashable, Sendable {
    /// What becomes of a day that the month lacks, such as the 30th of February.
    public enum Overflow: Hashable, Sendable {
        /// It is one of the next month.
        case ceiling
        /// It is the last day of the month.
        case floor
    }

    private var modifiers: [Modifier] = []

    private enum Modifier: Hashable, Sendable {
        /// A modifier that all engines have.
        case plain(String)
        /// A number of months or years, after which the day is one of the month.
        case floored(String)
    }

    /// Changes nothing.
    public init() {}

    private func adding(_ modifier: String, _ overflow: Overflow = .ceiling) -> Self {
        var result = self
        result.modifiers.append(overflow == .floor ? .floored(modifier) : .plain(modifier))
        return result
    }

    /// Adds the changes of a static member.
    public subscript(dynamicMember keyPath: KeyPath<DateModifiers.Type, DateModifiers>) -> Self {
        followed(by: DateModifiers.self[keyPath: keyPath])
    }

    /// The changes and then others.
    func followed(by others: DateModifiers) -> Self {
        var result = self
        result.modifiers += others.modifiers
        return result
    }

    /// Adds years; a day that the month lacks becomes one of the next month, unless something else is said.
    public func years(_ count: Int, _ overflow: Overflow = .ceiling) -> Self {
        adding("\(Self.signed(count)) years", overflow)
    }
    /// Adds months; a day that the month lacks becomes one of the next month, unless something else is said.
    public func months(_ count: Int, _ overflow: Overflow = .ceiling) -> Self {
        adding("\(Self.signed(count)) months", overflow)
    }
    /// Adds days.
    public func days(_ count: Int) -> Self { adding("\(Self.signed(count)) days") }
    /// Adds hours.
    public func hours(_ count: Int) -> Self { adding("\(Self.signed(count)) hours") }
    /// Adds minutes.
    public func minutes(_ count: Int) -> Self { adding("\(Self.signed(count)) minutes") }
    /// Adds seconds, to the millisecond.
    public func seconds(_ count: Double) -> Self { adding(Self.text(ofSeconds: count)) }
    /// Adds milliseconds.
    public func milliseconds(_ count: Int) -> Self { seconds(Double(count) / 1000) }
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
    public static func years(_ count: Int, _ overflow: Overflow = .ceiling) -> Self {
        Self().years(count, overflow)
    }
    /// Adds months.
    public static func months(_ count: Int, _ overflow: Overflow = .ceiling) -> Self {
        Self().months(count, overflow)
    }
    /// Adds days.
    public static func days(_ count: Int) -> Self { Self().days(count) }
    /// Adds hours.
    public static func hours(_ count: Int) -> Self { Self().hours(count) }
    /// Adds minutes.
    public static func minutes(_ count: Int) -> Self { Self().minutes(count) }
    /// Adds seconds, to the millisecond.
    public static func seconds(_ count: Double) -> Self { Self().seconds(count) }
    /// Adds milliseconds.
    public static func milliseconds(_ count: Int) -> Self { Self().milliseconds(count) }
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

    /// Whether a date can be in another year afterwards.
    var canChangeYear: Bool {
        modifiers.contains {
            if case .plain(let text) = $0 { !text.hasPrefix("start of ") } else { true }
        }
    }

    /// Adds the modifiers to the arguments of a date function, each behind a comma.
    func write(to arguments: inout QueryFragment) {
        // They are made of words of this file and numbers.
        for modifier in modifiers {
            switch modifier {
            case .plain(let text): arguments.append(sql: ", '\(text)'" as String)
            case .floored(let text): Self.write(floored: text, to: &arguments)
            }
        }
    }

    private static func write(floored text: String, to arguments: inout QueryFragment) {
        let date = arguments
        arguments.append(sql: ", '\(text)', " as String)
        arguments.appendChoice(.dateFloor) {
            $0.append(literal: "'floor'")
        } emulated: {
            // A day that is another one afterwards has gone beyond the month by as many days as its number says.
            let change = day(of: date, changedBy: text)
            $0.append(
                "CASE WHEN strftime('%d', \(date)) = \(change) THEN '+0' ELSE '-' || \(change) END || ' days'"
            )
        }
    }

    private static func day(of date: QueryFragment, changedBy text: String) -> QueryFragment {
        var fragment = QueryFragment("strftime('%d', \(date)")
        fragment.append(sql: ", '\(text)')" as String)
        return fragment
    }
}
