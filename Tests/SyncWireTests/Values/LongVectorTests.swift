import TestSupport
import Testing

@testable import SyncWire

/// Bundles of several chunks, made by the rule of `long.json`.
@Suite(.anyEngine) struct LongVectorTests {
    private struct LongVector: Decodable {
        struct Run: Decodable {
            let rowCount: Int
            let byteCount: Int
        }

        struct Chunk: Decodable {
            let byteCount: Int
            let start: VectorBytes
        }

        let name: String
        let header: VectorHeader
        let firstTimestamp: VectorNumber<Int64>
        let runs: [Run]
        let headerFrame: VectorBytes
        let chunks: [Chunk]
        let endFrame: VectorBytes

        func content() throws -> BundleContent {
            var content = BundleContent(header: try header.content())
            for run in runs {
                for _ in 0..<run.rowCount { content.rows.append(row(content.rows.count, run.byteCount)) }
            }
            return content
        }

        private func row(_ index: Int, _ byteCount: Int) -> RowContent {
            var row = RowContent()
            row.key = Identifier128(high: 0, low: UInt64(index)).bytes
            row.base = WireStamp(
                timestamp: firstTimestamp.value + Int64(index), replica: 0, sequence: Int64(index) + 1)
            let start = 7 + index % 251
            let bytes = [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
                for position in 0..<byteCount {
                    buffer.initializeElement(at: position, to: UInt8((31 * position + start) % 251))
                }
                count = byteCount
            }
            row.values = [.init(column: 0, value: .blob(bytes))]
            return row
        }
    }

    @Test func aLongBundleIsWrittenInTheChunksOfItsVector() throws {
        for vector in try VectorFile<LongVector>.load("long") {
            let frames = try vector.content().frames()
            #expect(frames.first == vector.headerFrame.bytes, "\(vector.name)")
            let chunks = frames.dropFirst().dropLast()
            #expect(chunks.map(\.count) == vector.chunks.map(\.byteCount), "\(vector.name)")
            #expect(chunks.map { Array($0.prefix(43)) } == vector.chunks.map(\.start.bytes), "\(vector.name)")
            #expect(frames.last == vector.endFrame.bytes, "\(vector.name)")
        }
    }

    @Test func aLongBundleIsReadAsItWasWritten() throws {
        for vector in try VectorFile<LongVector>.load("long") {
            let content = try vector.content()
            // Equal arrays of megabytes must not be printed when they are not equal.
            let isEqual = try BundleContent.reading(content.frames()) == content
            #expect(isEqual, "\(vector.name)")
        }
    }
}
