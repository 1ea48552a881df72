/// The envelope of everything that peers exchange: a type, a length, a payload.
public enum Frame {
    /// The types of frame.
    public enum Kind: UInt8, Sendable {
        /// The header of a bundle.
        case bundle = 1
        /// A part of a bundle's rows.
        case chunk = 2
        /// The end of a bundle.
        case end = 3
    }

    /// The bytes before the payload: one of type, four of length.
    public static let prefixByteCount = 5

    /// Writes a frame.
    static func encode(
        _ kind: Kind, into writer: inout WireWriter, payloadByteCount: Int,
        _ payload: (inout WireWriter) -> Void
    ) {
        writer.removeAll()
        writer.byte(kind.rawValue)
        writer.fixed32(UInt32(payloadByteCount))
        payload(&writer)
    }

    /// Splits a frame that is complete.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer
    ) throws(WireError) -> (kind: Kind, payload: UnsafeRawBufferPointer) {
        var reader = WireReader(bytes)
        let type = try reader.byte()
        guard let kind = Kind(rawValue: type) else { throw WireError(.unsupported, "frame type \(type)") }
        let length = Int(try reader.fixed32())
        guard length == reader.remaining else {
            throw WireError(.truncated, "a frame announces \(length) bytes and has \(reader.remaining)")
        }
        return (kind, try reader.raw(length))
    }

    /// Cuts a byte stream into its frames.
    ///
    /// - throws: ``WireError`` when the bytes end inside of a frame.
    public static func forEach(
        in bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var offset = 0
        while offset < bytes.count {
            var prefix = WireReader(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
            _ = try prefix.byte()
            let length = Self.prefixByteCount + Int(try prefix.fixed32())
            guard length <= bytes.count - offset else {
                throw WireError(.truncated, "the stream ends inside of a frame")
            }
            try body(UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + length)]))
            offset += length
        }
    }
}
