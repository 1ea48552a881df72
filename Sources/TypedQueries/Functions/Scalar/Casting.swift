import Foundation

/// A type that values can be cast to, by ``QueryExpression/cast(as:)``.
public protocol CastableRepresentation: QueryRepresentable {
    /// The name of the type in SQL: `INTEGER`, `REAL`, `TEXT`, `NUMERIC` or `BLOB`.
    static var castTypeName: StaticString { get }
}

extension CastableRepresentation where Self: FixedWidthInteger {
    /// `INTEGER`
    public static var castTypeName: StaticString { "INTEGER" }
}

extension Int: CastableRepresentation {}
extension Int8: CastableRepresentation {}
extension Int16: CastableRepresentation {}
extension Int32: CastableRepresentation {}
extension Int64: CastableRepresentation {}
extension UInt: CastableRepresentation {}
extension UInt8: CastableRepresentation {}
extension UInt16: CastableRepresentation {}
extension UInt32: CastableRepresentation {}
extension UInt64: CastableRepresentation {}

extension Bool: CastableRepresentation {
    /// `INTEGER`
    public static var castTypeName: StaticString { "INTEGER" }
}

extension Double: CastableRepresentation {
    /// `REAL`
    public static var castTypeName: StaticString { "REAL" }
}

extension Float: CastableRepresentation {
    /// `REAL`
    public static var castTypeName: StaticString { "REAL" }
}

extension String: CastableRepresentation {
    /// `TEXT`
    public static var castTypeName: StaticString { "TEXT" }
}

extension [UInt8]: CastableRepresentation {
    /// `BLOB`
    public static var castTypeName: StaticString { "BLOB" }
}

extension Data: CastableRepresentation {
    /// `BLOB`
    public static var castTypeName: StaticString { "BLOB" }
}

extension UUID: CastableRepresentation {
    /// `TEXT`
    public static var castTypeName: StaticString { "TEXT" }
}

extension UUID.BytesRepresentation: CastableRepresentation {
    /// `BLOB`
    public static var castTypeName: StaticString { "BLOB" }
}

extension Optional: CastableRepresentation where Wrapped: CastableRepresentation {
    /// That of the type without the optional.
    public static var castTypeName: StaticString { Wrapped.castTypeName }
}

extension QueryExpression where QueryValue: QueryRepresentable & BinaryInteger {
    /// The integer as a floating-point number, where nothing says another type.
    ///
    /// ```swift
    /// $0.points.cast() / $0.rounds.cast()    // (CAST("games"."points" AS REAL)) / (CAST("games"."rounds" AS REAL))
    /// ```
    @_disfavoredOverload
    public func cast() -> SQLQueryExpression<Double> { cast(as: Double.self) }
}

extension QueryExpression {
    /// The integer, which may be NULL, as a floating-point number, where nothing says another type.
    @_disfavoredOverload
    public func cast<Wrapped: CastableRepresentation & BinaryInteger>() -> SQLQueryExpression<Double?>
    where QueryValue == Wrapped? {
        cast(as: Double?.self)
    }
}
