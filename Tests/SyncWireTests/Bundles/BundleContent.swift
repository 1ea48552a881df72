import Testing

@testable import SyncWire

/// A value with bytes of its own. Numbers are their bits, so that equal means
/// the same value, of NaN too.
enum ValueContent: Equatable {
    case null
    case integer(Int64)
    case real(bits: UInt64)
    case text([UInt8])
    case blob([UInt8])

    init(_ value: WireValue) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .real(bits: number.bitPattern)
        case .text(let bytes): self = .text(Array(bytes))
        case .blob(let bytes): self = .blob(Array(bytes))
        }
    }

    func withWireValue<Result>(_ body: (WireValue) throws -> Result) rethrows -> Result {
        switch self {
        case .null: try body(.null)
        case .integer(let number): try body(.integer(number))
        case .real(let bits): try body(.real(Double(bitPattern: bits)))
        case .text(let bytes): try bytes.withUnsafeBytes { try body(.text($0)) }
        case .blob(let bytes): try bytes.withUnsafeBytes { try body(.blob($0)) }
        }
    }
}

/// A row of a bundle with bytes of its own.
struct RowContent: Equatable {
    struct Value: Equatable {
        var column: Int
        var value: ValueContent
    }

    struct Cell: Equatable {
        var column: Int
        var stamp: WireStamp
        var value: ValueContent
    }

    var table = 0
    var key: [UInt8] = Array(repeating: 0, count: 16)
    var isTextKey = false
    var life: Int64 = 1
    var base: WireStamp?
    var values: [Value] = []
    var cells: [Cell] = []

    init() {}

    init(_ record: borrowing RowRecord) {
        table = record.table
        key = Array(record.key)
        isTextKey = record.isTextKey
        life = record.life
        base = record.base
        values = record.baseValues.map { Value(column: $0.column, value: ValueContent($0.value)) }
        cells = record.cells.map { Cell(column: $0.column, stamp: $0.stamp, value: ValueContent($0.value)) }
    }

    var isAlive: Bool { life & 1 == 1 }

    /// Writes the row.
    ///
    /// - parameter isMasked: Whether a base that gives every value is written with a mask.
    func write(to writer: inout BundleWriter, columnCount: Int, isMasked: Bool = false) throws {
        var mask: [Bool]?
        if base != nil, isAlive, isMasked || values.count < columnCount {
            var chosen = Array(repeating: false, count: columnCount)
            for value in values { chosen[value.column] = true }
            mask = chosen
        }
        key.withUnsafeBytes { key in
            writer.beginRow(
                table: table, key: key, isTextKey: isTextKey, life: life, base: base, mask: mask,
                cellCount: cells.count)
        }
        for value in values { value.value.withWireValue { writer.value($0) } }
        for cell in cells {
            cell.value.withWireValue { writer.cell(column: cell.column, stamp: cell.stamp, value: $0) }
        }
        try writer.endRow()
    }
}

/// A bundle's header and rows.
struct BundleContent: Equatable {
    var header: BundleHeader
    var rows: [RowContent] = []

    /// The frames of the bundle.
    ///
    /// - parameter maskedRows: The rows whose mask is written though all its bits are set.
    func frames(limits: WireLimits = WireLimits(), maskedRows: Set<Int> = []) throws -> [[UInt8]] {
        let collector = FrameCollector()
        var writer = try BundleWriter(header: header, limits: limits) { collector.frames.append(Array($0)) }
        for (index, row) in rows.enumerated() {
            try row.write(
                to: &writer, columnCount: header.tables[row.table].columns.count,
                isMasked: maskedRows.contains(index))
        }
        try writer.finish()
        #expect(writer.rowCount == UInt64(rows.count))
        #expect(writer.byteCount == collector.frames.reduce(0) { $0 + $1.count })
        return collector.frames
    }

    /// What frames hold.
    ///
    /// - throws: ``Refusal``.
    static func reading(_ frames: [[UInt8]], limits: WireLimits = WireLimits()) throws -> BundleContent {
        var reader = BundleReader(limits: limits)
        var header: BundleHeader?
        var rows: [RowContent] = []
        for (index, frame) in frames.enumerated() {
            do {
                try frame.withUnsafeBytes { bytes in
                    try reader.consume(
                        bytes, onHeader: { header = $0 }, onRow: { rows.append(RowContent($0)) })
                }
            } catch let error as WireError {
                throw Refusal(frame: index, error: error)
            }
        }
        guard reader.isComplete, let header else { throw Refusal(frame: frames.count, error: nil) }
        #expect(reader.rowCount == UInt64(rows.count))
        #expect(reader.header == header)
        return BundleContent(header: header, rows: rows)
    }
}

/// Why a stream of frames was not accepted.
struct Refusal: Error, CustomStringConvertible {
    /// The frame that was refused, or the number of frames when the end is missing.
    let frame: Int
    /// The error, or nil when the end is missing.
    let error: WireError?

    var description: String { "frame \(frame): \(error?.description ?? "the end is missing")" }
}

private final class FrameCollector {
    var frames: [[UInt8]] = []
}
