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
    /// What was derived of passphrases of groups, for all that share this one. Only who has the passphrase gets it.
    private let groupKeys = Lock<[[UInt8]: (passphrase: SecretBytes, key: SecretBytes)]>([:])
    private static let groupKeyCountMax = 1000
    private let expected = Lock<[UInt8]?>(nil)
    /// What opens the files of all other groups than ``groups``; nil for this one.
    private let base: SharedPassphrase?
    /// Passphrases of their own, by the salts of the files that they open. Each is made when such a file is opened: it takes a
    /// page of locked memory, of which a process may have little, and there may be thousands of groups.
    package typealias GroupSecrets = [[UInt8]: @Sendable () throws -> Secret]
    private let groups: GroupSecrets

    /// Takes a passphrase.
    public init(_ passphrase: borrowing Passphrase, cost: ScryptCost = .standard) {
        secret = Secret(passphrase)
        self.cost = cost
        (base, groups) = (nil, [:])
    }

    /// The same passphrase, and others for the files of some groups. What it has derived already it need not derive again,
    /// and it gives what it derives of the others to those only who have them, too.
    ///
    /// - parameter groups: Random keys as passphrases, by the ``exactSalt(of:)`` of their groups: they need no costly derivation.
    package init(_ base: SharedPassphrase, groups: GroupSecrets) {
        (secret, cost, self.base, self.groups) = (base.secret, base.cost, base, groups)
    }

    /// The passphrase alone, which also tries files of groups that are not expected, as far as it derives for these.
    package var withoutGroups: SharedPassphrase { base?.withoutGroups ?? self }

    /// The salt of a group's files.
    static func salt(of group: [UInt8]) -> [UInt8] {
        let group = DerivedKeyMemo.group(group)
        return Array(SHA256.hash(data: ArchiveFileKey.label("group") + group))
    }

    /// The salt of the files of a group that has a passphrase of its own. It tells which one opens them.
    package static func exactSalt(of group: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(data: ArchiveFileKey.label("group") + group))
    }

    /// The salt of a group's files that have the passphrase of all.
    package static func salt(ofFilesOf group: [UInt8]) -> [UInt8] { salt(of: group) }

    /// What new files of a salt cost whoever tries passphrases.
    func cost(of salt: [UInt8]) -> ScryptCost { groups[salt] == nil ? cost : .minimum }

    /// Says which group's files matter: strangers' files, however many there are, can't use up its derivations.
    package func expect(group: [UInt8]) {
        if let base { return base.expect(group: group) }
        let salt = Self.salt(of: group)
        expected.withLock { $0 = salt }
    }

    private func mayExpect(_ salt: [UInt8]) -> Bool { expected.withLock { $0 == nil || $0 == salt } }

    /// Whether it derives no key any more for a group that it has not met, other than the one that is expected.
    package var isExhausted: Bool {
        if let base { return base.isExhausted }
        let expected = expected.withLock { $0 }
        return keys.withLock { keys in
            keys.keys.count { $0.salt != expected } >= Self.derivationCountMax
        }
    }

    func key(cost: ScryptCost, salt: [UInt8]) throws -> SecretBytes {
        if let own = groups[salt] {
            // Whoever has been given the key could let readers work for each of its files otherwise.
            guard cost == .minimum else {
                throw StoreError(.costOutOfRange, "a random key needs no costly derivation")
            }
            return try (base ?? self).key(of: own().bytes, salt: salt)
        }
        if let base {
            // Where groups have passphrases of their own, files of a group that has none here are not for this reader.
            guard base.mayExpect(salt) else {
                throw StoreError(.wrongPassphrase, "no key that is here opens the file")
            }
            return try base.key(cost: cost, salt: salt)
        }
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

    /// The key of a group's own passphrase. Each synchronization opens the files of the same groups.
    private func key(of passphrase: SecretBytes, salt: [UInt8]) throws -> SecretBytes {
        if let base { return try base.key(of: passphrase, salt: salt) }
        return try groupKeys.withLock { keys in
            if let known = keys[salt], known.passphrase.matches(passphrase) { return known.key }
            let key = try ScryptCost.minimum.derive(from: passphrase, salt: salt)
            if keys[salt] == nil, keys.count >= Self.groupKeyCountMax, let other = keys.keys.first {
                keys[other] = nil
            }
            keys[salt] = (passphrase, key)
            return key
        }
    }
}
