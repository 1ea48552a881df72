import TestSupport
import Testing

@testable import SyncWire

/// How a reader goes from frame to frame.
@Suite(.anyEngine) struct BundleReaderTests {
    private struct Cancelled: Error {}

    /// Feeds a frame to a reader.
    ///
    /// - returns: The error's code, or nil.
    private func feed(_ reader: inout BundleReader, _ frame: [UInt8]) -> WireError.Code? {
        do {
            try frame.withUnsafeBytes { try reader.consume($0, onHeader: { _ in }, onRow: { _ in }) }
            return nil
        } catch {
            return (error as? WireError)?.code
        }
    }

    private func code(_ frames: [[UInt8]], limits: WireLimits = WireLimits()) -> WireError.Code? {
        do {
            _ = try BundleContent.reading(frames, limits: limits)
            return nil
        } catch {
            return (error as? Refusal)?.error?.code
        }
    }

    @Test func aBundleIsCompleteOnlyAtItsEnd() throws {
        let frames = try Sample.content(rowCount: 2).frames()
        var reader = BundleReader()
        for (index, frame) in frames.enumerated() {
            #expect(reader.isComplete == false)
            #expect((reader.header == nil) == (index == 0))
            #expect(feed(&reader, frame) == nil)
        }
        #expect(reader.isComplete == true)
        #expect(reader.rowCount == 2)
    }

    @Test func aReaderThatRefusedAFrameReadsNoOther() throws {
        let frames = try Sample.content().frames()
        var damaged = frames[1]
        damaged[damaged.count - 1] ^= 1
        var reader = BundleReader()
        #expect(feed(&reader, frames[0]) == nil)
        #expect(feed(&reader, damaged) == .corrupted)
        #expect(feed(&reader, frames[1]) == .malformed)
        #expect(feed(&reader, frames[2]) == .malformed)
        #expect(reader.isComplete == false)
    }

    @Test func whoThrowsOutOfAHeaderGetsNoRows() throws {
        let frames = try Sample.content().frames()
        var reader = BundleReader()
        #expect(throws: Cancelled.self) {
            try frames[0].withUnsafeBytes {
                try reader.consume($0, onHeader: { _ in throw Cancelled() }, onRow: { _ in })
            }
        }
        #expect(feed(&reader, frames[1]) == .malformed)
        #expect(reader.rowCount == 0)
    }

    @Test func whoThrowsOutOfARowGetsNoOther() throws {
        let frames = try Sample.content(rowCount: 3).frames()
        var reader = BundleReader()
        var visitedCount = 0
        #expect(feed(&reader, frames[0]) == nil)
        #expect(throws: Cancelled.self) {
            try frames[1].withUnsafeBytes {
                try reader.consume(
                    $0, onHeader: { _ in },
                    onRow: { _ in
                        visitedCount += 1
                        if visitedCount == 3 { throw Cancelled() }
                    })
            }
        }
        #expect(visitedCount == 3)
        #expect(feed(&reader, frames[2]) == .malformed)
        #expect(reader.isComplete == false)
    }

    @Test func aHeaderAboveItsLimitIsRefused() throws {
        let frames = try Sample.content().frames()
        var limits = WireLimits()
        limits.headerByteCountMax = frames[0].count - Frame.prefixByteCount
        #expect(code(frames, limits: limits) == nil)
        limits.headerByteCountMax -= 1
        #expect(code(frames, limits: limits) == .tooLarge)
    }

    @Test func aChunkAboveItsLimitIsRefused() throws {
        let frames = try Sample.content().frames()
        var limits = WireLimits()
        limits.chunkByteCountMax = try Sample.body([Sample.row()]).count
        #expect(code(frames, limits: limits) == nil)
        limits.chunkByteCountMax -= 1
        #expect(code(frames, limits: limits) == .tooLarge)
    }

    @Test func aRowAboveItsLimitIsRefusedBeforeItIsComplete() throws {
        var row = Sample.row()
        row.values[0].value = .blob(Array(repeating: 7, count: 500))
        let content = BundleContent(header: Sample.header(), rows: [row])
        var limits = WireLimits()
        limits.chunkByteCountMax = 50
        let frames = try content.frames(limits: limits)
        let byteCount = try Sample.body([row]).count
        limits.rowByteCountMax = byteCount - limits.chunkByteCountMax
        #expect(code(frames, limits: limits) == nil)
        limits.rowByteCountMax -= 1
        #expect(code(frames, limits: limits) == .tooLarge)
        #expect(code(Array(frames.prefix(frames.count - 2)), limits: limits) == nil)
    }

    @Test func aRowGoesOnFromChunkToChunk() throws {
        let row = Sample.row()
        let body = try Sample.body([row])
        for cut in 1..<body.count {
            var forge = FrameForge()
            forge.header(Sample.header())
            forge.chunk(Array(body[..<cut]), flags: ChunkLayout.continued)
            forge.chunk(Array(body[cut...]))
            forge.end(rowCount: 1)
            #expect(try BundleContent.reading(forge.frames).rows == [row], "cut at \(cut)")
        }
    }

    @Test func aBundleDoesNotEndInsideOfARow() throws {
        let body = try Sample.body([Sample.row()])
        for length in 1...body.count {
            var forge = FrameForge()
            forge.header(Sample.header())
            forge.chunk(Array(body[..<length]), flags: ChunkLayout.continued)
            forge.end(rowCount: 0)
            #expect(code(forge.frames) == .malformed)
        }
    }

    @Test func stampsBeginAnewInEachGroupOfChunks() throws {
        let rows = [Sample.row(1), Sample.row(2)]
        var forge = FrameForge()
        forge.header(Sample.header())
        for row in rows {
            let body = try Sample.body([row])
            forge.chunk(Array(body[..<9]), flags: ChunkLayout.continued)
            forge.chunk(Array(body[9...]))
        }
        forge.end(rowCount: 2)
        #expect(try BundleContent.reading(forge.frames).rows == rows)
    }

    @Test func aTableWithoutColumnsHasRows() throws {
        let table = BundleHeader.Table(name: "t", key: "id", columns: [])
        var row = Sample.row()
        row.values = []
        let content = BundleContent(header: Sample.header(tables: [table]), rows: [row])
        #expect(try BundleContent.reading(content.frames()) == content)
        #expect(try BundleContent.reading(content.frames(maskedRows: [0])) == content)
    }

    @Test func aReplicaIsListedOnce() throws {
        let header = BundleHeader(
            store: StoreID(high: 1, low: 2), sender: Sample.replica, base: VersionVector(),
            target: VersionVector(), replicas: [Sample.replica, Sample.replica], tables: [])
        #expect(code(try BundleContent(header: header).frames()) == .malformed)
    }
}
