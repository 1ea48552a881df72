import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Bundle files as `Schemas/wire/v1.md` says: the frames of a bundle, one after another.
@Suite struct BundleFileVectorTests {
    private struct File: Decodable {
        struct Vector: Decodable {
            let name: String
            let frames: [String]
        }

        let vectors: [Vector]
    }

    /// The frames of a vector of `Schemas/wire/vectors/bundles.json`, one after another.
    private func frames(_ name: String) throws -> Data {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let url = root.appendingPathComponent("Schemas/wire/vectors/bundles.json")
        let file = try JSONDecoder().decode(File.self, from: Data(contentsOf: url))
        let vector = try #require(file.vectors.first { $0.name == name })
        let digits = Array(vector.frames.joined().utf8)
        return Data(
            try stride(from: 0, to: digits.count, by: 2).map {
                try #require(UInt8(String(decoding: digits[$0..<($0 + 2)], as: UTF8.self), radix: 16))
            })
    }

    @Test func aRequestThatIsNotEncryptedIsTheFramesOfItsVector() throws {
        let stores = try TestStores()
        let path = stores.path("request")
        try frames("request").write(to: URL(fileURLWithPath: path))
        let information = try BundleFile.inspect(path, .plaintext)
        #expect(information.isRequest)
        #expect(information.base == information.target)
        #expect(information.target.sequences.values.sorted() == [2, 7])
        #expect(information.tables.isEmpty)
    }

    @Test func aRequestIsWrittenInTheFormOfItsVector() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        let path = stores.path("request")
        try a.synchronizer.writeRequest(to: path, .plaintext)
        let header = try BundleFile.header(of: BundleFile.open(path, .plaintext))
        #expect(header.base == header.target && header.replicas.isEmpty && header.tables.isEmpty)
        // Version 1, without facts, and an end without chunks: type, length, two numbers and a hash.
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        #expect(bytes[9] == 1)
        #expect(bytes.suffix(39).prefix(7).elementsEqual([3, 34, 0, 0, 0, 0, 0]))
    }

    @Test func aBundleThatIsNotEncryptedIsTheFramesOfItsVector() throws {
        let stores = try TestStores()
        let path = stores.path("bundle")
        try frames("worked-example").write(to: URL(fileURLWithPath: path))
        let information = try BundleFile.inspect(path, .plaintext)
        #expect(information.rowCount == 2)
        #expect(information.tables.map(\.name) == ["note"])
    }
}
