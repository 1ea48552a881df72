import CZlib

/// Makes the frames of a bundle smaller, for ways on which bytes are dear: a network, a file.
///
/// ```swift
/// let compressor = try FrameCompressor()
/// let summary = try peer.send(request, progress: nil) { try compressor.compress($0, to: file.write) }
/// ```
///
/// The frames of one bundle go through it in their order, because its end has a hash over all chunks. Any
/// reader of bundles reads what comes out. A chunk that would not get smaller stays as it is.
///
/// Sizes tell something of the content: who can write rows and see how large the bundles are that carry them beside
/// the rows of others can guess at these.
public final class FrameCompressor {
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private var buffer = ReusableBuffer()
    private var frame = WireWriter(capacity: 256 << 10)
    private var hash = BundleHash()

    /// A body that is smaller is not worth it.
    private static let bodyByteCountMin = 64
    /// zlib's fastest: on rows of a database it takes two fifths of the time of its default, and a tenth more bytes.
    private static let level: Int32 = 1

    /// Makes a compressor for one bundle.
    ///
    /// - throws: ``WireError`` when there is no memory.
    public init() throws(WireError) {
        stream.initialize(to: z_stream())
        guard czlib_deflate_init(stream, Self.level) == Z_OK else {
            stream.deallocate()
            throw WireError(.unsupported, "there is no memory to compress a bundle")
        }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Compresses a frame.
    ///
    /// - parameters:
    ///     - source: The next frame of the bundle, which is not compressed.
    ///     - sink: Takes the frame that goes on in its place. Its bytes are valid only during the call.
    /// - throws: ``WireError`` for a frame that is none of a bundle; what the sink throws.
    public func compress(
        _ source: UnsafeRawBufferPointer, to sink: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let (kind, payload) = try Frame.decode(source)
        switch kind {
        case .bundle:
            hash.addHeader(payload)
            try sink(source)
        case .chunk:
            try compressChunk(payload)
            try sink(frame.bytes)
        case .end:
            guard payload.count >= BundleHash.byteCount else {
                throw WireError(.truncated, "the end of the bundle has no hash")
            }
            frame.removeAll()
            frame.raw(
                UnsafeRawBufferPointer(rebasing: source[..<(source.count - BundleHash.byteCount)]))
            frame.raw(hash.value)
            try sink(frame.bytes)
        }
    }

    /// Puts a chunk into the frame.
    private func compressChunk(_ payload: UnsafeRawBufferPointer) throws(WireError) {
        var reader = WireReader(payload)
        let start = try reader.raw(ChunkLayout.hashOffset)
        _ = try reader.raw(BundleHash.byteCount)
        let body = try reader.raw(reader.remaining)
        guard start[ChunkLayout.hashOffset - 1] == ChunkCodec.plain.rawValue else {
            throw WireError(.malformed, "the chunk is compressed already")
        }
        let compressed = deflate(body)
        frame.removeAll()
        frame.byte(Frame.Kind.chunk.rawValue)
        let length = compressed.map { ChunkCodec.lengthByteCount + $0.count } ?? body.count
        frame.fixed32(UInt32(ChunkLayout.prefixByteCount + length))
        frame.raw(UnsafeRawBufferPointer(rebasing: start[..<(ChunkLayout.hashOffset - 1)]))
        frame.byte((compressed == nil ? ChunkCodec.plain : .deflate).rawValue)
        // The hash comes before the body that it covers.
        var content = WireWriter(capacity: length)
        if let compressed {
            content.fixed32(UInt32(body.count))
            content.raw(compressed)
        } else {
            content.raw(body)
        }
        let prefix = UnsafeRawBufferPointer(rebasing: frame.bytes[Frame.prefixByteCount...])
        frame.raw(hash.addChunk(prefix: prefix, body: content.bytes))
        frame.raw(content.bytes)
    }

    /// - returns: nil when the body does not get smaller by a sixteenth.
    private func deflate(_ body: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard body.count >= Self.bodyByteCountMin else { return nil }
        let most = body.count - body.count / 16 - ChunkCodec.lengthByteCount
        let target = buffer.reserve(most)
        deflateReset(stream)
        // zlib does not write to its input; its type is older than const.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: body.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(body.count)
        stream.pointee.next_out = target.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(most)
        guard CZlib.deflate(stream, Z_FINISH) == Z_STREAM_END else { return nil }
        return UnsafeRawBufferPointer(rebasing: target[..<(most - Int(stream.pointee.avail_out))])
    }
}
