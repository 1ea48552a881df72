import TestSupport
import Testing

@testable import SyncWire

/// What a writer makes, and what it does not let through.
@Suite(.anyEngine) struct BundleWriterTests {
    private struct DiskFull: Error {}

    private func begin(_ writer: inout BundleWriter, key: [UInt8], isTextKey: Bool) {
        key.withUnsafeBytes { key in
            writer.beginRow(
                table: 0, key: key, isTextKey: isTextKey, life: 1,
                base: WireStamp(timestamp: 1, replica: 0, sequence: 1), mask: nil, cellCount: 0)
        }
        writer.value(.null)
        writer.value(.null)
    }

    @Test func aKeyThatIsNoUUIDIsNotSent() throws {
        let uuid = Array("0190f5fe-7c00-7a00-8000-00000000000a".utf8)
        let underscores = uuid.map { $0 == 0x2D ? 0x5F : $0 }
        let keys: [(bytes: [UInt8], isText: Bool)] = [
            ([], false), (Array(repeating: 0, count: 15), false), (Array(repeating: 0, count: 17), false),
            ([], true), (Array("red".utf8), true), (underscores, true), (uuid + [0, 0x78], true),
            (Array(uuid.dropLast()), true), (Array(repeating: 0, count: 16), true),
        ]
        for key in keys {
            var frameCount = 0
            var writer = try BundleWriter(header: Sample.header()) { _ in frameCount += 1 }
            begin(&writer, key: key.bytes, isTextKey: key.isText)
            #expect(throws: WireError(.malformed, "the key of a row is no UUID")) { try writer.endRow() }
            #expect(throws: WireError.self) { try writer.finish() }
            #expect(frameCount == 1, "\(key)")
        }
    }

    @Test func aDeletedRowHasNoMask() throws {
        var frames: [[UInt8]] = []
        var writer = try BundleWriter(header: Sample.header()) { frames.append(Array($0)) }
        let row = Sample.row()
        for life in [2, 4] as [Int64] {
            row.key.withUnsafeBytes { key in
                writer.beginRow(
                    table: 0, key: key, isTextKey: false, life: life, base: row.base, mask: [false, true],
                    cellCount: 0)
            }
            try writer.endRow()
        }
        try writer.finish()
        #expect(try BundleContent.reading(frames).rows.map(\.life) == [2, 4])
    }

    @Test func theHeaderIsSentAtOnce() throws {
        var frameCount = 0
        var writer = try BundleWriter(header: Sample.header()) { _ in frameCount += 1 }
        #expect(frameCount == 1)
        try writer.finish()
        #expect(frameCount == 2)
    }

    @Test func aChunkIsSentOnceItIsFull() throws {
        var counts: [Int] = []
        var writer = try BundleWriter(header: Sample.header()) { counts.append($0.count) }
        var row = Sample.row()
        row.values[0].value = .blob(Array(repeating: 1, count: 10_000))
        for _ in 0..<60 { try row.write(to: &writer, columnCount: 2) }
        #expect(counts.count == 3)
        try writer.finish()
        #expect(counts.count == 5)
        let isClosedInTime = counts[1...2].allSatisfy {
            $0 >= BundleWriter.chunkByteCount && $0 < BundleWriter.chunkByteCount + 11_000
        }
        #expect(isClosedInTime)
        #expect(writer.byteCount == counts.reduce(0, +))
    }

    @Test func whatTheSinkThrowsComesThrough() throws {
        #expect(throws: DiskFull.self) {
            _ = try BundleWriter(header: Sample.header()) { _ in throw DiskFull() }
        }
        var isFull = false
        var writer = try BundleWriter(header: Sample.header()) { _ in if isFull { throw DiskFull() } }
        try Sample.row().write(to: &writer, columnCount: 2)
        isFull = true
        #expect(throws: DiskFull.self) { try writer.finish() }
    }
}
