import Foundation

@testable import SyncWire

extension FuzzTarget {
    /// The frames of a bundle, as a peer sends them. The first byte says whether the hashes are made
    /// right, as somebody does who wants to get farther, and which limits there are.
    static let bundle = FuzzTarget(
        name: "bundle", run: BundleFuzzing.run, seeds: BundleFuzzing.seeds,
        words: [
            Array("CSBN".utf8) + [1], [1, 0, 0, 0], [2, 0, 0, 0], [3, 0x22, 0, 0, 0],
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1], [0x80, 0],
        ])
}

private enum BundleFuzzing {
    static func run(_ input: [UInt8]) throws {
        guard let mode = input.first else { return }
        var frames: [[UInt8]] = []
        do {
            try input.dropFirst().withUnsafeBytes { bytes in
                try Frame.forEach(in: bytes) { frames.append(Array($0)) }
            }
        } catch is WireError {
            // The frames before the one that is cut off.
        }
        if mode & 1 == 1 { frames = FrameForge.repaired(frames) }
        guard let (header, rows) = try read(frames, limits: mode & 2 == 0 ? WireLimits() : small) else {
            return
        }
        // What was read is written again in one way, and read as the same.
        let again = try write(header, rows)
        guard let (headerAgain, rowsAgain) = try read(again, limits: WireLimits()) else {
            fatalError("broken promise: what was read can be written and read again")
        }
        require(header == headerAgain && rows == rowsAgain, "what was read again is the same")
        try require(try write(headerAgain, rowsAgain) == again, "there is one way to write it")
        guard let (headerLast, rowsLast) = try read(compress(again), limits: WireLimits()) else {
            fatalError("broken promise: what is compressed can be read")
        }
        require(header == headerLast && rows == rowsLast, "what was compressed is the same")
    }

    private static var small: WireLimits {
        var limits = WireLimits()
        limits.chunkByteCountMax = 128
        limits.rowByteCountMax = 300
        limits.headerByteCountMax = 400
        limits.tableCountMax = 3
        limits.columnCountMax = 5
        limits.columnTotalMax = 9
        limits.replicaCountMax = 4
        limits.nameByteCountMax = 10
        return limits
    }

    /// A row with bytes of its own.
    struct Row: Equatable {
        var table = 0
        var key: [UInt8] = []
        var isText = false
        var life: Int64 = 0
        var base: WireStamp?
        var values: [(column: Int, value: [UInt8])] = []
        var cells: [(column: Int, stamp: WireStamp, value: [UInt8])] = []

        init(_ record: borrowing RowRecord) {
            table = record.table
            key = Array(record.key)
            isText = record.isTextKey
            life = record.life
            base = record.base
            values = record.baseValues.map { ($0.column, Self.bytes($0.value)) }
            cells = record.cells.map { ($0.column, $0.stamp, Self.bytes($0.value)) }
        }

        private static func bytes(_ value: WireValue) -> [UInt8] {
            var writer = WireWriter(capacity: 16)
            writer.value(value)
            return Array(writer.bytes)
        }

        static func == (left: Row, right: Row) -> Bool {
            left.table == right.table && left.key == right.key && left.isText == right.isText
                && left.life == right.life && left.base == right.base
                && left.values.elementsEqual(right.values) { $0 == $1 }
                && left.cells.elementsEqual(right.cells) { $0 == $1 }
        }
    }

    /// Reads frames; nil when they are refused.
    private static func read(
        _ frames: [[UInt8]], limits: WireLimits
    ) throws -> (BundleHeader, [Row])? {
        var reader = BundleReader(limits: limits)
        var rows: [Row] = []
        var byteCount = 0
        for frame in frames {
            byteCount += frame.count
            do {
                try frame.withUnsafeBytes { bytes in
                    try reader.consume(bytes, onHeader: { _ in }, onRow: { rows.append(Row($0)) })
                }
            } catch is WireError {
                return nil
            }
            require(reader.rowCount <= byteCount, "a row takes a byte")
        }
        guard reader.isComplete, let header = reader.header else { return nil }
        require(reader.rowCount == UInt64(rows.count), "the rows are counted")
        return (header, rows)
    }

    private static func compress(_ frames: [[UInt8]]) throws -> [[UInt8]] {
        let compressor = try FrameCompressor()
        let sink = FrameSink()
        for frame in frames {
            try frame.withUnsafeBytes { try compressor.compress($0) { sink.frames.append(Array($0)) } }
        }
        return sink.frames
    }

    private static func write(_ header: BundleHeader, _ rows: [Row]) throws -> [[UInt8]] {
        let sink = FrameSink()
        var writer = try BundleWriter(header: header) { sink.frames.append(Array($0)) }
        for row in rows {
            let columnCount = header.tables[row.table].columns.count
            var mask: [Bool]?
            if row.base != nil, row.life & 1 == 1, row.values.count < columnCount {
                var given = [Bool](repeating: false, count: columnCount)
                for value in row.values { given[value.column] = true }
                mask = given
            }
            row.key.withUnsafeBytes { key in
                writer.beginRow(
                    table: row.table, key: key, isTextKey: row.isText, life: row.life, base: row.base,
                    mask: mask, cellCount: row.cells.count)
            }
            for (_, bytes) in row.values { try withValue(bytes) { writer.value($0) } }
            for (column, stamp, bytes) in row.cells {
                try withValue(bytes) { writer.cell(column: column, stamp: stamp, value: $0) }
            }
            try writer.endRow()
        }
        try writer.finish()
        return sink.frames
    }

    private static func withValue(_ bytes: [UInt8], _ body: (WireValue) -> Void) throws {
        try bytes.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            body(try reader.value())
            require(reader.isAtEnd, "a value takes the bytes that were written")
        }
    }

    private final class FrameSink {
        var frames: [[UInt8]] = []
    }

    static func seeds(_ schemas: String) throws -> [[UInt8]] {
        let streams =
            try SeedCorpus.hexadecimal(schemas + "/wire/vectors/bundles.json", key: "frames")
            + SeedCorpus.hexadecimal(schemas + "/wire/vectors/refused.json", key: "frames")
        return streams.filter { $0.count < 8192 }.flatMap { stream in
            (0...3 as ClosedRange<UInt8>).map { [$0] + stream }
        }
    }
}
