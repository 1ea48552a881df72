import Crypto
import CryptoExtras

/// What it costs to try one passphrase: the parameters of scrypt (RFC 7914).
///
/// Memory and time grow with `N`; `r` is 8 and `p` is 1, as everywhere.
public struct ScryptCost: Equatable, Sendable {
    /// The binary logarithm of `N`.
    public let logN: Int

    /// The least that a keyring may ask for, for tests and for machines with little memory: 16 MiB.
    public static let minimum = ScryptCost(uncheckedLogN: 14)

    /// 128 MiB, about 0.4 s on a small server: OWASP's recommendation for scrypt.
    public static let standard = ScryptCost(uncheckedLogN: 17)

    /// The most that a keyring may ask for: 4 GiB.
    public static let maximum = ScryptCost(uncheckedLogN: 22)

    /// The most that is paid for a keyring unless its reader allows more: 1 GiB. Whoever can
    /// write to the file could exhaust the memory of the machine otherwise.
    public static let defaultLimit = ScryptCost(uncheckedLogN: 20)

    static let blockSize = 8
    static let parallelism = 1

    /// Makes a cost.
    ///
    /// - parameter logN: From 14 (16 MiB) to 22 (4 GiB).
    /// - throws: A ``StoreError`` of code `costOutOfRange`.
    public init(logN: Int) throws {
        guard (Self.minimum.logN...Self.maximum.logN).contains(logN) else {
            throw StoreError(
                .costOutOfRange,
                "the cost of a passphrase is from \(Self.minimum.logN) to \(Self.maximum.logN), not \(logN)")
        }
        self.logN = logN
    }

    private init(uncheckedLogN: Int) { logN = uncheckedLogN }

    /// The memory that trying one passphrase takes, in bytes.
    public var memoryByteCount: Int { (128 * Self.blockSize) << logN }

    /// Derives 32 bytes.
    func derive(from secret: SecretBytes, salt: [UInt8]) throws -> SecretBytes {
        // The library traps on empty input.
        guard secret.count > 0, !salt.isEmpty else {
            throw StoreError(.emptyPassphrase, "the passphrase is empty")
        }
        return try DerivedKeyMemo.key("scrypt \(logN)", secret, salt) {
            try deriveSecret(from: secret, salt: salt)
        }
    }

    private func deriveSecret(from secret: SecretBytes, salt: [UInt8]) throws -> SecretBytes {
        let key: SymmetricKey
        do {
            key = try secret.withUnsafeBytes { bytes in
                try KDF.Scrypt.deriveKey(
                    from: BorrowedBytes(bytes), salt: salt, outputByteCount: SlotKey.byteCount,
                    rounds: 1 << logN, blockSize: Self.blockSize, parallelism: Self.parallelism)
            }
        } catch {
            throw StoreError(
                .outOfMemory,
                "the key derivation needs \(memoryByteCount >> 20) MiB of memory, which can't be had")
        }
        return try key.withUnsafeBytes { try SecretBytes($0) }
    }
}
