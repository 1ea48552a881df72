import Foundation

@testable import SyncWire

/// A file of `Schemas/wire/vectors`.
struct VectorFile<Vector: Decodable>: Decodable {
    let vectors: [Vector]

    static func load(_ name: String) throws -> [Vector] {
        let url = SchemaFolder.url.appendingPathComponent("vectors").appendingPathComponent(name + ".json")
        let vectors = try JSONDecoder().decode(Self.self, from: Data(contentsOf: url)).vectors
        guard !vectors.isEmpty else { throw VectorError(message: "\(name).json has no vectors") }
        return vectors
    }
}

/// The folder of the specification.
enum SchemaFolder {
    static var url: URL {
        URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Schemas/wire")
    }
}

/// A vector that does not say what it should.
struct VectorError: Error {
    let message: String
}

/// A number that may be above what JSON's numbers hold.
struct VectorNumber<Number: FixedWidthInteger>: Decodable {
    let value: Number

    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let value = Number(text) else { throw VectorError(message: "\(text) is no number") }
        self.value = value
    }
}

/// Bytes in hexadecimal.
struct VectorBytes: Decodable {
    let bytes: [UInt8]

    init(from decoder: any Decoder) throws {
        bytes = try Hexadecimal.bytes(decoder.singleValueContainer().decode(String.self))
    }
}

/// A value.
struct VectorValue: Decodable {
    let content: ValueContent

    private enum Key: CodingKey {
        case type
        case value
        case bits
        case hex
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        switch try container.decode(String.self, forKey: .type) {
        case "null":
            content = .null
        case "integer":
            content = .integer(try container.decode(VectorNumber<Int64>.self, forKey: .value).value)
        case "real":
            let text = try container.decode(String.self, forKey: .bits)
            guard let bits = UInt64(text, radix: 16) else { throw VectorError(message: "no bits: \(text)") }
            content = .real(bits: bits)
        case "text":
            content = .text(try container.decode(VectorBytes.self, forKey: .hex).bytes)
        case "blob":
            content = .blob(try container.decode(VectorBytes.self, forKey: .hex).bytes)
        case let type:
            throw VectorError(message: "no type: \(type)")
        }
    }
}
