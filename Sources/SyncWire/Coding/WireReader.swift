/// Reads what a ``WireWriter`` wrote, and checks every length before it is used.
public struct WireReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    /// Reads a buffer, which must outlive the reader and its values.
    public init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// How many bytes are left.
    public var remaining: Int { bytes.count - offset }

    /// How many bytes were read.
    public var position: Int { offset }

    /// Whether everything was read.
    public var isAtEnd: Bool { offset == bytes.count }

    /// Reads one byte.
    @inline(__always)
    public mutating func byte() throws(WireError) -> UInt8 {
        guard offset < bytes.count else { throw WireError(.truncated, "a byte is missing") }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// Reads bytes as they are.
    @inline(__always)
    public mutating func raw(_ count: Int) throws(WireError) -> UnsafeRawBufferPointer {
        guard count >= 0, count <= remaining else {
            throw WireError(.truncated, "\(count) bytes are announced and \(remaining) are there")
        }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + count)])
    }

    /// Reads an unsigned number. Each has one encoding, the shortest.
    @inline(__always)
    public mutating func unsigned() throws(WireError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = try byte()
            // The tenth byte may only hold the 64th bit.
            guard shift < 63 || next <= 1 else { throw WireError(.malformed, "a number has over 64 bits") }
            value |= UInt64(next & 0x7F) << shift
            if next < 0x80 {
                guard next != 0 || shift == 0 else {
                    throw WireError(.malformed, "a number is longer than it needs to be")
                }
                return value
            }
            shift += 7
        }
    }

    /// Reads a signed number.
    @inline(__always)
    public mutating func signed() throws(WireError) -> Int64 {
        let value = try unsigned()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// Reads an unsigned number that is at most `limit`.
    @inline(__always)
    public mutating func count(upTo limit: Int, _ what: @autoclosure () -> String) throws(WireError) -> Int {
        let value = try unsigned()
        guard value <= UInt64(limit) else {
            throw WireError(.tooLarge, "\(what()): \(value) is over the limit of \(limit)")
        }
        return Int(value)
    }

    /// Reads an index below `count`.
    @inline(__always)
    public mutating func index(below count: Int, _ what: @autoclosure () -> String) throws(WireError) -> Int {
        let value = try unsigned()
        guard value < UInt64(count) else {
            throw WireError(.malformed, "\(what()) \(value) does not exist")
        }
        return Int(value)
    }

    /// Reads a 32-bit number in little-endian order.
    public mutating func fixed32() throws(WireError) -> UInt32 {
        UInt32(littleEndian: try raw(4).loadUnaligned(as: UInt32.self))
    }

    /// Reads a 64-bit number in little-endian order.
    public mutating func fixed64() throws(WireError) -> UInt64 {
        UInt64(littleEndian: try raw(8).loadUnaligned(as: UInt64.self))
    }

    /// Reads a length and UTF-8 text.
    public mutating func string(upTo limit: Int) throws(WireError) -> String {
        let length = try count(upTo: limit, "the length of a name")
        let text = try raw(length)
        guard let string = String(validating: text, as: UTF8.self) else {
            throw WireError(.malformed, "a name is not UTF-8")
        }
        return string
    }

    /// Reads sixteen bytes.
    public mutating func identifier() throws(WireError) -> Identifier128 {
        guard let identifier = Identifier128(bytes: try raw(16)) else {
            throw WireError(.truncated, "an identifier is missing")
        }
        return identifier
    }

    /// Reads a value.
    @inline(__always)
    public mutating func value() throws(WireError) -> WireValue {
        switch try byte() {
        case WireTag.null: return .null
        case WireTag.integer: return .integer(try signed())
        case WireTag.real:
            let bits = UInt64(littleEndian: try raw(8).loadUnaligned(as: UInt64.self))
            return .real(Double(bitPattern: bits))
        case WireTag.text: return .text(try counted())
        case WireTag.blob: return .blob(try counted())
        case let tag: throw WireError(.unsupported, "a value has the unknown tag \(tag)")
        }
    }

    /// Reads a length and bytes. What is left bounds the length, and is known
    /// only once the length itself was read.
    @inline(__always)
    private mutating func counted() throws(WireError) -> UnsafeRawBufferPointer {
        let length = try unsigned()
        guard length <= UInt64(remaining) else {
            throw WireError(.tooLarge, "a value announces \(length) bytes and \(remaining) are there")
        }
        return try raw(Int(length))
    }
}
