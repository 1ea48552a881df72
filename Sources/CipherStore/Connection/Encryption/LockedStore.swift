/// The files of a store as a connection found them when it was given a secret: the keyring, and the
/// beginning of the database file.
///
/// Each is read once, and everything that depends on them is decided here, so that no step of an
/// opening sees other files than the step before.
struct LockedStore {
    /// The most that is read of the file: a page of the largest size.
    private static let startByteCount = 65_536

    private let path: String
    private let keyring: Keyring

    /// The content of the keyring's file; nil when there is none.
    private let keyringContent: [UInt8]?

    /// The first bytes of the database file.
    private let start: [UInt8]

    /// Looks at the files.
    ///
    /// - parameters:
    ///     - path: The path of the database file.
    ///     - leadingBytes: Reads so many bytes of it, or all when there are fewer.
    /// - throws: A ``StoreError`` of code `cannotRead` when there is a keyring that can't be read.
    init(path: String, leadingBytes: (Int) -> [UInt8]) throws {
        self.path = path
        keyring = Keyring(store: path)
        keyringContent = try keyring.storage.read()
        start = leadingBytes(Self.startByteCount)
    }

    /// Whether the file is still to be made.
    var isNew: Bool { start.isEmpty }

    /// Finds the key that a secret gives.
    ///
    /// - returns: The key, and whether a page proves it, or the file is still to be made.
    /// - throws: A ``StoreError``: what the keyring says of the secret, or that there is none for it;
    ///   `damaged`, `formatTooNew`, … A ``DatabaseError`` of code `SQLITE_NOTADB` when a passphrase
    ///   was given for a file that is not encrypted.
    func key(_ secret: Secret, _ cache: KeyCache) throws -> (key: EncryptionKey, isProven: Bool) {
        if let key = try keyringKey(secret, cache) { return (key, isNew || proves(key)) }
        guard secret.kind == .passphrase else {
            guard keyringContent == nil else { throw mismatch }
            throw StoreError(.keyringMissing, "the store has no keyring", path: path)
        }
        switch StoreFile(leadingBytes: start) {
        case .empty:
            let key = try cache.keyForNewFile(path, passphrase: secret.bytes, settings: .default)
            return (key, true)
        case .plaintext:
            throw notADatabase(
                .plaintext, "the database is not encrypted, and a passphrase does not change that")
        case .truncated:
            throw notADatabase(.damaged, "the file is too short for a database")
        case .encrypted(let salt):
            // The passphrase of before a keyring was made opens the file if that did not finish.
            if let known = try cache.key(secret, path: path, start: start) {
                return try newest(known, secret, cache)
            }
            guard keyringContent == nil else { throw mismatch }
            // A journal may still hold the good first page: SQLite decides.
            let key = try KeyDerivation.derive(passphrase: secret.bytes, salt: salt, settings: .default)
            return (key, false)
        }
    }

    /// The key that the newest first page proves: that in the WAL may be one of another spelling of the passphrase.
    private func newest(
        _ found: (key: EncryptionKey, isProven: Bool), _ secret: Secret, _ cache: KeyCache
    ) throws -> (key: EncryptionKey, isProven: Bool) {
        let (key, settings) = (found.key, found.key.settings)
        guard let page = WALFile.firstPage(ofStore: path, pageSize: settings.pageSize, for: secret) else {
            return found
        }
        let isCurrent = page.withUnsafeBytes { PageAuthenticator(key: key).authenticates($0, number: 1) }
        if isCurrent { return (key, true) }
        return try cache.key(secret, salt: key.salt, settings: settings, start: page)
    }

    /// The key from the keyring; nil when there is none, or when it is not that of the file.
    private func keyringKey(_ secret: Secret, _ cache: KeyCache) throws -> EncryptionKey? {
        guard let keyringContent else { return nil }
        let salt: [UInt8]?
        switch StoreFile(leadingBytes: start) {
        case .empty: salt = nil
        case .encrypted(let found): salt = found
        case .plaintext, .truncated: return nil
        }
        guard let key = try cache.key(secret, keyring: keyring, content: keyringContent, salt: salt) else {
            return nil
        }
        guard !key.settings.format.needsVersion4 || EngineFeatures.current.supportsFormat4 else {
            throw StoreError.formatTooNew(path: path)
        }
        return key
    }

    /// Whether the first page of the file is authentic under a key. One in the WAL may be newer: where
    /// this is false, SQLite decides.
    private func proves(_ key: EncryptionKey) -> Bool {
        start.withUnsafeBytes { PageAuthenticator(key: key).authenticates($0, number: 1) }
    }

    private func notADatabase(_ code: StoreError.Code, _ message: String) -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_NOTADB, message: nil, storeError: StoreError(code, message, path: path))
    }

    private var mismatch: StoreError { Keyring.mismatch(keyring.path) }
}
