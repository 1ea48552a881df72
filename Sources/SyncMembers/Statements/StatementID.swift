import Crypto

/// What names a statement: the SHA-256 of the bytes that its issuer signed.
public struct StatementID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// How many bytes an identifier has.
    public static let byteCount = 32

    private let words: SIMD4<UInt64>

    /// Makes an identifier of exactly 32 bytes.
    public init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.byteCount else { return nil }
        var words = SIMD4<UInt64>()
        for index in 0..<4 {
            words[index] = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
        }
        self.words = words
    }

    /// Makes an identifier of 32 bytes; nil for any other number of them.
    package init?(_ bytes: [UInt8]) {
        guard let id = bytes.withUnsafeBytes({ StatementID(bytes: $0) }) else { return nil }
        self = id
    }

    /// Reads the 64 hexadecimal digits of ``description``.
    package init?(hexadecimal text: String) {
        guard let bytes = Hexadecimal.bytes(text, count: Self.byteCount) else { return nil }
        self.init(bytes)
    }

    /// Names what a statement says.
    init(of content: ArraySlice<UInt8>) {
        var hash = SHA256()
        hash.update(data: Domain.statement.bytes)
        content.withUnsafeBytes { hash.update(bufferPointer: $0) }
        var words = SIMD4<UInt64>()
        var index = 0
        for byte in hash.finalize() {
            words[index / 8] = words[index / 8] << 8 | UInt64(byte)
            index += 1
        }
        self.words = words
    }

    /// The 32 bytes.
    public var bytes: [UInt8] {
        (0..<4).flatMap { index in withUnsafeBytes(of: words[index].bigEndian) { Array($0) } }
    }

    /// Compares the bytes in order.
    public static func < (left: StatementID, right: StatementID) -> Bool {
        for index in 0..<4 where left.words[index] != right.words[index] {
            return left.words[index] < right.words[index]
        }
        return false
    }

    /// The bytes in hexadecimal.
    public var description: String { Hexadecimal.text(bytes) }

    /// The first eight hexadecimal digits, for people.
    public var shortDescription: String { String(description.prefix(8)) }
}
