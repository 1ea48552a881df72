import Foundation

/// JSON in the form that relays and their clients write it.
enum RelayJSON {
    static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    /// Reads a document.
    ///
    /// - throws: ``RelayProblem``: `malformed`, and what the document's own checks say.
    static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch let problem as RelayProblem {
            throw problem
        } catch {
            // What the decoder says may quote the document.
            throw RelayProblem(.malformed, "the document is not as the protocol has it")
        }
    }
}
