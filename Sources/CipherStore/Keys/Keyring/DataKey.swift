import Crypto

/// The random key of a store that has a keyring: 32 bytes, and the salt of the file.
struct DataKey {
    static let byteCount = EncryptionKey.keyByteCount

    let secret: SecretBytes

    /// The first 16 bytes of the database file. They say which data key a file has.
    let salt: [UInt8]

    /// Makes a random key.
    static func random() throws -> DataKey {
        var generator = SystemRandomNumberGenerator()
        let secret = try SecretBytes(capacity: byteCount) { buffer in
            for index in buffer.indices { buffer[index] = generator.next() }
            return byteCount
        }
        return DataKey(secret: secret, salt: KeyDerivation.randomSalt())
    }

    /// The key as SQLCipher takes it.
    func encryptionKey(_ settings: CipherSettings, slotID: KeySlot.ID?) throws -> EncryptionKey {
        let whole = try SecretBytes(capacity: Self.byteCount + salt.count) { buffer in
            secret.withUnsafeBytes { buffer.copyMemory(from: $0) }
            for (index, byte) in salt.enumerated() { buffer[Self.byteCount + index] = byte }
            return Self.byteCount + salt.count
        }
        return EncryptionKey(keyAndSalt: whole, settings: settings, slotID: slotID)
    }

    /// A key of its own for each other use. The data key itself is for pages only.
    func key(for purpose: String, storeID: [UInt8]) -> SymmetricKey {
        secret.withUnsafeBytes { bytes in
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: bytes), salt: storeID, info: SlotKey.label(purpose),
                outputByteCount: 32)
        }
    }
}
