import Foundation

// Functions of dates, whatever they are stored as. All are in UTC unless a modifier says otherwise.

extension QueryExpression where QueryValue: DateStorage {
    /// The date, changed.
    ///
    /// ```swift
    /// Reminder.select { $0.dueDate(.startOfMonth.months(1)) }
    /// // SELECT strftime('%Y-%m-%d %H:%M:%f', "reminders"."dueDate", 'start of month', '+1 months') FROM "reminders"
    /// ```
    ///
    /// - parameter modifiers: The changes, in order.
    public func callAsFunction(_ modifiers: DateModifiers) -> SQLQueryExpression<QueryValue> {
        SQLQueryExpression(call(modifiers) { QueryValue.writeStored($0, to: &$1) })
    }

    /// A text that is made of the date by a form with `%Y`, `%m`, `%d` and so on.
    ///
    /// ```swift
    /// Reminder.select { $0.createdAt.strftime("%Y-%m") }    // strftime('%Y-%m', "reminders"."createdAt")
    /// ```
    ///
    /// - parameters:
    ///     - format: The form: <https://sqlite.org/lang_datefunc.html>. SQLite 3.15 knows `%d`, `%f`, `%H`, `%j`, `%J`, `%m`,
    ///       `%M`, `%s`, `%S`, `%w`, `%W`, `%Y` and `%%`; the result of others is NULL there.
    ///     - modifiers: Changes of the date that come first.
    public func strftime(
        _ format: some QueryExpression<String>, _ modifiers: DateModifiers = DateModifiers()
    ) -> SQLQueryExpression<QueryValue.DateText> {
        SQLQueryExpression(call(modifiers) { $1.append("strftime(\(format.queryFragment), \($0))") })
    }

    /// The date without the time, as a text: `2026-11-25`.
    public func date(_ modifiers: DateModifiers = DateModifiers()) -> SQLQueryExpression<QueryValue.DateText>
    {
        SQLQueryExpression(call(modifiers) { $1.append("date(\($0))") })
    }

    /// The time without the date, as a text: `20:15:00`.
    public func time(_ modifiers: DateModifiers = DateModifiers()) -> SQLQueryExpression<QueryValue.DateText>
    {
        SQLQueryExpression(call(modifiers) { $1.append("time(\($0))") })
    }

    /// The year.
    public var year: SQLQueryExpression<QueryValue.DatePart> { part("%Y") }
    /// The month, 1 to 12.
    public var month: SQLQueryExpression<QueryValue.DatePart> { part("%m") }
    /// The day of the month, 1 to 31.
    public var day: SQLQueryExpression<QueryValue.DatePart> { part("%d") }
    /// The hour, 0 to 23.
    public var hour: SQLQueryExpression<QueryValue.DatePart> { part("%H") }
    /// The minute, 0 to 59.
    public var minute: SQLQueryExpression<QueryValue.DatePart> { part("%M") }
    /// The second, 0 to 59.
    public var second: SQLQueryExpression<QueryValue.DatePart> { part("%S") }
    /// The second with its decimals, to milliseconds: 0.0 to 59.999.
    public var fractionalSecond: SQLQueryExpression<QueryValue.DateFraction> {
        SQLQueryExpression("CAST(\(call { $1.append("strftime('%f', \($0))") }) AS REAL)")
    }
    /// The day of the week, 0 to 6: 0 is Sunday.
    public var weekday: SQLQueryExpression<QueryValue.DatePart> { part("%w") }
    /// The day of the year, 1 to 366.
    public var dayOfYear: SQLQueryExpression<QueryValue.DatePart> { part("%j") }
    /// The week of the year, 0 to 53; the first begins on the first Monday.
    public var week: SQLQueryExpression<QueryValue.DatePart> { part("%W") }

    private func part(_ format: StaticString) -> SQLQueryExpression<QueryValue.DatePart> {
        let text = call {
            $1.append(literal: "strftime('")
            $1.append(sql: format)
            $1.append(literal: "', ")
            $1.append($0)
            $1.append(literal: ")")
        }
        return SQLQueryExpression("CAST(\(text) AS INTEGER)")
    }

    /// A call of a date function.
    ///
    /// - parameters:
    ///     - modifiers: Changes of the date that come first.
    ///     - write: Writes the call with its arguments for the date.
    private func call(
        _ modifiers: DateModifiers = DateModifiers(), _ write: (QueryFragment, inout QueryFragment) -> Void
    ) -> QueryFragment {
        var arguments = QueryFragment()
        arguments.append(date: queryFragment, QueryValue.storedDateModifier)
        modifiers.write(to: &arguments)
        var fragment = QueryFragment()
        // A text is read as a date of four digits only.
        if modifiers.canChangeYear || QueryValue.QueryUnwrapped.self != Date.self {
            fragment.appendWithinYears(arguments) { write(arguments, &$0) }
        } else {
            write(arguments, &fragment)
        }
        return fragment
    }
}

extension QueryExpression where Self == CurrentDateExpression<Date> {
    /// The time when the statement runs, stored as what it is compared with.
    ///
    /// ```swift
    /// Reminder.where { $0.createdAt > .now(.days(-7)) }
    /// // text:    WHERE ("createdAt") > (strftime('%Y-%m-%d %H:%M:%f', 'now', '-7 days'))
    /// // seconds: WHERE ("createdAt") > (CAST(strftime('%s', 'now', '-7 days') AS INTEGER))
    /// ```
    public static var now: Self { Self() }
}

extension QueryExpression where Self == CurrentDateExpression<Date.UnixTimeRepresentation> {
    /// The time when the statement runs, in seconds since 1970.
    public static var now: Self { Self() }
}

extension QueryExpression where Self == CurrentDateExpression<Date.JulianDayRepresentation> {
    /// The time when the statement runs, as a Julian day.
    public static var now: Self { Self() }
}

/// The time when a statement runs: `.now`. It is the same for all rows.
public struct CurrentDateExpression<QueryValue: DateStorage>: WritableExpression, Sendable {
    private let modifiers: DateModifiers

    /// Makes the expression.
    ///
    /// - parameter modifiers: Changes of the time, in order.
    public init(_ modifiers: DateModifiers = DateModifiers()) { self.modifiers = modifiers }

    /// The time, changed: `.now(.days(-7))`.
    ///
    /// - parameter modifiers: Changes of the time, in order.
    public func callAsFunction(_ modifiers: DateModifiers = DateModifiers()) -> Self {
        Self(self.modifiers.followed(by: modifiers))
    }

    /// Adds the expression.
    public func write(to fragment: inout QueryFragment) {
        var arguments = QueryFragment("'now'")
        modifiers.write(to: &arguments)
        guard modifiers.canChangeYear else { return QueryValue.writeStored(arguments, to: &fragment) }
        fragment.appendWithinYears(arguments) { QueryValue.writeStored(arguments, to: &$0) }
    }
}
