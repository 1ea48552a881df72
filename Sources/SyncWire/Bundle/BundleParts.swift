import Crypto

/// The parts of a bundle as they travel one by one, checked without the others.
public enum BundleParts {
    /// What a frame is.
    public enum Part: Equatable, Sendable {
        /// The header of the bundle with this identifier.
        case header(identifier: [UInt8])
        /// A chunk, whose hash was checked, and the bytes of its body, compressed or not.
        case chunk(number: UInt32, byteCount: Int)
        /// The end of a bundle of so many chunks.
        case end(chunkCount: UInt64)
    }

    /// The size of a bundle's identifier in bytes.
    public static let identifierByteCount = BundleHash.byteCount

    /// Says which part of its bundle a frame is.
    ///
    /// A bundle's identifier is the SHA-256 of its header: the sender, the base, the target, and the
    /// names of its tables and columns decide it. A sender that makes the bundle of one snapshot
    /// again makes the same chunks.
    ///
    /// - throws: ``WireError``, for a chunk whose hash does not match too.
    public static func part(
        of frame: UnsafeRawBufferPointer, limits: WireLimits = WireLimits()
    ) throws(WireError) -> Part {
        let (kind, payload) = try Frame.decode(frame)
        var reader = WireReader(payload)
        switch kind {
        case .bundle:
            guard payload.count <= limits.headerByteCountMax else {
                throw WireError(.tooLarge, "the header has \(payload.count) bytes")
            }
            _ = try BundleHeader(from: payload, limits: limits)
            return .header(identifier: Array(SHA256.hash(data: payload)))
        case .chunk:
            let number = try reader.fixed32()
            _ = try reader.byte()
            let codec = ChunkCodec(rawValue: try reader.byte())
            let announced = try reader.raw(BundleHash.byteCount)
            guard reader.remaining <= limits.chunkByteCountMax else {
                throw WireError(.tooLarge, "chunk \(number) has \(reader.remaining) bytes")
            }
            // It brings nothing, and any number of them would take little of the bytes that a request may have.
            guard reader.remaining > 0 else { throw WireError(.malformed, "chunk \(number) is empty") }
            let body = try reader.raw(reader.remaining)
            var hash = BundleHash()
            let prefix = UnsafeRawBufferPointer(rebasing: payload[..<ChunkLayout.hashOffset])
            guard hash.addChunk(prefix: prefix, body: body).elementsEqual(announced) else {
                throw WireError(.corrupted, "the hash of chunk \(number) does not match")
            }
            guard let codec else { throw WireError(.unsupported, "the codec of chunk \(number)") }
            return .chunk(number: number, byteCount: try codec.byteCount(of: body, limits: limits))
        case .end:
            return .end(chunkCount: try reader.unsigned())
        }
    }

    /// Reads the header that a frame holds.
    public static func header(
        of frame: UnsafeRawBufferPointer, limits: WireLimits = WireLimits()
    ) throws(WireError) -> BundleHeader {
        let (kind, payload) = try Frame.decode(frame)
        guard kind == .bundle, payload.count <= limits.headerByteCountMax else {
            throw WireError(.malformed, "the frame is no header")
        }
        return try BundleHeader(from: payload, limits: limits)
    }
}
