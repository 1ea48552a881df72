import Foundation

/// A type that is stored as JSON: `X.JSONRepresentation`, `X.JSONBRepresentation`, and optionals of them.
public protocol JSONStorage: QueryRepresentable {
    /// The type of the value that the JSON is of.
    associatedtype JSONValue: Codable

    /// The same as JSON text.
    associatedtype JSONText: QueryRepresentable

    /// The same as binary JSON.
    associatedtype JSONBinary: QueryRepresentable
}

extension JSONTextRepresentation: JSONStorage {
    /// The value.
    public typealias JSONValue = Value
    /// The type itself.
    public typealias JSONText = Self
    /// The same value in binary form.
    public typealias JSONBinary = JSONBinaryRepresentation<Value>
}

extension JSONBinaryRepresentation: JSONStorage {
    /// The value.
    public typealias JSONValue = Value
    /// The same value as text.
    public typealias JSONText = JSONTextRepresentation<Value>
    /// The type itself.
    public typealias JSONBinary = Self
}

extension Optional: JSONStorage where Wrapped: JSONStorage {
    /// The value.
    public typealias JSONValue = Wrapped.JSONValue
    /// The same as text, or NULL.
    public typealias JSONText = Wrapped.JSONText?
    /// The same in binary form, or NULL.
    public typealias JSONBinary = Wrapped.JSONBinary?
}

/// A type whose stored form is not what its values are in JSON.
package protocol JSONConvertedRepresentation {
    /// Adds the JSON of an expression of the type.
    static func writeJSON(_ expression: QueryFragment, to fragment: inout QueryFragment)
}

extension QueryFragment {
    /// Adds what an expression is in JSON, such as `true` for 1 of a `Bool`.
    mutating func append<Value>(json expression: QueryFragment, of type: Value.Type) {
        if let converted = type as? any JSONConvertedRepresentation.Type {
            converted.writeJSON(expression, to: &self)
        } else {
            append(expression)
        }
    }

    /// Adds a call of one of the functions of JSON.
    mutating func append(jsonCall name: String, isBinary: Bool, _ arguments: QueryFragment) {
        append(sql: (isBinary ? "jsonb_" : "json_") + name + "(")
        append(arguments)
        append(literal: ")")
    }
}

extension Bool: JSONConvertedRepresentation {
    package static func writeJSON(_ expression: QueryFragment, to fragment: inout QueryFragment) {
        fragment.append(literal: "json(CASE WHEN ")
        fragment.append(operand: expression)
        fragment.append(literal: " THEN 'true' WHEN NOT ")
        fragment.append(operand: expression)
        fragment.append(literal: " THEN 'false' ELSE 'null' END)")
    }
}

extension Decimal: JSONConvertedRepresentation {
    package static func writeJSON(_ expression: QueryFragment, to fragment: inout QueryFragment) {
        // The text of a number is its JSON, too.
        fragment.append(literal: "json(")
        fragment.append(expression)
        fragment.append(literal: ")")
    }
}

extension JSONTextRepresentation: JSONConvertedRepresentation {
    package static func writeJSON(_ expression: QueryFragment, to fragment: inout QueryFragment) {
        fragment.append(literal: "json(")
        fragment.append(expression)
        fragment.append(literal: ")")
    }
}

extension JSONBinaryRepresentation: JSONConvertedRepresentation {
    package static func writeJSON(_ expression: QueryFragment, to fragment: inout QueryFragment) {
        fragment.append(literal: "json(")
        fragment.append(expression)
        fragment.append(literal: ")")
    }
}

extension Date.UnixTimeRepresentation: JSONConvertedRepresentation {
    package static func writeJSON(_ expression: QueryFragment, to fragment: inout QueryFragment) {
        Date.writeText(of: expression, storedDateModifier, to: &fragment)
    }
}

extension Date.JulianDayRepresentation: JSONConvertedRepresentation {
    package static func writeJSON(_ expression: QueryFragment, to fragment: inout QueryFragment) {
        Date.writeText(of: expression, storedDateModifier, to: &fragment)
    }
}

extension UUID.BytesRepresentation: JSONConvertedRepresentation {
    package static func writeJSON(_ expression: QueryFragment, to fragment: inout QueryFragment) {
        for (index, (start, count)) in [(1, 8), (9, 4), (13, 4), (17, 4), (21, 12)].enumerated() {
            if index > 0 { fragment.append(literal: " || '-' || ") }
            fragment.append(literal: "substr(CASE WHEN ")
            fragment.append(operand: expression)
            fragment.append(literal: " IS NOT NULL THEN hex(")
            fragment.append(expression)
            fragment.append(sql: ") END, \(start), \(count))" as String)
        }
    }
}

extension Optional: JSONConvertedRepresentation {
    package static func writeJSON(_ expression: QueryFragment, to fragment: inout QueryFragment) {
        fragment.append(json: expression, of: Wrapped.self)
    }
}
