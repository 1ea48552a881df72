import Foundation
import SyncWire
import TestSupport
import Testing

/// The keys that old keys become, against vectors that another program made.
@Suite(.anyEngine) struct DerivedKeyTests {
    private struct File: Decodable {
        struct Part: Decodable {
            let null: Bool?
            let integer: String?
            let real: Double?
            let text: String?
            let blob: String?
        }
        struct Vector: Decodable {
            let namespace: String
            let table: String
            let salt: String
            let parts: [Part]
            let key: String
        }
        let vectors: [Vector]
    }

    private static func vectors() throws -> [File.Vector] {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let data = try Data(contentsOf: root.appendingPathComponent("Schemas/keys/vectors.json"))
        return try JSONDecoder().decode(File.self, from: data).vectors
    }

    private func bytes(_ text: String) -> [UInt8] {
        let digits = Array(text)
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
    }

    private func part(_ part: File.Part) throws -> DerivedKey.Part {
        if let text = part.integer { return .integer(try #require(Int64(text))) }
        if let real = part.real { return .real(real) }
        if let text = part.text { return .text(text) }
        if let blob = part.blob { return .blob(bytes(blob)) }
        return .null
    }

    @Test func keysAreThoseOfTheVectors() throws {
        let vectors = try Self.vectors()
        #expect(vectors.count >= 17)
        for vector in vectors {
            let namespace = try #require(bytes(vector.namespace).withUnsafeBytes { Identifier128(bytes: $0) })
            let key = try DerivedKey(namespace: namespace, table: vector.table)
                .key(of: vector.parts.map(part), salt: bytes(vector.salt))
            #expect(key.description == vector.key, "\(vector.table)")
        }
        // The case of a table's name is the only thing that makes no difference.
        #expect(Set(vectors.map(\.key)).count == vectors.count - 1)
    }
}
