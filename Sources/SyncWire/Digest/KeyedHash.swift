/// SipHash-2-4 with a result of 128 bits, fed with words of 64 bits.
///
/// Based on: Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012, and the
/// 128-bit variant of its reference implementation. A message of whole words has the same
/// hash as its little-endian bytes have there.
public struct KeyedHash: Sendable {
    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64
    private var wordCount: UInt64 = 0

    /// Begins a hash under a key of two words.
    @inline(__always)
    public init(key: (UInt64, UInt64)) {
        v0 = 0x736f_6d65_7073_6575 ^ key.0
        v1 = 0x646f_7261_6e64_6f6d ^ key.1 ^ 0xee
        v2 = 0x6c79_6765_6e65_7261 ^ key.0
        v3 = 0x7465_6462_7974_6573 ^ key.1
    }

    @inline(__always)
    private mutating func round() {
        v0 &+= v1
        v1 = v1 << 13 | v1 >> 51
        v1 ^= v0
        v0 = v0 << 32 | v0 >> 32
        v2 &+= v3
        v3 = v3 << 16 | v3 >> 48
        v3 ^= v2
        v0 &+= v3
        v3 = v3 << 21 | v3 >> 43
        v3 ^= v0
        v2 &+= v1
        v1 = v1 << 17 | v1 >> 47
        v1 ^= v2
        v2 = v2 << 32 | v2 >> 32
    }

    @inline(__always)
    private mutating func compress(_ word: UInt64) {
        v3 ^= word
        round()
        round()
        v0 ^= word
    }

    /// Takes a word in.
    @inline(__always)
    public mutating func add(_ word: UInt64) {
        wordCount &+= 1
        compress(word)
    }

    /// Takes bytes in: a word of a tag and their number, and the bytes, the last word filled up with zeros.
    @inline(__always)
    public mutating func add(_ bytes: UnsafeRawBufferPointer, tag: UInt8) {
        add(UInt64(bytes.count) << 8 | UInt64(tag))
        var offset = 0
        while offset + 8 <= bytes.count {
            add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        guard offset < bytes.count else { return }
        var last: UInt64 = 0
        for index in offset..<bytes.count { last |= UInt64(bytes[index]) << UInt64(8 * (index - offset)) }
        add(last)
    }

    /// The hash of what was taken in.
    @inline(__always)
    public consuming func finish() -> (UInt64, UInt64) {
        compress((wordCount &* 8) << 56)
        v2 ^= 0xee
        for _ in 0..<4 { round() }
        let first = v0 ^ v1 ^ v2 ^ v3
        v1 ^= 0xdd
        for _ in 0..<4 { round() }
        return (first, v0 ^ v1 ^ v2 ^ v3)
    }
}
