import Foundation
import Testing

@testable import SyncEngine

/// A file of `Schemas/metadata`.
struct MetadataVectorFile<Vector: Decodable>: Decodable {
    let vectors: [Vector]

    static func load(_ name: String) throws -> [Vector] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let url = root.appendingPathComponent("Schemas/metadata").appendingPathComponent(name + ".json")
        let vectors = try JSONDecoder().decode(Self.self, from: Data(contentsOf: url)).vectors
        try #require(!vectors.isEmpty)
        return vectors
    }
}
