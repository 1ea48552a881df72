/// Writes a bundle as a sequence of frames.
///
/// The calls for one row come in this order: `beginRow`, ``value(_:)`` for
/// each column of the base, ``cell(column:stamp:value:)`` for each cell, ``endRow()``.
public struct BundleWriter: ~Copyable {
    /// A chunk is closed when its body reaches this many bytes.
    public static let chunkByteCount = 256 << 10

    private let sink: (UnsafeRawBufferPointer) throws -> Void
    private let limits: WireLimits
    private var body = WireWriter(capacity: 512 << 10)
    private var frame = WireWriter(capacity: 512 << 10)
    private var stamps = StampContext()
    private var hash = BundleHash()
    private var packedKey: [UInt8] = Array(repeating: 0, count: 16)
    private var chunkCount: UInt64 = 0

    /// How many rows were written.
    public private(set) var rowCount: UInt64 = 0
    /// How many bytes were handed to the sink.
    public private(set) var byteCount = 0

    /// Starts a bundle: the header goes to the sink at once.
    ///
    /// - parameter header: What the bundle says about itself.
    /// - parameter limits: What is checked before memory is taken.
    /// - parameter sink: Takes frames. Their bytes are valid only during the call.
    public init(
        header: borrowing BundleHeader, limits: WireLimits = WireLimits(),
        sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        self.sink = sink
        self.limits = limits
        header.encode(to: &body)
        hash.addHeader(body.bytes)
        try send(.bundle, payload: 0..<body.count)
        body.removeAll()
    }

    /// Starts a row.
    ///
    /// - parameters:
    ///     - table: The index of the table in the header.
    ///     - key: 16 bytes, or 36 characters of UUID text; ``endRow()`` throws for others.
    ///     - isTextKey: Whether the keys of the table are text.
    ///     - life: The row's life, from 1. A row with an even life is deleted: no values, no cells.
    ///     - base: The row's base, if it is part of the bundle.
    ///     - mask: For each column of the table, whether the base gives its value; nil when it gives all.
    ///     - cellCount: How many cells follow.
    ///     - isLeave: Whether the row is no longer among those that the receiver wants. It has a base, and
    ///       neither values nor cells.
    public mutating func beginRow(
        table: Int, key: UnsafeRawBufferPointer, isTextKey: Bool, life: Int64, base: WireStamp?,
        mask: [Bool]?, cellCount: Int, isLeave: Bool = false
    ) {
        var flags: UInt8 = 0
        if base != nil { flags |= RowFlag.base }
        if isLeave { flags |= RowFlag.leave } else if mask == nil { flags |= RowFlag.allColumns }
        if cellCount > 0 { flags |= RowFlag.cells }
        let kind = packKey(key, isText: isTextKey)
        body.byte(flags | kind << RowFlag.keyKindShift)
        body.unsigned(UInt64(table))
        if kind == RowKeyCoding.lowercaseText || kind == RowKeyCoding.uppercaseText {
            body.raw(packedKey)
        } else {
            body.raw(key)
        }
        body.unsigned(UInt64(bitPattern: life))
        if let base {
            stamps.encode(base, to: &body)
            // A deleted row has no values, and so nothing to choose among.
            if let mask, life & 1 == 1 { writeMask(mask) }
        }
        pendingCellCount = cellCount
    }

    private var pendingCellCount = 0
    private var hasUnsuitableKey = false

    private mutating func packKey(_ key: UnsafeRawBufferPointer, isText: Bool) -> UInt8 {
        guard isText else {
            hasUnsuitableKey = hasUnsuitableKey || key.count != 16
            return RowKeyCoding.blob
        }
        if let kind = packedKey.withUnsafeMutableBytes({ RowKeyCoding.pack(key, into: $0) }) { return kind }
        hasUnsuitableKey = hasUnsuitableKey || !RowKeyCoding.isText(key)
        return RowKeyCoding.text
    }

    private mutating func writeMask(_ mask: [Bool]) {
        for start in stride(from: 0, to: mask.count, by: 8) {
            var byte: UInt8 = 0
            for (bit, isSet) in mask[start..<min(start + 8, mask.count)].enumerated() where isSet {
                byte |= 1 << UInt8(bit)
            }
            body.byte(byte)
        }
    }

    /// Writes the next value of the base.
    @inline(__always)
    public mutating func value(_ value: WireValue) { body.value(value) }

    /// Writes a cell.
    public mutating func cell(column: Int, stamp: WireStamp, value: WireValue) {
        if pendingCellCount > 0 {
            body.unsigned(UInt64(pendingCellCount))
            pendingCellCount = 0
        }
        body.unsigned(UInt64(column))
        stamps.encode(stamp, to: &body)
        body.value(value)
    }

    /// Ends a row, and sends a chunk when there is enough for one.
    ///
    /// - throws: ``WireError`` when the row's key is no UUID: a receiver could
    ///   not tell where it ends. Or what the sink throws.
    public mutating func endRow() throws {
        guard !hasUnsuitableKey else { throw WireError(.malformed, "the key of a row is no UUID") }
        rowCount += 1
        if body.count >= Self.chunkByteCount { try flush() }
    }

    /// Ends the bundle.
    public mutating func finish() throws {
        guard !hasUnsuitableKey else { throw WireError(.malformed, "the key of a row is no UUID") }
        try flush()
        body.unsigned(chunkCount)
        body.unsigned(rowCount)
        body.raw(hash.value)
        try send(.end, payload: 0..<body.count)
        body.removeAll()
    }

    private mutating func flush() throws {
        var offset = 0
        while offset < body.count {
            let length = min(limits.chunkByteCountMax, body.count - offset)
            let isContinued = offset + length < body.count
            try sendChunk(offset..<(offset + length), isContinued: isContinued)
            offset += length
        }
        body.removeAll()
        stamps = StampContext()
    }

    private mutating func sendChunk(_ range: Range<Int>, isContinued: Bool) throws {
        let part = UnsafeRawBufferPointer(rebasing: body.bytes[range])
        frame.removeAll()
        frame.byte(Frame.Kind.chunk.rawValue)
        frame.fixed32(UInt32(ChunkLayout.prefixByteCount + part.count))
        frame.fixed32(UInt32(truncatingIfNeeded: chunkCount))
        frame.byte(isContinued ? ChunkLayout.continued : 0)
        frame.byte(ChunkCodec.plain.rawValue)
        let prefix = UnsafeRawBufferPointer(rebasing: frame.bytes[Frame.prefixByteCount...])
        frame.raw(hash.addChunk(prefix: prefix, body: part))
        frame.raw(part)
        chunkCount += 1
        try emit()
    }

    private mutating func send(_ kind: Frame.Kind, payload: Range<Int>) throws {
        let part = UnsafeRawBufferPointer(rebasing: body.bytes[payload])
        Frame.encode(kind, into: &frame, payloadByteCount: part.count) { $0.raw(part) }
        try emit()
    }

    private mutating func emit() throws {
        byteCount += frame.count
        try sink(frame.bytes)
    }
}

/// The parts of a chunk's payload before its body.
enum ChunkLayout {
    /// The row at the end of this chunk goes on in the next one.
    static let continued: UInt8 = 1
    /// Number (4), flags (1), codec (1): what the hash covers besides the body.
    static let hashOffset = 6
    /// All of the parts before the body: those, and the hash (32).
    static let prefixByteCount = hashOffset + BundleHash.byteCount
}
