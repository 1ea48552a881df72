/// The derived key of one file: the AES key and the file's salt.
///
/// Handed to SQLCipher as a raw key it costs no derivation, and it also avoids
/// the race of SQLCipher 3.4.1 in which two connections that open a new file
/// choose two salts.
final class EncryptionKey: Sendable {
    static let keyByteCount = 32

    /// The format and page size that the file has, or will have.
    let settings: CipherSettings

    /// The slot of a keyring that gave the key; nil when it is derived from a passphrase.
    let slotID: KeySlot.ID?

    private let secret: SecretBytes

    /// Makes a key of 32 key bytes followed by 16 salt bytes.
    init(keyAndSalt: SecretBytes, settings: CipherSettings, slotID: KeySlot.ID? = nil) {
        precondition(keyAndSalt.count == Self.keyByteCount + CipherSettings.saltByteCount)
        secret = keyAndSalt
        self.settings = settings
        self.slotID = slotID
    }

    /// Shares the bytes of another key.
    init(copying other: EncryptionKey, settings: CipherSettings, slotID: KeySlot.ID?) {
        secret = other.secret
        self.slotID = slotID
        self.settings = settings
    }

    /// The key of databases that live in memory. All of the process share it,
    /// so that connections to one named database agree.
    static func forMemory(_ settings: CipherSettings) throws -> EncryptionKey {
        EncryptionKey(copying: try processKey.get(), settings: settings, slotID: nil)
    }

    private static let processKey = Result { try random() }

    private static func random() throws -> EncryptionKey {
        let count = keyByteCount + CipherSettings.saltByteCount
        let secret = try SecretBytes(capacity: count) { buffer in
            var generator = SystemRandomNumberGenerator()
            for index in buffer.indices { buffer[index] = generator.next() }
            return count
        }
        return EncryptionKey(keyAndSalt: secret, settings: .default)
    }

    func withKeyBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try secret.withUnsafeBytes {
            try body(UnsafeRawBufferPointer(rebasing: $0.prefix(Self.keyByteCount)))
        }
    }

    /// A copy of the key bytes, for the keyring.
    func dataKey() throws -> DataKey {
        DataKey(secret: try withKeyBytes { try SecretBytes($0) }, salt: salt)
    }

    var salt: [UInt8] {
        secret.withUnsafeBytes { Array($0.dropFirst(Self.keyByteCount)) }
    }

    /// Gives access to the key as SQLCipher reads a raw key: `x'`, 96
    /// hexadecimal digits, `'`.
    func withRawKeyText<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        let count = 3 + 2 * secret.count
        let text = try SecretBytes(capacity: count) { buffer in
            let digits = Array("0123456789abcdef".utf8)
            buffer[0] = UInt8(ascii: "x")
            buffer[1] = UInt8(ascii: "'")
            buffer[count - 1] = UInt8(ascii: "'")
            secret.withUnsafeBytes { bytes in
                for (index, byte) in bytes.enumerated() {
                    buffer[2 + 2 * index] = digits[Int(byte >> 4)]
                    buffer[3 + 2 * index] = digits[Int(byte & 15)]
                }
            }
            return count
        }
        return try text.withUnsafeBytes(body)
    }
}
