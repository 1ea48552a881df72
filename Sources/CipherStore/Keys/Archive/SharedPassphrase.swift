import Crypto

/// A passphrase that opens many files, and is derived once for all that belong together.
///
/// ```swift
/// let folder = SharedPassphrase(passphrase)
/// let lock = ArchiveLock(folder, group: store.bytes)   // each file made with it costs no derivation
/// ```
///
/// The files of a group have the same salt: scrypt's work is done once for a group, by their
/// owner and by an attacker alike. Each file has a random key of its own all the same.
public final class SharedPassphrase: Sendable {
    /// How many groups, or costs, are derived for, besides the group that is expected. Files of strangers can't ask for
    /// more.
    static let derivationCountMax = 8

    /// What trying the passphrase of a new file costs.
    public let cost: ScryptCost

    private struct Parameters: Hashable {
        let logN: Int
        let salt: [UInt8]
    }

    private let secret: Secret
    private let keys = Lock<[Parameters: SecretBytes]>([:])
    private let expected = Lock<[UInt8]?>(nil)

    /// Takes a passphrase.
    public init(_ passphrase: borrowing Passphrase, cost: ScryptCost = .standard) {
        secret = Secret(passphrase)
        self.cost = cost
    }

    /// The salt of a group's files.
    static func salt(of group: [UInt8]) -> [UInt8] {
        let group = DerivedKeyMemo.group(group)
        return Array(SHA256.hash(data: ArchiveFileKey.label("group") + group))
    }

    /// Says which group's files matter: strangers' files, however many there are, can't use up its derivations.
    package func expect(group: [UInt8]) {
        let salt = Self.salt(of: group)
        expected.withLock { $0 = salt }
    }

    func key(cost: ScryptCost, salt: [UInt8]) throws -> SecretBytes {
        let expected = expected.withLock { $0 }
        let parameters = Parameters(logN: cost.logN, salt: salt)
        return try keys.withLock { keys in
            if let key = keys[parameters] { return key }
            let strangers = keys.keys.count { $0.salt != expected }
            guard salt == expected || strangers < Self.derivationCountMax else {
                throw StoreError(
                    .costOutOfRange, "the files belong to more than \(Self.derivationCountMax) groups")
            }
            let key = try cost.derive(from: secret.bytes, salt: salt)
            keys[parameters] = key
            return key
        }
    }
}
