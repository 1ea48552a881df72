import Foundation

/// The key of a database itself, instead of a passphrase that it is derived from: for apps that keep
/// 32 random bytes in a keychain or a hardware module, and for files whose program gave SQLCipher
/// `x'…'` as the key.
///
/// It is a type of its own, so that no passphrase that looks like one is taken for a key. A raw key
/// costs no derivation, and protects only if its bytes are random. It is in memory that is locked,
/// and zeroed when the value ends; it has no description and cannot be read back.
///
/// ```swift
/// configuration.prepareDatabase { db in try db.useRawKey(RawKey(data: Keychain.key())) }
/// ```
///
/// Format: <https://www.zetetic.net/sqlcipher/sqlcipher-api/#PRAGMA_key>, "Raw key data".
public struct RawKey: ~Copyable, Sendable {
    let bytes: SecretBytes

    /// Makes a key of bytes: 32 of the key, and, if the file's salt is to be given too, 16 of it.
    ///
    /// - throws: A ``StoreError`` of code `rawKeyInvalid` for any other number of bytes.
    public init(data: Data) throws {
        guard Self.byteCounts.contains(data.count) else { throw Self.invalid("\(data.count) bytes") }
        bytes = try data.withUnsafeBytes { try SecretBytes($0) }
    }

    /// Makes a key of 64 hexadecimal digits, or of 96 with the file's salt; also as SQLCipher writes
    /// them, between `x'` and `'`.
    ///
    /// - throws: A ``StoreError`` of code `rawKeyInvalid` for anything else.
    public init(hex: String) throws {
        var text = hex
        bytes = try text.withUTF8 { try Self.decode(Self.digits(of: UnsafeRawBufferPointer($0))) }
    }

    private static let byteCounts: Set = [
        EncryptionKey.keyByteCount, EncryptionKey.keyByteCount + CipherSettings.saltByteCount,
    ]

    /// The digits between the quotes, if there are quotes.
    private static func digits(of text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let quote = UInt8(ascii: "'")
        guard text.count > 3, text[0] | 0x20 == UInt8(ascii: "x"), text[1] == quote, text.last == quote else {
            return text
        }
        return UnsafeRawBufferPointer(rebasing: text[2..<(text.count - 1)])
    }

    private static func decode(_ digits: UnsafeRawBufferPointer) throws -> SecretBytes {
        guard digits.count.isMultiple(of: 2), byteCounts.contains(digits.count / 2) else {
            throw invalid("\(digits.count) characters")
        }
        return try SecretBytes(capacity: digits.count / 2) { buffer in
            for index in buffer.indices {
                guard let high = value(of: digits[2 * index]), let low = value(of: digits[2 * index + 1])
                else {
                    throw invalid("a character that is no hexadecimal digit")
                }
                buffer[index] = high << 4 | low
            }
            return buffer.count
        }
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func invalid(_ what: String) -> StoreError {
        StoreError(
            .rawKeyInvalid, "a raw key has 64 hexadecimal digits, or 96 with the salt; this one has \(what)")
    }

    /// The salt, when it was given.
    var salt: [UInt8]? {
        guard bytes.count > EncryptionKey.keyByteCount else { return nil }
        return bytes.withUnsafeBytes { Array($0.dropFirst(EncryptionKey.keyByteCount)) }
    }

    /// The key of a file with a salt.
    func encryptionKey(salt: [UInt8], settings: CipherSettings) throws -> EncryptionKey {
        let count = EncryptionKey.keyByteCount
        let secret = try SecretBytes(capacity: count + salt.count) { buffer in
            bytes.withUnsafeBytes {
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(count)))
            }
            for (index, byte) in salt.enumerated() { buffer[count + index] = byte }
            return count + salt.count
        }
        return EncryptionKey(keyAndSalt: secret, settings: settings)
    }
}
