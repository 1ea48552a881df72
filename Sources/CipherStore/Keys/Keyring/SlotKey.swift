import Crypto
import Foundation

/// The key of one slot, under which the data keys are sealed.
///
/// It is used for two things, each under a key of its own made by HKDF
/// (RFC 5869): a commitment, because ChaCha20-Poly1305 does not commit to its
/// key, and the sealing. The commitment also tells a wrong passphrase from a
/// damaged file.
struct SlotKey {
    static let byteCount = 32
    static let saltByteCount = 32
    static let nonceByteCount = 12
    static let tagByteCount = 16
    static let commitmentByteCount = 32

    private let secret: SecretBytes

    /// Derives the key of a slot from the secret that opens it.
    init(
        _ slotSecret: Secret, salt: [UInt8], cost: ScryptCost?
    ) throws {
        if let cost {
            secret = try cost.derive(from: slotSecret.bytes, salt: salt)
        } else {
            // The secret is random and long enough: no password hashing is needed.
            let key = slotSecret.bytes.withUnsafeBytes { bytes in
                HKDF<SHA256>.deriveKey(
                    inputKeyMaterial: SymmetricKey(data: bytes), salt: salt,
                    info: Self.label("slot \(slotSecret.kind.name)"), outputByteCount: Self.byteCount)
            }
            secret = try key.withUnsafeBytes { try SecretBytes($0) }
        }
    }

    /// A keyed digest of what the slot says about itself.
    func commitment(to associatedData: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: associatedData, using: key(for: "commitment")))
    }

    /// Returns whether a commitment is this key's, in constant time.
    func matches(_ commitment: [UInt8], to associatedData: [UInt8]) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(
            commitment, authenticating: associatedData, using: key(for: "commitment"))
    }

    /// Seals a data key.
    func seal(_ key: SecretBytes, associatedData: [UInt8]) throws -> SealedDataKey {
        let nonce = Self.randomBytes(Self.nonceByteCount)
        let box = try key.withUnsafeBytes { bytes in
            try ChaChaPoly.seal(
                BorrowedBytes(bytes), using: self.key(for: "seal"), nonce: ChaChaPoly.Nonce(data: nonce),
                authenticating: associatedData)
        }
        return SealedDataKey(nonce: nonce, box: Array(box.ciphertext) + Array(box.tag))
    }

    /// Opens a sealed data key; nil when it is not what was sealed.
    func open(_ sealed: SealedDataKey, associatedData: [UInt8]) throws -> SecretBytes? {
        guard
            let box = try? ChaChaPoly.SealedBox(
                nonce: ChaChaPoly.Nonce(data: sealed.nonce),
                ciphertext: sealed.box.dropLast(Self.tagByteCount), tag: sealed.box.suffix(Self.tagByteCount)),
            var opened = try? ChaChaPoly.open(box, using: key(for: "seal"), authenticating: associatedData)
        else { return nil }
        // `Data` is not zeroed by itself.
        return try opened.withUnsafeMutableBytes { bytes in
            defer { SecretBytes.zero(bytes) }
            return try SecretBytes(UnsafeRawBufferPointer(bytes))
        }
    }

    private func key(for purpose: String) -> SymmetricKey {
        secret.withUnsafeBytes { bytes in
            HKDF<SHA256>.expand(
                pseudoRandomKey: bytes, info: Self.label("slot \(purpose)"), outputByteCount: Self.byteCount)
        }
    }

    /// What sets apart the keys of this format from those of any other use.
    static func label(_ purpose: String) -> [UInt8] { Array("CipherStore keyring v1 \(purpose)".utf8) }

    static func randomBytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in generator.next() }
    }
}
