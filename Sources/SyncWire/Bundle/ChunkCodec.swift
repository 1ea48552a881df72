import CZlib

/// How the body of a chunk is written (`Schemas/wire/v1.md`, section 5.1).
enum ChunkCodec: UInt8 {
    /// As it is.
    case plain = 0
    /// Its length, and DEFLATE (RFC 1951) of it.
    case deflate = 1

    /// The bytes of the length before a body that is compressed.
    static let lengthByteCount = 4

    /// How many bytes a body says that it has when it is whole.
    ///
    /// - throws: ``WireError``: none, or more than a chunk may have.
    func byteCount(of body: UnsafeRawBufferPointer, limits: WireLimits) throws(WireError) -> Int {
        guard self == .deflate else { return body.count }
        var reader = WireReader(body)
        let count = Int(try reader.fixed32())
        guard count <= limits.chunkByteCountMax else {
            throw WireError(.tooLarge, "the body of a chunk announces \(count) bytes")
        }
        guard count > 0 else { throw WireError(.malformed, "the body of a chunk announces no bytes") }
        return count
    }
}

/// Makes bodies of chunks whole that were compressed.
///
/// What it reads comes from outside: it writes to a buffer of the announced and bounded size, and fails unless
/// that is filled exactly.
final class ChunkInflater {
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private var isReady = false
    private var buffer = ReusableBuffer()

    init() { stream.initialize(to: z_stream()) }

    deinit {
        if isReady { inflateEnd(stream) }
        stream.deallocate()
    }

    /// - returns: The body, valid until the next call.
    /// - throws: ``WireError``.
    func inflate(
        _ body: UnsafeRawBufferPointer, limits: WireLimits
    ) throws(WireError) -> UnsafeRawBufferPointer {
        let count = try ChunkCodec.deflate.byteCount(of: body, limits: limits)
        if !isReady {
            guard czlib_inflate_init(stream) == Z_OK else {
                throw WireError(.unsupported, "there is no memory to undo the compression of a chunk")
            }
            isReady = true
        }
        inflateReset(stream)
        let target = buffer.reserve(count)
        let content = UnsafeRawBufferPointer(rebasing: body[ChunkCodec.lengthByteCount...])
        // zlib does not write to its input; its type is older than const.
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: content.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(content.count)
        stream.pointee.next_out = target.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(count)
        let code = CZlib.inflate(stream, Z_FINISH)
        guard code == Z_STREAM_END, stream.pointee.avail_out == 0, stream.pointee.avail_in == 0 else {
            throw WireError(.malformed, "the body of a chunk is not \(count) bytes of DEFLATE")
        }
        return UnsafeRawBufferPointer(target)
    }
}

/// Memory that grows and stays where it is.
struct ReusableBuffer: ~Copyable {
    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    deinit { memory.deallocate() }

    /// The first bytes of it, whose content is not kept.
    mutating func reserve(_ count: Int) -> UnsafeMutableRawBufferPointer {
        if memory.count < count {
            memory.deallocate()
            memory = .allocate(byteCount: max(count, 256 << 10), alignment: 16)
        }
        return UnsafeMutableRawBufferPointer(rebasing: memory[..<count])
    }
}
