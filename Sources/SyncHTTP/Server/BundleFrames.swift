import Crypto
import SyncEngine
import SyncWire

/// The body of a request that begins a bundle, cut into frames where they lie: as arrays of their own, many small ones
/// would take many times the bytes of the body.
struct BundleFrames {
    /// The header, which is the first frame.
    let header: BundleHeader
    private let bytes: [UInt8]
    private let first: Range<Int>
    private let last: Range<Int>
    private let chunkCount: Int64

    /// Cuts a body. Nothing else is looked at when the first frame is no header.
    ///
    /// - throws: `WireError`.
    init(_ bytes: [UInt8]) throws {
        var found: (header: BundleHeader, range: Range<Int>)?
        var last = 0..<0
        var chunkCount: Int64 = 0
        try Self.forEach(in: bytes) { frame in
            last = last.upperBound..<(last.upperBound + frame.count)
            if found == nil { found = (try BundleParts.header(of: frame), last) }
            if frame.first == Frame.Kind.chunk.rawValue { chunkCount += 1 }
        }
        guard let found else { throw WireError(.truncated, "there is no header") }
        (header, first, self.last, self.bytes) = (found.header, found.range, last, bytes)
        self.chunkCount = chunkCount
    }

    /// Throws when there are far more chunks than their bytes need, as ``BundleInbox`` does of those that come in several
    /// requests: each takes its time while nobody else can write.
    ///
    /// - parameter byteCountMax: The most bytes of a bundle, before compression.
    /// - throws: `WireError` of code `tooLarge`, or for a chunk that is damaged.
    func requireFewChunks(ofBytes byteCountMax: Int64) throws {
        var limits = BundleInbox.Limits()
        limits.byteCountMax = 0
        guard chunkCount > limits.chunkCountMax else { return }
        var byteCount: Int64 = 0
        try forEachPart { frame in
            guard case .chunk(_, let count) = try BundleParts.part(of: frame) else { return }
            byteCount += Int64(count)
        }
        limits.byteCountMax = min(byteCount, byteCountMax)
        guard chunkCount <= limits.chunkCountMax else {
            throw WireError(
                .tooLarge, "the bundle has over \(limits.chunkCountMax) chunks, of \(byteCount) bytes")
        }
    }

    /// Whether the last frame is the end of the bundle.
    func isWhole() throws -> Bool {
        guard case .end = try bytes[last].withUnsafeBytes({ try BundleParts.part(of: $0) }) else {
            return false
        }
        return true
    }

    /// The bundle's identifier: the hash of its header.
    var identifier: [UInt8] {
        Array(SHA256.hash(data: bytes[first].dropFirst(Frame.prefixByteCount)))
    }

    var byteCount: Int { bytes.count }

    /// Gives `body` the frame of the header. Its bytes are valid during the call.
    func withHeader<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes[first].withUnsafeBytes(body)
    }

    /// Calls `body` with each frame. Its bytes are valid during the call.
    func forEach(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try Self.forEach(in: bytes, body)
    }

    /// Calls `body` with each frame after the header.
    func forEachPart(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try bytes[first.upperBound...].withUnsafeBytes { try Self.forEach(in: $0, body) }
    }

    /// Calls `body` with each frame of some bytes.
    ///
    /// - throws: `WireError` for what is no frame, or a part of one.
    static func forEach(
        in bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        try bytes.withUnsafeBytes { try forEach(in: $0, body) }
    }

    private static func forEach(
        in bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var assembler = FrameAssembler()
        try assembler.append(bytes, onFrame: body)
        try assembler.finish()
    }
}
