import Crypto
import Foundation

/// What separates the hashes, signatures and keys of this module from each other and from all others.
///
/// Each is a text in ASCII and a zero byte, so that none is the beginning of another one.
enum Domain: String {
    case statement = "cipherstore statement 1"
    case device = "cipherstore device 1"
    case recoverySigning = "cipherstore recovery 1 signing"
    case recoveryAgreement = "cipherstore recovery 1 agreement"
    case recoveryCheck = "cipherstore recovery 1 check"
    case epochWrap = "cipherstore epoch 1 wrap"
    case epochCommitment = "cipherstore epoch 1 commitment"
    case epochHistory = "cipherstore epoch 1 history"
    case epochUse = "cipherstore epoch 1 use"
    case head = "cipherstore head 1"

    /// The bytes that go before all others.
    var bytes: [UInt8] { Array(rawValue.utf8) + [0] }

    /// Derives a key of 32 bytes.
    func key(of secret: SymmetricKey, salt: [UInt8] = [], context: [UInt8] = []) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret, salt: salt, info: bytes + context, outputByteCount: 32)
    }

    /// Hashes parts whose lengths are fixed.
    func hash(_ parts: [[UInt8]]) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: bytes)
        for part in parts { hash.update(data: part) }
        return Array(hash.finalize())
    }
}
