/// Reads the frames of a bundle and hands out its rows.
///
/// Each chunk's hash is checked before its rows are read; the end of the
/// bundle proves that none is missing and that the header arrived as it was
/// sent. A receiver must be able to undo what it did with the rows until
/// ``isComplete``.
public struct BundleReader: ~Copyable {
    private let limits: WireLimits
    private var record = RowRecord()
    private var assembly = WireWriter(capacity: 0)
    private let inflater = ChunkInflater()
    private var hash = BundleHash()
    private var chunkCount: UInt64 = 0
    private var plainByteCount: Int64 = 0
    private var hasFailed = false
    private let keyText = UnsafeMutableRawBufferPointer.allocate(byteCount: 36, alignment: 8)

    /// The header, once it was read.
    public private(set) var header: BundleHeader?
    /// How many rows were read.
    public private(set) var rowCount: UInt64 = 0
    /// Whether the end was read, and everything was there.
    public private(set) var isComplete = false

    /// Makes a reader.
    public init(limits: WireLimits = WireLimits()) { self.limits = limits }

    deinit { keyText.deallocate() }

    /// Reads a frame. After an error no other frame is read: it would be taken
    /// out of its context.
    ///
    /// - parameters:
    ///     - bytes: What came.
    ///     - onHeader: Called when the frame is the header.
    ///     - onRow: Called for each row that the frame completes.
    /// - throws: ``WireError``, or what the closures throw.
    public mutating func consume(
        _ bytes: UnsafeRawBufferPointer, onHeader: (BundleHeader) throws -> Void,
        onRow: (borrowing RowRecord) throws -> Void
    ) throws {
        guard !hasFailed else { throw WireError(.malformed, "a frame before this one was refused") }
        hasFailed = true
        try read(bytes, onHeader, onRow)
        hasFailed = false
    }

    private mutating func read(
        _ bytes: UnsafeRawBufferPointer, _ onHeader: (BundleHeader) throws -> Void,
        _ onRow: (borrowing RowRecord) throws -> Void
    ) throws {
        let (kind, payload) = try Frame.decode(bytes)
        guard !isComplete else { throw WireError(.malformed, "there are frames after the end") }
        switch (kind, header) {
        case (.bundle, nil):
            guard payload.count <= limits.headerByteCountMax else {
                throw WireError(.tooLarge, "the header has \(payload.count) bytes")
            }
            let header = try BundleHeader(from: payload, limits: limits)
            self.header = header
            hash.addHeader(payload)
            try onHeader(header)
        case (.chunk, let header?):
            try readChunk(payload, header, onRow)
        case (.end, .some):
            try readEnd(payload)
        default:
            throw WireError(.malformed, "a frame of type \(kind) comes at the wrong place")
        }
    }

    private mutating func readChunk(
        _ payload: UnsafeRawBufferPointer, _ header: BundleHeader,
        _ onRow: (borrowing RowRecord) throws -> Void
    ) throws {
        var reader = WireReader(payload)
        let number = try reader.fixed32()
        let flags = try reader.byte()
        let codec = ChunkCodec(rawValue: try reader.byte())
        let announced = try reader.raw(BundleHash.byteCount)
        guard UInt64(number) == chunkCount else {
            throw WireError(.malformed, "chunk \(number) comes where \(chunkCount) is due")
        }
        guard flags & ~ChunkLayout.continued == 0, let codec else {
            let codec = payload[ChunkLayout.hashOffset - 1]
            throw WireError(.unsupported, "chunk \(number) has flags \(flags) and codec \(codec)")
        }
        guard reader.remaining <= limits.chunkByteCountMax else {
            throw WireError(.tooLarge, "chunk \(number) has \(reader.remaining) bytes")
        }
        guard !reader.isAtEnd else { throw WireError(.malformed, "chunk \(number) is empty") }
        var body = try reader.raw(reader.remaining)
        let prefix = UnsafeRawBufferPointer(rebasing: payload[..<ChunkLayout.hashOffset])
        guard hash.addChunk(prefix: prefix, body: body).elementsEqual(announced) else {
            throw WireError(.corrupted, "the hash of chunk \(number) does not match")
        }
        chunkCount += 1
        if codec == .deflate { body = try inflater.inflate(body, limits: limits) }
        plainByteCount = plainByteCount.addingSaturated(Int64(body.count))
        guard plainByteCount <= limits.plainByteCountMax else {
            throw WireError(.tooLarge, "the bundle has over \(limits.plainByteCountMax) bytes, uncompressed")
        }
        if flags & ChunkLayout.continued != 0 || assembly.count > 0 {
            guard assembly.count + body.count <= limits.rowByteCountMax + limits.chunkByteCountMax else {
                throw WireError(.tooLarge, "a row has over \(limits.rowByteCountMax) bytes")
            }
            assembly.raw(body)
            if flags & ChunkLayout.continued != 0 { return }
            try readRows(assembly.bytes, header, onRow)
            assembly.removeAll()
        } else {
            try readRows(body, header, onRow)
        }
    }

    private mutating func readRows(
        _ bytes: UnsafeRawBufferPointer, _ header: BundleHeader,
        _ onRow: (borrowing RowRecord) throws -> Void
    ) throws {
        var reader = WireReader(bytes)
        var stamps = StampContext()
        while !reader.isAtEnd {
            try readRow(&reader, &stamps, header)
            rowCount += 1
            try onRow(record)
        }
    }

    private mutating func readRow(
        _ reader: inout WireReader, _ stamps: inout StampContext, _ header: BundleHeader
    ) throws(WireError) {
        let flags = try reader.byte()
        guard flags & ~RowFlag.known == 0 else { throw WireError(.unsupported, "row flags \(flags)") }
        record.table = try reader.index(below: header.tables.count, "table")
        try readKey(&reader, kind: flags >> RowFlag.keyKindShift & RowFlag.keyKindMask)
        let life = try reader.unsigned()
        guard life > 0, life <= UInt64(Int64.max) else {
            throw WireError(.malformed, "a row has life \(life)")
        }
        record.life = Int64(life)
        record.base = nil
        record.baseValues.removeAll(keepingCapacity: true)
        record.cells.removeAll(keepingCapacity: true)
        let columnCount = header.tables[record.table].columns.count
        record.isLeave = flags & RowFlag.leave != 0
        if record.isLeave,
            !record.isAlive || flags & (RowFlag.base | RowFlag.allColumns | RowFlag.cells) != RowFlag.base
        {
            throw WireError(.malformed, "a row that left has values, or no base")
        }
        if flags & RowFlag.base != 0 {
            record.base = try stamps.decode(&reader, replicaCount: header.replicas.count)
            if record.isAlive && !record.isLeave {
                try readBase(&reader, isWhole: flags & RowFlag.allColumns != 0, columnCount)
            }
        }
        if flags & RowFlag.cells != 0 {
            guard record.isAlive else { throw WireError(.malformed, "a deleted row has cells") }
            try readCells(&reader, &stamps, header, columnCount)
        }
    }

    private mutating func readKey(_ reader: inout WireReader, kind: UInt8) throws(WireError) {
        record.isTextKey = kind != RowKeyCoding.blob
        switch kind {
        case RowKeyCoding.blob:
            record.key = try reader.raw(16)
        case RowKeyCoding.text:
            record.key = try reader.raw(36)
            guard RowKeyCoding.isText(record.key) else { throw WireError(.malformed, "a key is no UUID") }
        default:
            RowKeyCoding.unpack(
                try reader.raw(16), isUppercase: kind == RowKeyCoding.uppercaseText, into: keyText)
            record.key = UnsafeRawBufferPointer(keyText)
        }
    }

    private mutating func readBase(
        _ reader: inout WireReader, isWhole: Bool, _ columnCount: Int
    ) throws(WireError) {
        if isWhole {
            for column in 0..<columnCount {
                record.baseValues.append(.init(column: column, value: try reader.value()))
            }
            return
        }
        let mask = try reader.raw((columnCount + 7) / 8)
        if columnCount % 8 != 0, let last = mask.last, last >> UInt8(columnCount % 8) != 0 {
            throw WireError(.malformed, "a mask has bits beyond the columns")
        }
        for column in 0..<columnCount where mask[column / 8] & 1 << UInt8(column % 8) != 0 {
            record.baseValues.append(.init(column: column, value: try reader.value()))
        }
    }

    private mutating func readCells(
        _ reader: inout WireReader, _ stamps: inout StampContext, _ header: BundleHeader, _ columnCount: Int
    ) throws(WireError) {
        let count = try reader.count(upTo: columnCount, "cells")
        guard count > 0 else { throw WireError(.malformed, "a row announces no cells") }
        var given = record.baseValues[...]
        for _ in 0..<count {
            let column = try reader.index(below: columnCount, "column")
            given = given.drop { $0.column < column }
            guard column > record.cells.last?.column ?? -1, given.first?.column != column else {
                throw WireError(.malformed, "column \(column) comes twice, or out of order")
            }
            let stamp = try stamps.decode(&reader, replicaCount: header.replicas.count)
            record.cells.append(.init(column: column, stamp: stamp, value: try reader.value()))
        }
    }

    private mutating func readEnd(_ payload: UnsafeRawBufferPointer) throws {
        var reader = WireReader(payload)
        let chunks = try reader.unsigned()
        let rows = try reader.unsigned()
        let announced = try reader.raw(BundleHash.byteCount)
        guard reader.isAtEnd, assembly.count == 0 else {
            throw WireError(.malformed, "the bundle ends inside of a row")
        }
        guard chunks == chunkCount, rows == rowCount, hash.value.elementsEqual(announced) else {
            throw WireError(.corrupted, "the bundle is not complete")
        }
        isComplete = true
    }
}
