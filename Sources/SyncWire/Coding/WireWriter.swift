/// A growing buffer of bytes.
public struct WireWriter: ~Copyable {
    private var base: UnsafeMutableRawPointer
    private(set) var capacity: Int

    /// From here on, memory grows by a quarter, and is given back with the bytes: of a long row that is put together, the former
    /// memory and twice as much at once would be three times the row.
    static let largeByteCount = 16 << 20

    /// How many bytes were written.
    public private(set) var count = 0

    /// Makes an empty buffer.
    public init(capacity: Int = 4096) {
        self.capacity = capacity
        base = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { base.deallocate() }

    /// The bytes that were written.
    public var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    /// Forgets the bytes and keeps the memory, unless it is much.
    public mutating func removeAll() {
        count = 0
        guard capacity > Self.largeByteCount else { return }
        base.deallocate()
        capacity = 0
        base = .allocate(byteCount: 0, alignment: 16)
    }

    /// Forgets the bytes before an offset.
    public mutating func removeFirst(_ length: Int) {
        base.copyMemory(from: base + length, byteCount: count - length)
        count -= length
    }

    @inline(__always)
    private mutating func reserve(_ length: Int) {
        if count + length > capacity { grow(count + length) }
    }

    @inline(never)
    private mutating func grow(_ needed: Int) {
        capacity = max(needed, capacity < Self.largeByteCount ? capacity * 2 : capacity + capacity / 4)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        larger.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = larger
    }

    /// Writes one byte.
    @inline(__always)
    public mutating func byte(_ value: UInt8) {
        reserve(1)
        base.storeBytes(of: value, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    /// Writes bytes as they are.
    public mutating func raw(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        reserve(bytes.count)
        (base + count).copyMemory(from: start, byteCount: bytes.count)
        count += bytes.count
    }

    /// Writes bytes as they are.
    public mutating func raw(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { raw($0) }
    }

    /// Writes an unsigned number in groups of seven bits, low groups first (LEB128).
    @inline(__always)
    public mutating func unsigned(_ value: UInt64) {
        reserve(10)
        var rest = value
        while rest >= 0x80 {
            base.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, toByteOffset: count, as: UInt8.self)
            count += 1
            rest >>= 7
        }
        base.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: count, as: UInt8.self)
        count += 1
    }

    /// Writes a signed number, small magnitudes in few bytes (zigzag).
    @inline(__always)
    public mutating func signed(_ value: Int64) {
        unsigned(UInt64(bitPattern: value << 1 ^ value >> 63))
    }

    /// Writes a 32-bit number in little-endian order.
    public mutating func fixed32(_ value: UInt32) {
        withUnsafeBytes(of: value.littleEndian) { raw($0) }
    }

    /// Writes a 64-bit number in little-endian order.
    public mutating func fixed64(_ value: UInt64) {
        withUnsafeBytes(of: value.littleEndian) { raw($0) }
    }

    /// Writes a length and UTF-8 text.
    public mutating func string(_ value: String) {
        var value = value
        value.withUTF8 { bytes in
            unsigned(UInt64(bytes.count))
            raw(UnsafeRawBufferPointer(bytes))
        }
    }

    /// Writes a value: a tag byte and the content.
    @inline(__always)
    public mutating func value(_ value: WireValue) {
        switch value {
        case .null: byte(WireTag.null)
        case .integer(let number):
            byte(WireTag.integer)
            signed(number)
        case .real(let number):
            byte(WireTag.real)
            withUnsafeBytes(of: number.bitPattern.littleEndian) { raw($0) }
        case .text(let bytes):
            byte(WireTag.text)
            unsigned(UInt64(bytes.count))
            raw(bytes)
        case .blob(let bytes):
            byte(WireTag.blob)
            unsigned(UInt64(bytes.count))
            raw(bytes)
        }
    }
}

/// The tag bytes of values.
enum WireTag {
    static let null: UInt8 = 0
    static let integer: UInt8 = 1
    static let real: UInt8 = 2
    static let text: UInt8 = 3
    static let blob: UInt8 = 4
}
