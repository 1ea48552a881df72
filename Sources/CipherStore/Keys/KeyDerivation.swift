import Crypto
import CryptoExtras
import Foundation

/// SQLCipher's key derivation, done here once instead of once per connection.
enum KeyDerivation {
    /// Derives the key of a file from a passphrase with PBKDF2 (RFC 8018).
    static func derive(
        passphrase: SecretBytes, salt: [UInt8], settings: CipherSettings
    ) throws -> EncryptionKey {
        let rounds = settings.iterationCount
        let secret = try DerivedKeyMemo.key("PBKDF2 \(settings.format) \(rounds)", passphrase, salt) {
            try deriveSecret(passphrase: passphrase, salt: salt, format: settings.format, rounds: rounds)
        }
        return EncryptionKey(keyAndSalt: secret, settings: settings)
    }

    /// The key, and after it the salt.
    private static func deriveSecret(
        passphrase: SecretBytes, salt: [UInt8], format: CipherSettings.Format, rounds: Int
    ) throws -> SecretBytes {
        let function: KDF.Insecure.PBKDF2.HashFunction =
            switch format {
            case .version1, .version2, .version3: .insecureSHA1
            case .version4: .sha512
            }
        let key = try passphrase.withUnsafeBytes { bytes in
            try KDF.Insecure.PBKDF2.deriveKey(
                from: BorrowedBytes(bytes), salt: salt, using: function,
                outputByteCount: EncryptionKey.keyByteCount, unsafeUncheckedRounds: rounds)
        }
        let count = EncryptionKey.keyByteCount + salt.count
        return try SecretBytes(capacity: count) { buffer in
            key.withUnsafeBytes { buffer.copyMemory(from: $0) }
            for (index, byte) in salt.enumerated() {
                buffer[EncryptionKey.keyByteCount + index] = byte
            }
            return count
        }
    }

    /// A digest that tells passphrases apart in memory without keeping them.
    static func fingerprint(_ passphrase: SecretBytes, nonce: SymmetricKey) -> Data {
        passphrase.withUnsafeBytes { bytes in
            Data(HMAC<SHA256>.authenticationCode(for: BorrowedBytes(bytes), using: nonce))
        }
    }

    /// The salt of a store that is made anew from another one.
    static func newSalt() -> [UInt8] {
        DerivedKeyMemo.newSalt(for: "store", byteCount: CipherSettings.saltByteCount)
    }

    static func randomSalt() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<CipherSettings.saltByteCount).map { _ in generator.next() }
    }
}

/// A view of memory as the data protocol that the crypto library takes, so that
/// a secret is not copied into a `Data` that nobody zeroes.
struct BorrowedBytes: DataProtocol, RandomAccessCollection {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var startIndex: Int { 0 }
    var endIndex: Int { bytes.count }
    subscript(position: Int) -> UInt8 { bytes[position] }
    subscript(bounds: Range<Int>) -> BorrowedBytes {
        // A slice must keep the indices of its base, so only the whole is cut.
        precondition(bounds == 0..<bytes.count, "a secret is not sliced")
        return self
    }
    var regions: CollectionOfOne<Region> { CollectionOfOne(Region(bytes: bytes)) }

    struct Region: DataProtocol, ContiguousBytes, RandomAccessCollection {
        let bytes: UnsafeRawBufferPointer
        var startIndex: Int { 0 }
        var endIndex: Int { bytes.count }
        subscript(position: Int) -> UInt8 { bytes[position] }
        subscript(bounds: Range<Int>) -> Region {
            precondition(bounds == 0..<bytes.count, "a secret is not sliced")
            return self
        }
        var regions: CollectionOfOne<Region> { CollectionOfOne(self) }
        func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
            try body(bytes)
        }
    }
}
