import TestSupport
import Testing

@testable import SyncWire

/// What is written is what is read, whatever it is.
@Suite(.anyEngine) struct RoundTripTests {
    @Test func anyBundleIsReadAsItWasWritten() throws {
        for seed in 0..<400 as Range<UInt64> {
            var random = RandomBundle(seed: seed)
            let content = random.content()
            #expect(try BundleContent.reading(content.frames()) == content, "seed \(seed)")
        }
    }

    @Test func anyBundleSurvivesBeingCutIntoSmallChunks() throws {
        for seed in 1_000..<1_150 as Range<UInt64> {
            var random = RandomBundle(seed: seed)
            random.rowCountMax = 12
            let content = random.content()
            var limits = WireLimits()
            limits.chunkByteCountMax = 1 + random.generator.below(64)
            let frames = try content.frames(limits: limits)
            let isWithinLimit = frames.dropFirst().dropLast().allSatisfy {
                $0.count <= Frame.prefixByteCount + ChunkLayout.prefixByteCount + limits.chunkByteCountMax
            }
            #expect(isWithinLimit)
            #expect(try BundleContent.reading(frames, limits: limits) == content, "seed \(seed)")
        }
    }

    @Test func writingTwiceGivesTheSameBytes() throws {
        for seed in 2_000..<2_050 as Range<UInt64> {
            var random = RandomBundle(seed: seed)
            let content = random.content()
            let frames = try content.frames()
            #expect(try content.frames() == frames)
            #expect(try BundleContent.reading(frames).frames() == frames, "seed \(seed)")
        }
    }

    @Test func anyMaskIsReadAsItWasWritten() throws {
        for columnCount in 0...17 {
            let table = BundleHeader.Table(
                name: "t", key: "id", columns: (0..<columnCount).map { "c\($0)" })
            var content = BundleContent(header: Sample.header(tables: [table]))
            var generator = SplitMix64(seed: UInt64(columnCount))
            for index in 0..<30 {
                var row = RowContent()
                row.base = WireStamp(timestamp: Int64(index), replica: 0, sequence: 1)
                for column in 0..<columnCount where generator.oneIn(2) {
                    row.values.append(.init(column: column, value: .integer(Int64(column))))
                }
                content.rows.append(row)
            }
            let frames = try content.frames(maskedRows: Set(content.rows.indices))
            #expect(try BundleContent.reading(frames) == content, "\(columnCount) columns")
        }
    }

    @Test func anyByteMayBePartOfAValue() throws {
        let bytes = Array(UInt8.min...UInt8.max)
        var content = BundleContent(header: Sample.header())
        for value in [ValueContent.text(bytes), .blob(bytes)] {
            var row = Sample.row()
            row.values[0].value = value
            content.rows.append(row)
        }
        #expect(try BundleContent.reading(content.frames()) == content)
    }

    @Test func mostOfTheFormatIsReached() throws {
        var counts = (text: 0, deleted: 0, masked: 0, whole: 0, cells: 0, bare: 0)
        for seed in 0..<400 as Range<UInt64> {
            var random = RandomBundle(seed: seed)
            let content = random.content()
            for row in content.rows {
                let columnCount = content.header.tables[row.table].columns.count
                if row.isTextKey { counts.text += 1 }
                if !row.isAlive { counts.deleted += 1 }
                if row.isAlive, row.base != nil, row.values.count < columnCount { counts.masked += 1 }
                if row.isAlive, row.base != nil, row.values.count == columnCount { counts.whole += 1 }
                if !row.cells.isEmpty { counts.cells += 1 }
                if row.base == nil, row.cells.isEmpty { counts.bare += 1 }
            }
        }
        let least = min(
            counts.text, counts.deleted, counts.masked, counts.whole, counts.cells, counts.bare)
        #expect(least > 100, "\(counts)")
    }
}
