import Crypto

/// A random key that is printed once, to be kept on paper.
///
/// It has 160 bits, written in Crockford's base 32
/// (<https://www.crockford.com/base32.html>), which has no letters that look
/// like digits, in eight groups of four, and a ninth one that finds typing
/// errors: `7K3M-…`.
public struct RecoveryKey: ~Copyable, Sendable {
    static let byteCount = 20
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    private static let checkCharacterCount = 4
    private static let characterCount = byteCount * 8 / 5 + checkCharacterCount

    let bytes: SecretBytes

    private init(bytes: SecretBytes) { self.bytes = bytes }

    /// Makes a new key.
    public static func generate() throws -> RecoveryKey {
        var generator = SystemRandomNumberGenerator()
        return RecoveryKey(
            bytes: try SecretBytes(capacity: byteCount) { buffer in
                for index in buffer.indices { buffer[index] = generator.next() }
                return byteCount
            })
    }

    /// Reads a key as a person typed it: in upper or lower case, with hyphens, spaces or none,
    /// `O` for 0, `I` and `L` for 1.
    ///
    /// - throws: A ``StoreError`` of code `recoveryKeyInvalid`: it has another length, characters
    ///   that no key has, or a typing error.
    public init(_ text: String) throws {
        try self.init(utf8: Array(text.utf8).withUnsafeBytes { try SecretBytes($0) })
    }

    /// Reads the key that a passphrase source gave, which stays in locked memory.
    ///
    /// - throws: As ``init(_:)-(String)``.
    public init(_ text: borrowing Passphrase) throws {
        try self.init(utf8: text.bytes)
    }

    /// Reads the key in bytes of text.
    init(utf8 text: SecretBytes) throws {
        let values = try SecretBytes(capacity: Self.characterCount) { buffer in
            var count = 0
            try text.withUnsafeBytes { bytes in
                for byte in bytes where byte != UInt8(ascii: "-") && byte != UInt8(ascii: " ") {
                    guard count < buffer.count, let value = Self.value(of: byte) else { throw Self.invalid }
                    buffer[count] = value
                    count += 1
                }
            }
            return count
        }
        guard values.count == Self.characterCount else { throw Self.invalid }
        let key = try SecretBytes(capacity: Self.byteCount) { buffer in
            values.withUnsafeBytes { Self.unpack($0, into: buffer) }
            return Self.byteCount
        }
        let isRight = values.withUnsafeBytes { bytes in
            zip(bytes.suffix(Self.checkCharacterCount), Self.check(key)).reduce(UInt8(0)) {
                $0 | ($1.0 ^ $1.1)
            } == 0
        }
        guard isRight else {
            throw StoreError(.recoveryKeyInvalid, "the recovery key has a typing error")
        }
        bytes = key
    }

    private static let invalid = StoreError(
        .recoveryKeyInvalid, "a recovery key has nine groups of four letters or digits")

    /// Gives access to the key as it is printed: `XXXX-XXXX-…`, in ASCII. The memory is zeroed afterwards.
    public func withText<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        let groupCount = Self.characterCount / 4
        let text = try SecretBytes(capacity: Self.characterCount + groupCount - 1) { buffer in
            var position = 0
            var index = 0
            func put(_ value: UInt8) {
                if index > 0, index % 4 == 0 {
                    buffer[position] = UInt8(ascii: "-")
                    position += 1
                }
                buffer[position] = Self.alphabet[Int(value)]
                position += 1
                index += 1
            }
            bytes.withUnsafeBytes { Self.forEachFiveBits($0, put) }
            Self.check(bytes).forEach(put)
            return position
        }
        return try text.withUnsafeBytes(body)
    }

    /// Four characters that a typing error changes: 20 bits of a digest.
    private static func check(_ key: SecretBytes) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: SlotKey.label("recovery key check"))
        key.withUnsafeBytes { hash.update(bufferPointer: $0) }
        var check: [UInt8] = []
        let digest = Array(hash.finalize())
        digest.withUnsafeBytes { bytes in
            forEachFiveBits(UnsafeRawBufferPointer(rebasing: bytes.prefix(5))) { check.append($0) }
        }
        return Array(check.prefix(checkCharacterCount))
    }

    /// Five bytes are eight characters.
    private static func forEachFiveBits(_ bytes: UnsafeRawBufferPointer, _ body: (UInt8) -> Void) {
        for start in stride(from: 0, to: bytes.count, by: 5) {
            let bits = bytes[start..<(start + 5)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            for shift in stride(from: 35, through: 0, by: -5) { body(UInt8(bits >> UInt64(shift) & 31)) }
        }
    }

    private static func unpack(_ values: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer) {
        for group in 0..<(byteCount / 5) {
            let bits = values[(8 * group)..<(8 * group + 8)].reduce(UInt64(0)) { $0 << 5 | UInt64($1) }
            for index in 0..<5 { buffer[5 * group + index] = UInt8(bits >> UInt64(32 - 8 * index) & 255) }
        }
    }

    private static func value(of character: UInt8) -> UInt8? {
        var upper = character
        if (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(upper) { upper -= 32 }
        switch upper {
        case UInt8(ascii: "O"): return 0
        case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
        default: return alphabet.firstIndex(of: upper).map { UInt8($0) }
        }
    }
}
