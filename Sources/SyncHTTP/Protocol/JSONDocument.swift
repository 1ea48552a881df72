import Foundation
import HTTPTypes

/// JSON in the form that the protocol has it.
enum JSONDocument {
    static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    /// - throws: ``RemoteError`` of code `malformed`.
    static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch let error as RemoteError {
            throw error
        } catch {
            throw RemoteError(.malformed, "the document is not as the protocol has it")
        }
    }
}

extension HTTPField.Name {
    /// The session of a request.
    static let session = make("cipherstore-session")
    /// The number of a request in its session.
    static let number = make("cipherstore-number")
    /// The device's signature of a request.
    static let signature = make("cipherstore-signature")

    private static func make(_ name: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else { preconditionFailure("\(name) is a name of a header") }
        return name
    }
}
