import Foundation

// How the types of the standard library and Foundation are stored.

extension QueryDecoder {
    @inlinable @inline(__always)
    mutating func required<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw QueryDecodingError.missingRequiredColumn }
        return value
    }
}

extension QueryBindable where Self: FixedWidthInteger {
    /// Reads an integer that is in range.
    @inlinable @inline(__always)
    public init(decoder: inout some QueryDecoder) throws {
        let integer = try decoder.required(decoder.decode(Int64.self))
        guard let value = Self(exactly: integer) else {
            throw QueryDecodingError.invalidValue("the integer is out of the range of \(Self.self)")
        }
        self = value
    }

    /// The integer.
    @inlinable
    public var queryBinding: QueryBinding {
        if let value = Int64(exactly: self) { .int(value) } else { .uint(UInt64(clamping: self)) }
    }
}

extension Int: QueryBindable {
    /// An integer.
    public typealias QueryValue = Int
}
extension Int8: QueryBindable {
    /// An integer.
    public typealias QueryValue = Int8
}
extension Int16: QueryBindable {
    /// An integer.
    public typealias QueryValue = Int16
}
extension Int32: QueryBindable {
    /// An integer.
    public typealias QueryValue = Int32
}
extension Int64: QueryBindable {
    /// An integer.
    public typealias QueryValue = Int64
}
extension UInt: QueryBindable {
    /// An integer.
    public typealias QueryValue = UInt
}
extension UInt8: QueryBindable {
    /// An integer.
    public typealias QueryValue = UInt8
}
extension UInt16: QueryBindable {
    /// An integer.
    public typealias QueryValue = UInt16
}
extension UInt32: QueryBindable {
    /// An integer.
    public typealias QueryValue = UInt32
}
extension UInt64: QueryBindable {
    /// An integer, of at most `Int64.max`.
    public typealias QueryValue = UInt64
}

extension Bool: QueryBindable {
    /// A truth value.
    public typealias QueryValue = Bool

    /// Reads an integer: 0 is false.
    @inlinable @inline(__always)
    public init(decoder: inout some QueryDecoder) throws {
        self = try decoder.required(decoder.decode(Int64.self)) != 0
    }

    /// 0 or 1.
    @inlinable
    public var queryBinding: QueryBinding { .bool(self) }
}

extension Double: QueryBindable {
    /// A floating-point number.
    public typealias QueryValue = Double

    /// Reads a number.
    @inlinable @inline(__always)
    public init(decoder: inout some QueryDecoder) throws {
        self = try decoder.required(decoder.decode(Double.self))
    }

    /// The number.
    @inlinable
    public var queryBinding: QueryBinding { .double(self) }
}

extension Float: QueryBindable {
    /// A floating-point number.
    public typealias QueryValue = Float

    /// Reads a number.
    @inlinable @inline(__always)
    public init(decoder: inout some QueryDecoder) throws {
        self = Float(try decoder.required(decoder.decode(Double.self)))
    }

    /// The number.
    @inlinable
    public var queryBinding: QueryBinding { .double(Double(self)) }
}

extension String: QueryBindable {
    /// A text.
    public typealias QueryValue = String

    /// Reads a text.
    @inlinable @inline(__always)
    public init(decoder: inout some QueryDecoder) throws {
        self = try decoder.required(decoder.decode(String.self))
    }

    /// The text.
    @inlinable
    public var queryBinding: QueryBinding { .text(self) }
}

extension Substring: QueryBindable {
    /// A text.
    public typealias QueryValue = Substring

    /// Reads a text.
    @inlinable
    public init(decoder: inout some QueryDecoder) throws {
        self = Substring(try decoder.required(decoder.decode(String.self)))
    }

    /// The text.
    @inlinable
    public var queryBinding: QueryBinding { .text(String(self)) }
}

extension [UInt8]: QueryBindable, QueryRepresentable, QueryDecodable, QueryExpression {
    /// Bytes.
    public typealias QueryValue = [UInt8]

    /// Reads a blob.
    @inlinable
    public init(decoder: inout some QueryDecoder) throws {
        self = try decoder.required(decoder.decode([UInt8].self))
    }

    /// The bytes.
    @inlinable
    public var queryBinding: QueryBinding { .blob(self) }
}

extension Data: QueryBindable {
    /// Bytes.
    public typealias QueryValue = Data

    /// Reads a blob.
    public init(decoder: inout some QueryDecoder) throws {
        self = try decoder.required(decoder.decodeBlob { Data($0) })
    }

    /// The bytes.
    public var queryBinding: QueryBinding { .blob([UInt8](self)) }
}

extension URL: QueryBindable {
    /// A text.
    public typealias QueryValue = URL

    /// Reads a text that is a URL.
    public init(decoder: inout some QueryDecoder) throws {
        let text = try String(decoder: &decoder)
        guard let url = URL(string: text) else { throw QueryDecodingError.invalidValue("the text is no URL") }
        self = url
    }

    /// The URL as text.
    public var queryBinding: QueryBinding { .text(absoluteString) }
}

extension Decimal: QueryBindable {
    /// A text, which loses nothing. SQLite compares and orders texts by their bytes, and computes with floating-point
    /// numbers.
    public typealias QueryValue = Decimal

    /// Reads a number, or a text that is a decimal number as a whole.
    ///
    /// A floating-point number is the shortest decimal number that stands for it.
    public init(decoder: inout some QueryDecoder) throws {
        if !decoder.isText {
            var integers = decoder
            if let integer = try? integers.decode(Int64.self) {
                decoder.skip(1)
                self = Decimal(integer)
                return
            }
        }
        let text =
            try decoder.isText
            ? String(decoder: &decoder) : decoder.required(decoder.decode(Double.self)).description
        guard let number = Decimal(number: text) else {
            throw QueryDecodingError.invalidValue("the value is no decimal number")
        }
        self = number
    }

    /// The number as text; NaN is NULL, as in SQLite.
    public var queryBinding: QueryBinding { isNaN ? .null : .text(description) }
}

extension QueryBindable where Self: RawRepresentable, RawValue: QueryBindable {
    /// Reads a raw value that the type has.
    @inlinable
    public init(decoder: inout some QueryDecoder) throws {
        let rawValue = try RawValue(decoder: &decoder)
        guard let value = Self(rawValue: rawValue) else {
            throw QueryDecodingError.invalidValue("\(Self.self) has no such raw value")
        }
        self = value
    }

    /// The raw value.
    @inlinable
    public var queryBinding: QueryBinding { rawValue.queryBinding }
}

extension QueryBindable where Self: LosslessStringConvertible {
    /// Reads a text that describes a value of the type.
    public init(decoder: inout some QueryDecoder) throws {
        let description = try String(decoder: &decoder)
        guard let value = Self(description) else {
            throw QueryDecodingError.invalidValue("the text describes no \(Self.self)")
        }
        self = value
    }

    /// The text that describes the value.
    public var queryBinding: QueryBinding { .text(description) }
}

extension QueryBindable where Self: LosslessStringConvertible & RawRepresentable, RawValue: QueryBindable {
    /// Reads a raw value that the type has.
    public init(decoder: inout some QueryDecoder) throws {
        let rawValue = try RawValue(decoder: &decoder)
        guard let value = Self(rawValue: rawValue) else {
            throw QueryDecodingError.invalidValue("\(Self.self) has no such raw value")
        }
        self = value
    }

    /// The raw value, which goes before the text.
    public var queryBinding: QueryBinding { rawValue.queryBinding }
}
