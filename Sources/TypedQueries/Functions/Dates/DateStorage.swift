import Foundation

/// A type that says how dates are stored, for the functions of dates.
///
/// The same Swift makes other SQL for each: texts are read as they are, seconds as `unixepoch`, and so on.
public protocol DateStorage: QueryRepresentable {
    /// The type of a part of the date, such as the year: an integer, or an optional one.
    associatedtype DatePart: QueryRepresentable = Int

    /// The type of a part of the date with decimals: a number, or an optional one.
    associatedtype DateFraction: QueryRepresentable = Double

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
    /// A part with decimals of a date that may be NULL.
    public typealias DateFraction = Wrapped.DateFraction?
    /// A text of a date that may be NULL.
    public typealias DateText = Wrapped.DateText?

    /// That of the type.
    public static var storedDateModifier: StaticString? { Wrapped.storedDateModifier }

    /// Adds what the type adds.
    public static func writeStored(_ arguments: QueryFragment, to fragment: inout QueryFragment) {
        Wrapped.writeStored(arguments, to: &fragment)
    }
}

extension Date {
    /// Adds the text of a date that is stored as a number, for JSON.
    ///
    /// - parameters:
    ///     - number: A number of seconds since 1970, or a Julian day.
    ///     - modifier: What SQLite's date functions have to be told about it.
    package static func writeText(
        of number: QueryFragment, _ modifier: StaticString?, to fragment: inout QueryFragment
    ) {
        var arguments = QueryFragment()
        arguments.append(date: number, modifier)
        fragment.appendWithinYears(arguments) { writeStored(arguments, to: &$0) }
    }
}

extension QueryFragment {
    /// Adds a stored date as the arguments of a date function.
    mutating func append(date: QueryFragment, _ modifier: StaticString?) {
        guard let modifier else { return append(date) }
        func write(to fragment: inout QueryFragment) {
            fragment.append(date)
            fragment.append(literal: ", '")
            fragment.append(sql: modifier)
            fragment.append(literal: "'")
        }
        guard modifier.description == "unixepoch" else { return write(to: &self) }
        appendChoice(.dateRange, native: write) {
            $0.append(literal: "(")
            $0.append(date)
            $0.append(literal: ") / 86400.0 + 2440587.5")
        }
    }

    /// Adds a call of a date function, which is NULL for a date that is not in SQLite's years.
    ///
    /// - parameters:
    ///     - arguments: Those of the call, which may be after the year 9999.
    ///     - call: Writes the call.
    mutating func appendWithinYears(_ arguments: QueryFragment, _ call: (inout QueryFragment) -> Void) {
        appendChoice(.dateRange, native: call) {
            $0.append(literal: "CASE WHEN julianday(")
            $0.append(arguments)
            $0.append(literal: ") >= 0 AND julianday(")
            $0.append(arguments)
            $0.append(literal: ") < 5373484.5 THEN ")
            call(&$0)
            $0.append(literal: " END")
        }
    }
}
