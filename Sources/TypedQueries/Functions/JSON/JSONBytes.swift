import Foundation

// Bytes in JSON are what `Codable` makes of them. SQLite has no form for them there.

extension Data: JSONConvertedRepresentation {
    package static func writeJSON(_ expression: QueryFragment, to fragment: inout QueryFragment) {
        fragment.append(literal: "cipherstore_json_base64(")
        fragment.append(expression)
        fragment.append(literal: ")")
    }
}

extension [UInt8]: JSONConvertedRepresentation {
    package static func writeJSON(_ expression: QueryFragment, to fragment: inout QueryFragment) {
        fragment.append(literal: "cipherstore_json_bytes(")
        fragment.append(expression)
        fragment.append(literal: ")")
    }
}
