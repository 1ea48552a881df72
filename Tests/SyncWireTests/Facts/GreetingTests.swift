import Foundation
import TestSupport
import Testing

@testable import SyncWire

/// Facts about replicas, in a vector.
struct VectorFacts: Decodable {
    struct Point: Decodable {
        let sequence: VectorNumber<Int64>
        let previous: VectorNumber<Int64>
        let hash: String
    }

    struct Retirement: Decodable {
        let replica: String
        let milliseconds: VectorNumber<Int64>
        let reason: UInt8
    }

    let chains: [String: [Point]]?
    let floor: [String: VectorNumber<Int64>]?
    let known: [String: [String: VectorNumber<Int64>]]?
    let retirements: [Retirement]?
    let place: String?

    struct Part: Decodable {
        let tables: [[String]]
        let base: [String: VectorNumber<Int64>]
        let target: [String: VectorNumber<Int64>]
        let floor: [String: VectorNumber<Int64>]
    }

    let parts: [Part]?
    let acknowledged: [String: [String: VectorNumber<Int64>]]?

    func content() throws -> ReplicaFacts {
        var facts = ReplicaFacts()
        for (replica, points) in chains ?? [:] {
            facts.chains[try VectorHeader.identifier(replica)] = try points.map {
                ChainPoint(
                    sequence: $0.sequence.value, previous: $0.previous.value,
                    hash: try VectorHeader.identifier($0.hash))
            }
        }
        facts.floor = try VectorHeader.vector(floor ?? [:])
        for (replica, vector) in known ?? [:] {
            facts.known[try VectorHeader.identifier(replica)] = try VectorHeader.vector(vector)
        }
        facts.retirements = try (retirements ?? []).map {
            .init(
                replica: try VectorHeader.identifier($0.replica), milliseconds: $0.milliseconds.value,
                reason: try #require(ReplicaFacts.Retirement.Reason(rawValue: $0.reason)))
        }
        facts.place = try place.map { try VectorHeader.identifier($0) }
        facts.parts = try (parts ?? []).map {
            .init(
                tables: $0.tables, base: try VectorHeader.vector($0.base),
                target: try VectorHeader.vector($0.target), floor: try VectorHeader.vector($0.floor))
        }
        for (replica, vector) in acknowledged ?? [:] {
            facts.acknowledged[try VectorHeader.identifier(replica)] = try VectorHeader.vector(vector)
        }
        return facts
    }
}

/// The coding of greetings, and of the facts that headers share with them.
@Suite(.anyEngine) struct GreetingTests {
    private struct File: Decodable {
        struct Content: Decodable {
            let store: String
            let replica: String
            let ownSequence: VectorNumber<Int64>
            let vector: [String: VectorNumber<Int64>]
            let facts: VectorFacts
        }

        struct Vector: Decodable {
            let name: String
            let decodeOnly: String?
            let greeting: Content
            let frame: VectorBytes
        }

        struct Refused: Decodable {
            let name: String
            let error: String
            let frame: VectorBytes
        }

        let vectors: [Vector]
        let refused: [Refused]
    }

    private func file() throws -> File {
        let url = SchemaFolder.url.appendingPathComponent("vectors/greetings.json")
        return try JSONDecoder().decode(File.self, from: Data(contentsOf: url))
    }

    private func read(_ bytes: [UInt8]) throws -> Greeting {
        try bytes.withUnsafeBytes { try Greeting(frame: $0) }
    }

    private func content(_ vector: File.Content) throws -> Greeting {
        Greeting(
            store: try VectorHeader.identifier(vector.store),
            replica: try VectorHeader.identifier(vector.replica),
            vector: try VectorHeader.vector(vector.vector), ownSequence: vector.ownSequence.value,
            facts: try vector.facts.content())
    }

    @Test func aGreetingIsReadAndWrittenAsItsVectorSays() throws {
        for vector in try file().vectors {
            let greeting = try content(vector.greeting)
            #expect(try read(vector.frame.bytes) == greeting, "\(vector.name)")
            #expect((greeting.encode() == vector.frame.bytes) == (vector.decodeOnly == nil), "\(vector.name)")
        }
    }

    @Test func whatIsNoGreetingIsRefusedWithItsError() throws {
        for vector in try file().refused {
            let error = #expect(throws: WireError.self, "\(vector.name)") { try read(vector.frame.bytes) }
            #expect(error?.code.rawValue == vector.error, "\(vector.name): \(error?.message ?? "")")
        }
    }

    @Test func aGreetingThatIsCutIsTruncated() throws {
        for vector in try file().vectors {
            let payload = Array(vector.frame.bytes.dropFirst(Frame.prefixByteCount))
            for length in 0..<payload.count {
                let error = #expect(throws: WireError.self) {
                    try read(FrameForge.frame(Greeting.frameType, Array(payload.prefix(length))))
                }
                #expect(error?.code == .truncated, "\(vector.name), \(length) bytes")
            }
        }
    }

    @Test func aReplicaThatIsRetiredTwiceIsRefused() throws {
        let replica = Identifier128(high: 1, low: 2)
        var facts = ReplicaFacts()
        facts.retirements = [.renewed, .unseen].map { .init(replica: replica, milliseconds: 1, reason: $0) }
        let greeting = Greeting(
            store: replica, replica: replica, vector: VersionVector(), ownSequence: 0, facts: facts)
        let error = #expect(throws: WireError.self) { try read(greeting.encode()) }
        #expect(error?.code == .malformed)
    }

    @Test func randomBytesNeverTrap() throws {
        var random = SplitMix64(seed: 5)
        let vectors = try file().vectors
        for _ in 0..<4000 {
            var bytes = vectors[Int(random.next() % UInt64(vectors.count))].frame.bytes
            for _ in 0...(random.next() % 4) {
                let index = Int(random.next() % UInt64(bytes.count - 5)) + 5
                bytes[index] = UInt8(truncatingIfNeeded: random.next())
            }
            if let greeting = try? read(bytes) { #expect(try read(greeting.encode()) == greeting) }
        }
    }
}
