// Types with raw values, as those, without a conformance of their own.

/// A value that is stored as its raw value.
///
/// ```swift
/// enum Priority: Int { case low = 1, medium, high }
/// @Column(as: Priority.RawRepresentation.self) var priority: Priority
/// ```
///
/// A type of your own needs it only where it is not ``QueryBindable`` itself.
public struct RawValueRepresentation<Value: RawRepresentable>: QueryBindable
where Value.RawValue: QueryBindable {
    /// The raw value.
    public typealias QueryValue = Self
    /// The type of its values in Swift.
    public typealias QueryOutput = Value
    /// The value.
    public var queryOutput: Value

    /// Makes a representation.
    public init(queryOutput: Value) { self.queryOutput = queryOutput }

    /// Reads a raw value that the type has.
    public init(decoder: inout some QueryDecoder) throws {
        let rawValue = try Value.RawValue(decoder: &decoder)
        guard let value = Value(rawValue: rawValue) else {
            throw QueryDecodingError.invalidValue("\(Value.self) has no such raw value")
        }
        queryOutput = value
    }

    /// The raw value.
    public var queryBinding: QueryBinding { queryOutput.rawValue.queryBinding }
}

extension RawRepresentable where RawValue: QueryBindable {
    /// The type, stored as its raw value.
    public typealias RawRepresentation = RawValueRepresentation<Self>
}

extension Optional where Wrapped: RawRepresentable, Wrapped.RawValue: QueryBindable {
    /// The type, which may be NULL, stored as its raw value.
    public typealias RawRepresentation = RawValueRepresentation<Wrapped>?
}
