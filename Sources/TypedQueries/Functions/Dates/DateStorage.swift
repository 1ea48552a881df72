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
