import Crypto
import Foundation

/// The keys that the connections of one queue or pool have derived, so that
/// all but the first connection open without a derivation.
///
/// An entry is found by the file's salt and a keyed digest of the passphrase;
/// the passphrase itself is not kept.
final class KeyCache: Sendable {
    private struct Entry {
        let fingerprint: Data
        let salt: [UInt8]
        let key: EncryptionKey

        func isFor(_ fingerprint: Data, _ salt: [UInt8], iterations: Int?) -> Bool {
            self.salt == salt && self.fingerprint == fingerprint
                && (iterations == nil || iterations == key.settings.iterationCount)
        }
    }

    private let nonce = SymmetricKey(size: .bits256)
    private let entries = Lock<[Entry]>([])
    private let derivations = Lock(0)

    /// How many derivations have been paid for.
    var derivationCount: Int { derivations.withLock { $0 } }

    /// The key of a file that is about to be created.
    func keyForNewFile(
        _ path: String, passphrase: SecretBytes, settings: CipherSettings
    ) throws -> EncryptionKey {
        let key = try derive(passphrase, DerivedKeyMemo.saltForNewFile(path), settings)
        return remember(key, KeyDerivation.fingerprint(passphrase, nonce: nonce))
    }

    /// The key that a file has, or will have, with a known salt.
    func key(passphrase: SecretBytes, salt: [UInt8], settings: CipherSettings) throws -> EncryptionKey {
        let fingerprint = KeyDerivation.fingerprint(passphrase, nonce: nonce)
        if let known = known(fingerprint, salt, iterations: settings.iterationCount),
            known.settings.format == settings.format
        {
            return known.with(settings: settings)
        }
        return remember(try derive(passphrase, salt, settings), fingerprint)
    }

    /// The key of an existing file, with the format and page size that its
    /// first page proves.
    ///
    /// - parameter start: The first bytes of the file, up to the largest page size.
    /// - returns: The key, and whether the first page proves it; nil when no key
    ///   is known, and the passphrase does not authenticate the first page in any
    ///   format, with the usual rounds of derivation.
    /// - throws: ``StoreError`` when only a newer SQLCipher can open the file.
    func key(
        passphrase: SecretBytes, path: String, start: [UInt8]
    ) throws -> (key: EncryptionKey, isProven: Bool)? {
        let fingerprint = KeyDerivation.fingerprint(passphrase, nonce: nonce)
        let salt = Array(start.prefix(CipherSettings.saltByteCount))
        if let known = known(fingerprint, salt, iterations: nil) {
            // The file's first page may be older than the WAL's, or another process has changed
            // the passphrase, which keeps the salt: then SQLite decides.
            return Self.proving(known, start)
        }
        let formats = CipherSettings.Format.current.sorted { left, _ in
            left == CipherSettings.default.format
        }
        for format in formats {
            let key = try derive(passphrase, salt, CipherSettings(format: format))
            guard let found = Self.settings(authenticating: start, key: key) else { continue }
            guard !format.needsVersion4 || EngineFeatures.current.supportsFormat4 else {
                throw StoreError.formatTooNew(path: path)
            }
            return (remember(key.with(settings: found), fingerprint), true)
        }
        return nil
    }

    /// The key of an existing file from a passphrase in any of its spellings, as ``key(passphrase:path:start:)``.
    func key(
        _ secret: Secret, path: String, start: [UInt8]
    ) throws -> (key: EncryptionKey, isProven: Bool)? {
        // What is known comes first, so that a spelling that opens nothing is not derived for each connection.
        let salt = Array(start.prefix(CipherSettings.saltByteCount))
        var unproven: (key: EncryptionKey, isProven: Bool)?
        for spelling in secret.spellings where isKnown(spelling, salt) {
            guard let found = try key(passphrase: spelling, path: path, start: start) else { continue }
            if found.isProven { return found }
            unproven = unproven ?? found
        }
        if let unproven { return unproven }
        for spelling in secret.spellings {
            if let found = try key(passphrase: spelling, path: path, start: start) { return found }
        }
        return nil
    }

    /// Whether there is a key of a passphrase in one spelling. Another spelling is another passphrase, to which the
    /// file may be changed.
    private func isKnown(_ spelling: SecretBytes, _ salt: [UInt8]) -> Bool {
        known(KeyDerivation.fingerprint(spelling, nonce: nonce), salt, iterations: nil) != nil
    }

    /// The key of an existing file whose settings are known, and whether the first page proves it.
    ///
    /// - returns: That of the normalised passphrase where the first page proves none.
    func key(
        _ secret: Secret, salt: [UInt8], settings: CipherSettings, start: [UInt8]
    ) throws -> (key: EncryptionKey, isProven: Bool) {
        for spelling in secret.spellings {
            let candidate = try key(passphrase: spelling, salt: salt, settings: settings)
            let authenticator = PageAuthenticator(key: candidate)
            if start.withUnsafeBytes({ authenticator.authenticates($0, number: 1) }) {
                return (candidate, true)
            }
        }
        return (try key(passphrase: secret.bytes, salt: salt, settings: settings), false)
    }

    /// The key of a file that is about to be created, from a raw one.
    func keyForNewFile(_ raw: borrowing RawKey, settings: CipherSettings) throws -> EncryptionKey {
        let key = try raw.encryptionKey(salt: raw.salt ?? KeyDerivation.randomSalt(), settings: settings)
        return remember(key, KeyDerivation.fingerprint(raw.bytes, nonce: nonce))
    }

    /// The key of an existing file from a raw one, as ``key(passphrase:path:start:)``.
    func key(
        _ raw: borrowing RawKey, path: String, start: [UInt8]
    ) throws -> (key: EncryptionKey, isProven: Bool)? {
        let fingerprint = KeyDerivation.fingerprint(raw.bytes, nonce: nonce)
        let salt = Array(start.prefix(CipherSettings.saltByteCount))
        if let known = known(fingerprint, salt, iterations: nil) {
            return Self.proving(known, start)
        }
        guard raw.salt == nil || raw.salt == salt else { return nil }
        for format in CipherSettings.Format.current {
            let key = try raw.encryptionKey(salt: salt, settings: CipherSettings(format: format))
            guard let found = Self.settings(authenticating: start, key: key) else { continue }
            guard !format.needsVersion4 || EngineFeatures.current.supportsFormat4 else {
                throw StoreError.formatTooNew(path: path)
            }
            return (remember(key.with(settings: found), fingerprint), true)
        }
        return nil
    }

    /// The key of a store that has a keyring.
    ///
    /// - parameters:
    ///     - salt: The salt of the file; nil when it is still to be made.
    /// - returns: nil when the keyring is not that of the file.
    /// - throws: A ``StoreError``: `wrongPassphrase`, `keyringDamaged`, `keyringMismatch` where a new file would
    ///   decide an interrupted rotation, …
    func key(
        _ secret: Secret, keyring: Keyring, content: [UInt8], salt: [UInt8]?
    ) throws -> EncryptionKey? {
        let fingerprint = KeyDerivation.fingerprint(secret.bytes, nonce: nonce)
        let file = try KeyringFile(parsing: content, path: keyring.path)
        if salt == nil && file.pendingSalt != nil { throw UnlockedKeyring.undecided(keyring.path) }
        let salt = salt ?? file.activeSalt
        guard salt == file.activeSalt || salt == file.pendingSalt else { return nil }
        if let known = known(fingerprint, salt, iterations: nil), known.slotID != nil { return known }
        derivations.withLock { $0 += 1 }
        let opened = try keyring.opened(content, secret)
        guard let key = salt == file.activeSalt ? opened.active : opened.pending else {
            throw UnlockedKeyring.notKept(keyring.path)
        }
        if salt == file.pendingSalt { keyring.finishRotation(of: content, opened: opened) }
        return remember(try key.encryptionKey(file.settings, slotID: opened.slotID), fingerprint)
    }

    /// Notes that a file was given another key. Who opens it with the passphrase of before, which the
    /// functions of a configuration may still give, gets the new key.
    func replace(_ old: EncryptionKey, with new: EncryptionKey, passphrase: SecretBytes) {
        let fingerprint = KeyDerivation.fingerprint(passphrase, nonce: nonce)
        entries.withLock { entries in
            let fingerprints = Set(entries.filter { $0.salt == old.salt }.map(\.fingerprint) + [fingerprint])
            entries.removeAll { $0.salt == old.salt }
            entries += fingerprints.map { Entry(fingerprint: $0, salt: new.salt, key: new) }
        }
    }

    private func known(_ fingerprint: Data, _ salt: [UInt8], iterations: Int?) -> EncryptionKey? {
        // The newest first: a file may have been given other settings.
        entries.withLock { entries in
            entries.last { $0.isFor(fingerprint, salt, iterations: iterations) }?.key
        }
    }

    private func remember(_ key: EncryptionKey, _ fingerprint: Data) -> EncryptionKey {
        entries.withLock { $0.append(Entry(fingerprint: fingerprint, salt: key.salt, key: key)) }
        return key
    }

    private func derive(
        _ passphrase: SecretBytes, _ salt: [UInt8], _ settings: CipherSettings
    ) throws -> EncryptionKey {
        derivations.withLock { $0 += 1 }
        return try KeyDerivation.derive(passphrase: passphrase, salt: salt, settings: settings)
    }

    /// A known key with the page size that the first page has, and whether that page proves it. The size may have been
    /// chosen after the key was derived.
    private static func proving(
        _ known: EncryptionKey, _ start: [UInt8]
    ) -> (key: EncryptionKey, isProven: Bool) {
        guard let found = settings(authenticating: start, key: known) else { return (known, false) }
        var proven = known.settings
        proven.pageSize = found.pageSize
        return (known.with(settings: proven), true)
    }

    private static func settings(authenticating start: [UInt8], key: EncryptionKey) -> CipherSettings? {
        start.withUnsafeBytes { bytes in
            CipherSettings.pageSizes.lazy
                .filter { $0 <= bytes.count }
                .map { CipherSettings(format: key.settings.format, pageSize: $0) }
                .first { settings in
                    PageAuthenticator(key: key.with(settings: settings)).authenticates(bytes, number: 1)
                }
        }
    }
}

extension EncryptionKey {
    /// The same key with other settings.
    func with(settings: CipherSettings) -> EncryptionKey {
        EncryptionKey(copying: self, settings: settings, slotID: slotID)
    }

    /// The same key as another slot gives it.
    func with(slotID: KeySlot.ID) -> EncryptionKey {
        EncryptionKey(copying: self, settings: settings, slotID: slotID)
    }
}

extension StoreError {
    static func formatTooNew(path: String) -> StoreError {
        StoreError(
            .formatTooNew,
            "the file has the format of SQLCipher 4, and this program runs on SQLCipher "
                + (EngineFeatures.current.cipherVersion ?? "?"), path: path)
    }
}
