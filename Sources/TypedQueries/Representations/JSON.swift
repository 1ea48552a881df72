import Foundation

/// A value that is stored as JSON text.
///
/// ```swift
/// @Column(as: [String].JSONRepresentation.self) var tags: [String]
/// ```
public struct JSONTextRepresentation<Value: Codable>: QueryBindable {
    /// A text.
    public typealias QueryValue = Self
    /// The type of its values in Swift.
    public typealias QueryOutput = Value
    /// The value.
    public var queryOutput: Value

    /// Makes a representation.
    public init(queryOutput: Value) { self.queryOutput = queryOutput }

    /// Reads a JSON text.
    public init(decoder: inout some QueryDecoder) throws {
        let data = try decoder.required(decoder.decodeText { Data($0) })
        queryOutput = try JSONCoding.decode(Value.self, data)
    }

    /// The JSON text.
    public var queryBinding: QueryBinding { JSONCoding.binding(queryOutput) }
}

/// A value that is stored as SQLite's binary JSON. On engines without it, the library's own `jsonb` writes the same bytes.
///
/// JSON text in such a column is read, too, but equals no value that is written.
public struct JSONBinaryRepresentation<Value: Codable>: QueryBindable {
    /// A blob.
    public typealias QueryValue = Self
    /// The type of its values in Swift.
    public typealias QueryOutput = Value
    /// The value.
    public var queryOutput: Value

    /// Makes a representation.
    public init(queryOutput: Value) { self.queryOutput = queryOutput }

    /// Reads binary JSON, or a JSON text.
    public init(decoder: inout some QueryDecoder) throws {
        let data =
            decoder.isText
            ? try decoder.decodeText { Data($0) } : try decoder.decodeBlob { try JSONBlob.text(of: $0) }
        queryOutput = try JSONCoding.decode(Value.self, decoder.required(data))
    }

    /// The JSON text, which `jsonb` makes binary.
    public var queryBinding: QueryBinding { JSONCoding.binding(queryOutput) }

    /// `jsonb(?)`
    public var queryFragment: QueryFragment {
        var fragment = QueryFragment()
        write(to: &fragment)
        return fragment
    }

    /// Adds `jsonb(?)`.
    public func write(to fragment: inout QueryFragment) {
        fragment.append(literal: "jsonb(")
        fragment.append(binding: queryBinding)
        fragment.append(literal: ")")
    }
}

extension JSONTextRepresentation: Sendable where Value: Sendable {}
extension JSONBinaryRepresentation: Sendable where Value: Sendable {}

extension Decodable where Self: Encodable {
    /// The type, stored as JSON text.
    public typealias JSONRepresentation = JSONTextRepresentation<Self>
    /// The type, stored as SQLite's binary JSON.
    public typealias JSONBRepresentation = JSONBinaryRepresentation<Self>
}

extension Optional where Wrapped: Codable {
    /// The type, which may be NULL, stored as JSON text.
    public typealias JSONRepresentation = JSONTextRepresentation<Wrapped>?
    /// The type, which may be NULL, stored as SQLite's binary JSON.
    public typealias JSONBRepresentation = JSONBinaryRepresentation<Wrapped>?
}

/// JSON by Foundation's coders, with dates as the library writes them.
enum JSONCoding {
    static func decode<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            var text = try decoder.singleValueContainer().decode(String.self)
            return try text.withUTF8 { try ISO8601Text.date(of: UnsafeRawBufferPointer($0)) }
        }
        do {
            return try decoder.decode(type, from: data)
        } catch {
            // The error of the decoder may quote the data.
            throw QueryDecodingError.invalidValue("the JSON does not fit \(type)")
        }
    }

    static func binding(_ value: some Encodable) -> QueryBinding {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(ISO8601Text.required(of: date))
        }
        do {
            return .text(String(decoding: try encoder.encode(value), as: UTF8.self))
        } catch {
            return .invalid(reason(error))
        }
    }

    /// Why a value has no JSON. The error of the encoder may hold the value, and its path the keys of dictionaries.
    private static func reason(_ error: any Error) -> QueryBindingError {
        if let reason = error as? QueryBindingError { return reason }
        var place = ""
        if case .invalidValue(_, let context)? = error as? EncodingError {
            let names = context.codingPath.filter(isDeclared).map(\.stringValue)
            if !names.isEmpty { place = " at " + names.joined(separator: ".") }
        }
        return QueryBindingError("the value can't be written as JSON\(place)")
    }

    /// Whether a key is the name of a property: a case that holds nothing. Any other may be a value, or a position.
    private static func isDeclared(_ key: any CodingKey) -> Bool {
        let mirror = Mirror(reflecting: key)
        return mirror.displayStyle == .enum && mirror.children.isEmpty
    }
}
