/// A change of a date in SQL, for ``dateTime(_:_:)`` and ``julianDay(_:_:)``.
///
/// ```swift
/// dateTime(Column("createdAt"), .startOfDay, .day(1))
/// ```
///
/// Related SQLite documentation: <https://www.sqlite.org/lang_datefunc.html>
public enum SQLDateModifier: SQLExpressible, Sendable {
    /// Adds seconds.
    case second(Double)
    /// Adds minutes.
    case minute(Int)
    /// Adds hours.
    case hour(Int)
    /// Adds days.
    case day(Int)
    /// Adds months.
    case month(Int)
    /// Adds years.
    case year(Int)
    /// Moves back to midnight.
    case startOfDay
    /// Moves back to the first day of the month.
    case startOfMonth
    /// Moves back to the first day of the year.
    case startOfYear
    /// Moves forward to the next day of the week of that number; 0 is Sunday.
    case weekday(Int)
    /// Takes a number for seconds since 1970.
    case unixEpoch
    /// From UTC to the local time zone.
    case localTime
    /// From the local time zone to UTC.
    case utc

    /// The modifier as SQLite writes it.
    public var sqlExpression: SQLExpression {
        switch self {
        case .second(let count): "\(count) seconds".sqlExpression
        case .minute(let count): "\(count) minutes".sqlExpression
        case .hour(let count): "\(count) hours".sqlExpression
        case .day(let count): "\(count) days".sqlExpression
        case .month(let count): "\(count) months".sqlExpression
        case .year(let count): "\(count) years".sqlExpression
        case .startOfDay: "start of day".sqlExpression
        case .startOfMonth: "start of month".sqlExpression
        case .startOfYear: "start of year".sqlExpression
        case .weekday(let number): "weekday \(number)".sqlExpression
        case .unixEpoch: "unixepoch".sqlExpression
        case .localTime: "localtime".sqlExpression
        case .utc: "utc".sqlExpression
        }
    }
}

/// `JULIANDAY(date, modifiers…)`: the days since noon in Greenwich on November
/// 24, 4714 B.C.
public func julianDay(
    _ value: some SQLSpecificExpressible, _ modifiers: SQLDateModifier...
) -> SQLExpression {
    .function("JULIANDAY", [value] + modifiers)
}

/// `DATETIME(date, modifiers…)`: a text such as `"2013-01-01 12:00:00"`.
public func dateTime(
    _ value: some SQLSpecificExpressible, _ modifiers: SQLDateModifier...
) -> SQLExpression {
    .function("DATETIME", [value] + modifiers)
}
