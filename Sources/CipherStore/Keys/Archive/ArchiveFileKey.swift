import Crypto

/// The random key of one archive. A key of its own is made of it for each use.
struct ArchiveFileKey {
    static let byteCount = 32

    let secret: SecretBytes

    static func random() throws -> ArchiveFileKey {
        ArchiveFileKey(secret: try DataKey.random().secret)
    }

    func key(for purpose: String, salt: [UInt8] = []) -> SymmetricKey {
        secret.withUnsafeBytes { bytes in
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: bytes), salt: salt, info: Self.label(purpose),
                outputByteCount: 32)
        }
    }

    func headerMAC(of content: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: content, using: key(for: "header")))
    }

    /// The key of the database file inside, which has the salt that its first bytes say.
    func databaseKey(salt: [UInt8], settings: CipherSettings) throws -> EncryptionKey {
        let secret = try key(for: "database").withUnsafeBytes { try SecretBytes($0) }
        return try DataKey(secret: secret, salt: salt).encryptionKey(settings, slotID: nil)
    }

    /// What sets apart the keys of this format from those of any other use.
    static func label(_ purpose: String) -> [UInt8] { Array("CipherStore archive v1 \(purpose)".utf8) }
}
