import TestSupport
import Testing

@testable import SyncWire

/// Bundles that are compressed on their way.
@Suite(.anyEngine) struct FrameCompressorTests {
    private func codecs(_ frames: [[UInt8]]) -> [UInt8] {
        frames.filter { $0[0] == Frame.Kind.chunk.rawValue }.map { $0[Frame.prefixByteCount + 5] }
    }

    private func rows(_ count: Int, _ value: (Int) -> ValueContent) -> BundleContent {
        let table = BundleHeader.Table(name: "note", key: "id", columns: ["title"])
        var content = BundleContent(header: Sample.header(tables: [table]))
        for index in 0..<count {
            var row = RowContent()
            row.base = WireStamp(timestamp: Int64(index), replica: 0, sequence: 1)
            row.values = [.init(column: 0, value: value(index))]
            content.rows.append(row)
        }
        return content
    }

    @Test func anyBundleIsReadAsItWasWritten() throws {
        var compressedCount = 0
        for seed in 0..<200 as Range<UInt64> {
            var random = RandomBundle(seed: seed)
            let content = random.content()
            let frames = try content.frames().compressed()
            #expect(try BundleContent.reading(frames) == content, "seed \(seed)")
            compressedCount += codecs(frames).count { $0 == 1 }
        }
        // Most are too small, or too random.
        #expect(compressedCount > 2)
    }

    @Test func rowsThatAreAlikeTakeLittleAndTheSameEachTime() throws {
        let content = rows(30_000) { .text(Array("the title of the note with the number \($0)".utf8)) }
        let frames = try content.frames()
        let compressed = try frames.compressed()
        #expect(frames.count > 4 && codecs(compressed).allSatisfy { $0 == 1 })
        #expect(compressed.joined().count * 4 < frames.joined().count)
        #expect(try frames.compressed() == compressed)
        #expect(try BundleContent.reading(compressed) == content)
    }

    @Test func whatDoesNotGetSmallerStaysAsItIs() throws {
        var generator = SplitMix64(seed: 1)
        let content = rows(200) { _ in
            .blob((0..<4_000).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
        }
        let frames = try content.frames()
        #expect(try frames.compressed() == frames)
    }

    @Test func aChunkThatIsCutBetweenRowsAndInThemIsWhole() throws {
        var limits = WireLimits()
        limits.chunkByteCountMax = 5_000
        let content = rows(50) { .text(Array(String(repeating: "abc\($0)", count: 1_000).utf8)) }
        let frames = try content.frames(limits: limits).compressed()
        #expect(codecs(frames).allSatisfy { $0 == 1 })
        #expect(try BundleContent.reading(frames, limits: limits) == content)
        // A body may not be larger than a chunk's when it is whole, however small it came.
        limits.chunkByteCountMax = 4_999
        #expect(throws: Refusal.self) { try BundleContent.reading(frames, limits: limits) }
    }

    @Test func aPartSaysHowLargeItIsWhenItIsWhole() throws {
        let content = rows(3_000) { _ in .text(Array("again and again".utf8)) }
        let frames = try content.frames()
        for (plain, compressed) in zip(frames, try frames.compressed()).dropFirst().dropLast() {
            let part = try plain.withUnsafeBytes { try BundleParts.part(of: $0) }
            #expect(try compressed.withUnsafeBytes { try BundleParts.part(of: $0) } == part)
            #expect(compressed.count < plain.count)
        }
    }

    @Test func aPartThatBringsNothingIsRefused() throws {
        var forge = FrameForge()
        forge.chunk([1])
        forge.chunk([])
        for (frame, isRefused) in zip(forge.frames, [false, true]) {
            let error = { () -> WireError? in
                do {
                    _ = try frame.withUnsafeBytes { try BundleParts.part(of: $0) }
                    return nil
                } catch {
                    return error as? WireError
                }
            }()
            #expect((error?.code == .malformed) == isRefused)
        }
    }

    @Test func nothingIsCompressedTwice() throws {
        let frames = try rows(3_000) { _ in .text(Array("again and again".utf8)) }.frames()
        let compressed = try frames.compressed()
        #expect(throws: WireError.self) { try compressed.compressed() }
    }
}

extension Array where Element == [UInt8] {
    /// The frames of a bundle as they travel compressed.
    func compressed() throws -> [[UInt8]] {
        let compressor = try FrameCompressor()
        var frames: [[UInt8]] = []
        for frame in self {
            try frame.withUnsafeBytes { try compressor.compress($0) { frames.append([UInt8]($0)) } }
        }
        return frames
    }
}
