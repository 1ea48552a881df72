import Crypto
import Foundation

/// The public key for which archives can be made, as text: `csr1-…`.
public struct ArchiveRecipient: Sendable, Equatable, LosslessStringConvertible {
    static let ciphersuite = HPKE.Ciphersuite.Curve25519_SHA256_ChachaPoly
    static let keyByteCount = 32
    private static let prefix = "csr1-"
    private static let checkByteCount = 4

    private let bytes: [UInt8]

    var publicKey: Curve25519.KeyAgreement.PublicKey {
        get throws { try Curve25519.KeyAgreement.PublicKey(rawRepresentation: bytes) }
    }

    init(_ key: Curve25519.KeyAgreement.PublicKey) { bytes = Array(key.rawRepresentation) }

    /// Reads the text of a recipient; nil when it has a typing error.
    public init?(_ description: String) {
        let text = description.lowercased()
        guard text.hasPrefix(Self.prefix) else { return nil }
        let digits = Array(text.dropFirst(Self.prefix.count).utf8)
        guard digits.count == 2 * (Self.keyByteCount + Self.checkByteCount) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index...(index + 1)], as: UTF8.self), radix: 16)
            else {
                return nil
            }
            bytes.append(byte)
        }
        let key = Array(bytes.prefix(Self.keyByteCount))
        guard Array(bytes.suffix(Self.checkByteCount)) == Self.check(key) else { return nil }
        self.bytes = key
    }

    /// The text of the recipient, with a check of four bytes.
    public var description: String {
        Self.prefix
            + (bytes + Self.check(bytes)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func check(_ bytes: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(data: ArchiveFileKey.label("recipient check") + bytes).prefix(checkByteCount))
    }
}

/// The private key that opens the archives of a recipient, in a file of 32 bytes.
public struct ArchiveIdentity: Sendable {
    private let secret: SecretBytes

    /// The recipient whose archives it opens.
    public var recipient: ArchiveRecipient {
        get throws { ArchiveRecipient(try privateKey().publicKey) }
    }

    init(secret: SecretBytes) { self.secret = secret }

    func privateKey() throws -> Curve25519.KeyAgreement.PrivateKey {
        try secret.withUnsafeBytes { try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: $0) }
    }

    /// Reads an identity's file.
    ///
    /// - throws: A ``StoreError``: `missing`, `cannotRead`, `keyFileInvalid`.
    public init(file path: String) throws {
        secret = try Secret(keyFile: path).bytes
    }

    /// Makes an identity, in a new file that its owner alone can read.
    ///
    /// - throws: A ``StoreError``: `exists`, `reservedName` when the path is that of a file beside a database, `full`,
    ///   `cannotWrite`.
    public static func make(file path: String) throws -> ArchiveIdentity {
        ArchiveIdentity(secret: try Secret.makeKeyFile(at: path).bytes)
    }

    /// Makes an identity that is in memory alone: once the process has ended, nobody opens what was made for it.
    ///
    /// - throws: A ``StoreError`` of code `outOfMemory`.
    package static func random() throws -> ArchiveIdentity {
        var generator = SystemRandomNumberGenerator()
        let secret = try SecretBytes(capacity: ArchiveRecipient.keyByteCount) { buffer in
            for index in buffer.indices { buffer[index] = generator.next() }
            return ArchiveRecipient.keyByteCount
        }
        return ArchiveIdentity(secret: secret)
    }
}
