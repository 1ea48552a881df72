import Foundation
import TestSupport
import Testing

@testable import SyncWire

/// Digests as their vectors have them, which were made from the specification alone.
@Suite(.anyEngine) struct DigestVectorTests {
    private struct Key: Decodable {
        let blob: VectorBytes?
        let text: String?

        func content() throws -> StateRowKey {
            if let blob { return StateRowKey(bytes: blob.bytes, isText: false) }
            guard let text else { throw VectorError(message: "a row without a key") }
            return StateRowKey(bytes: Array(text.utf8), isText: true)
        }
    }

    private struct Hash: Decodable {
        let name: String
        let store: String
        let key: Key
        let kind: Int
        let life: VectorNumber<Int64>?
        let timestamp: VectorNumber<Int64>?
        let replica: String?
        let column: Int?
        let value: VectorValue?
        let hash: VectorBytes
    }

    private struct Sum: Decodable {
        let count: Int64
        let halves: VectorBytes

        func content() throws -> DigestSum {
            let (first, second) = try DigestVectorTests.halves(halves.bytes)
            return DigestSum(count: count, first: first, second: second)
        }
    }

    private struct Column: Decodable {
        let names: [String]
        let isPresent: Bool?
        let cells: Sum?
        let includesValues: Bool?
    }

    private struct Digest: Decodable {
        let table: [String]
        let rows: Sum
        let columns: [Column]
        let hex: VectorBytes
    }

    private struct Question: Decodable {
        let table: [String]
        let columns: [Column]
        let buckets: [UInt8]
        let hex: VectorBytes
    }

    private struct Answer: Decodable {
        struct Entry: Decodable {
            let key: Key
            let sum: Sum
        }

        let vector: [String: VectorNumber<Int64>]
        let rows: [Entry]
        let hex: VectorBytes
    }

    private struct File: Decodable {
        let vectors: [Hash]
        let digest: Digest
        let question: Question
        let answer: Answer
    }

    private let file: File

    init() throws {
        let url = SchemaFolder.url.appendingPathComponent("vectors/digests.json")
        file = try JSONDecoder().decode(File.self, from: Data(contentsOf: url))
    }

    /// Two words, each with its least significant byte first.
    private static func halves(_ bytes: [UInt8]) throws -> (UInt64, UInt64) {
        guard bytes.count == 16 else { throw VectorError(message: "\(bytes.count) bytes are no hash") }
        func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
            var word: UInt64 = 0
            for byte in bytes.reversed() { word = word << 8 | UInt64(byte) }
            return word
        }
        return (word(bytes[..<8]), word(bytes[8...]))
    }

    /// What the hasher makes of a vector of the kinds that are summed.
    private func hashed(_ vector: Hash) throws -> DigestSum {
        let hasher = StateHasher(store: try VectorHeader.identifier(vector.store))
        let key = try vector.key.content()
        let replica = try vector.replica.map { try VectorHeader.identifier($0) }
        return try key.bytes.withUnsafeBytes { (bytes) throws -> DigestSum in
            switch vector.kind {
            case 1:
                return hasher.row(
                    bytes, isText: key.isText, life: try #require(vector.life).value,
                    timestamp: try #require(vector.timestamp).value, replica: try #require(replica))
            case 2:
                return hasher.cell(
                    bytes, isText: key.isText, column: try #require(vector.column),
                    timestamp: try #require(vector.timestamp).value, replica: try #require(replica))
            default:
                let column = try #require(vector.column)
                return try #require(vector.value).content.withWireValue {
                    hasher.value(bytes, isText: key.isText, column: column, $0)
                }
            }
        }
    }

    @Test func hashesAreWhatTheVectorsSay() throws {
        #expect(Set(file.vectors.map(\.kind)) == [1, 2, 3, 4])
        for vector in file.vectors where vector.kind < 4 {
            let (first, second) = try Self.halves(vector.hash.bytes)
            let hashed = try self.hashed(vector)
            #expect(hashed == DigestSum(count: 1, first: first, second: second), "\(vector.name)")
        }
    }

    @Test func aRowIsInTheBucketThatTheVectorSays() throws {
        for vector in file.vectors where vector.kind == 4 {
            let hasher = StateHasher(store: try VectorHeader.identifier(vector.store))
            let key = try vector.key.content()
            let bucket = key.bytes.withUnsafeBytes { hasher.bucket($0, isText: key.isText) }
            #expect(bucket == vector.hash.bytes.first, "\(vector.name)")
        }
    }

    @Test func aDigestIsWrittenAndReadAsItsVectorSays() throws {
        let columns = try file.digest.columns.map { column in
            StateDigest.Column(
                names: column.names, isPresent: try #require(column.isPresent as Bool?),
                cells: try #require(column.cells).content())
        }
        let digest = StateDigest(tables: [
            .init(names: file.digest.table, rows: try file.digest.rows.content(), columns: columns)
        ])
        var writer = WireWriter()
        digest.encode(to: &writer)
        #expect(Array(writer.bytes) == file.digest.hex.bytes)
        let read = try file.digest.hex.bytes.withUnsafeBytes { bytes throws in
            var reader = WireReader(bytes)
            return try StateDigest(from: &reader, limits: WireLimits())
        }
        #expect(read == digest)
    }

    @Test func aQuestionAndItsAnswerAreWrittenAndReadAsTheirVectorsSay() throws {
        let columns = try file.question.columns.map { column in
            StateQuestion.Column(
                names: column.names, includesValues: try #require(column.includesValues as Bool?))
        }
        let question = StateQuestion(
            table: file.question.table, columns: columns, buckets: Set(file.question.buckets))
        #expect(question.encode() == file.question.hex.bytes)
        let readQuestion = try file.question.hex.bytes.withUnsafeBytes { try StateQuestion(bytes: $0) }
        #expect(readQuestion == question)

        var answer = StateAnswer(vector: try VectorHeader.vector(file.answer.vector))
        for entry in file.answer.rows {
            let (key, sum) = (try entry.key.content(), try entry.sum.content())
            answer.rows[key] = sum
        }
        #expect(answer.encode() == file.answer.hex.bytes)
        let readAnswer = try file.answer.hex.bytes.withUnsafeBytes { try StateAnswer(bytes: $0) }
        #expect(readAnswer == answer)
    }
}
