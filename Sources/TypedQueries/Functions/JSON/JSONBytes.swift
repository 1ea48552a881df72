import CipherStore
import Foundation

// Bytes in JSON are what `Codable` makes of them. SQLite has no form for them there.

/// A type of bytes, which are something else in JSON.
protocol JSONBytes {
    /// The function in SQL that makes bytes of what is in JSON.
    static var functionOfJSON: StaticString { get }

    /// Makes bytes of the text that is in JSON; nil for another text.
    static func value(ofJSON text: Data) -> Self?
}

extension Data: JSONBytes, JSONConvertedRepresentation {
    static var functionOfJSON: StaticString { "cipherstore_json_unbase64" }

    static func value(ofJSON text: Data) -> Data? { JSONByteForms.bytes(ofBase64: text) }

    package static func writeJSON(_ expression: QueryFragment, to fragment: inout QueryFragment) {
        fragment.append(literal: "cipherstore_json_base64(")
        fragment.append(expression)
        fragment.append(literal: ")")
    }
}

extension [UInt8]: JSONBytes, JSONConvertedRepresentation {
    static var functionOfJSON: StaticString { "cipherstore_json_unbytes" }

    static func value(ofJSON text: Data) -> [UInt8]? {
        JSONByteForms.bytes(ofArray: text).map { [UInt8]($0) }
    }

    package static func writeJSON(_ expression: QueryFragment, to fragment: inout QueryFragment) {
        fragment.append(literal: "cipherstore_json_bytes(")
        fragment.append(expression)
        fragment.append(literal: ")")
    }
}

extension QueryRepresentable {
    /// The type, if it is one of bytes, or an optional one.
    static var jsonBytes: (any JSONBytes.Type)? { QueryUnwrapped.self as? any JSONBytes.Type }
}

extension QueryFragment {
    /// The expression of a value that was taken out of JSON, in the form in which values of its type are stored and compared.
    func takenOutOfJSON<Value: QueryRepresentable>(as type: Value.Type) -> QueryFragment {
        // JSON has identifiers in upper case; they are stored and bound in lower case.
        if Value.QueryUnwrapped.self == UUID.self { return ignoringCase }
        guard let bytes = Value.jsonBytes else { return self }
        var fragment = QueryFragment()
        fragment.append(sql: bytes.functionOfJSON)
        fragment.append(literal: "(")
        fragment.append(self)
        fragment.append(literal: ")")
        return fragment
    }
}

extension JSONElements.TableColumns where Value.QueryUnwrapped == Data {
    /// The element. JSON has it as a text in Base64.
    public var value: SQLQueryExpression<Value> { SQLQueryExpression(JSONElements.valueOutOfJSON) }
}

extension JSONElements.TableColumns where Value.QueryUnwrapped == [UInt8] {
    /// The element. JSON has it as an array of numbers.
    public var value: SQLQueryExpression<Value> { SQLQueryExpression(JSONElements.valueOutOfJSON) }
}

extension JSONElements {
    /// The element as values of its type are stored and compared.
    static var valueOutOfJSON: QueryFragment {
        TableColumn<Self, Value>("value").queryFragment.takenOutOfJSON(as: Value.self)
    }

    /// Reads an element that is the text of bytes.
    static func bytes(_ decoder: inout some QueryDecoder, _ type: any JSONBytes.Type) throws -> Value {
        // Without the inner optional, nil is no value of an optional type.
        let bytes = try decoder.decodeText { type.value(ofJSON: Data($0)) } ?? nil
        guard let bytes, let value = bytes as? Value else {
            throw QueryDecodingError.invalidValue("the JSON does not fit \(Value.self)")
        }
        return value
    }
}
