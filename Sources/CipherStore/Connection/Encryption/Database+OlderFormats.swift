import Foundation

extension Database {
    /// Uses a passphrase for a file whose format is known, and not recognised by itself: one that
    /// SQLCipher 1 or 2 made, or one with another number of rounds of derivation.
    ///
    /// ```swift
    /// configuration.prepareDatabase { db in
    ///     try db.usePassphrase(loadPassphrase(), settings: CipherSettings(compatibility: 2)!)
    /// }
    /// ```
    ///
    /// The file keeps its format. Pages of version 1 carry no MAC: nothing notices that such a file
    /// was damaged or changed, and it can't be copied, rekeyed or verified by this library. Move its
    /// content into a new store with ``StoreCopy/makeStore(of:at:passphrase:progress:)``.
    ///
    /// Call it in ``Configuration/prepareDatabase(_:)``, before any other use of the connection. It
    /// makes no new file, and does not look for a ``Keyring``.
    ///
    /// - throws: A ``StoreError``: `empty`, `plaintext`, `damaged`, or `formatTooNew`. A wrong
    ///   passphrase, or wrong settings, show when the connection first reads, which is when it opens.
    public func usePassphrase(_ passphrase: borrowing Passphrase, settings: CipherSettings) throws {
        try use(Secret(passphrase), settings: settings)
    }

    /// Uses the passphrase that a secret is, for a file whose format is known.
    func use(_ secret: Secret, settings: CipherSettings) throws {
        if isClosed { throw Self.closedError(sql: nil) }
        if takesAnyKey { return try useAnyKey() }
        guard !settings.format.needsVersion4 || EngineFeatures.current.supportsFormat4 else {
            throw StoreError.formatTooNew(path: path)
        }
        let start = SQLiteHandle.leadingBytes(handle, count: 65_536)
        switch StoreFile(leadingBytes: start) {
        case .empty: throw StoreError(.empty, "the file is empty, it holds no database", path: path)
        case .plaintext: throw StoreError(.plaintext, "the database is not encrypted", path: path)
        case .truncated: throw StoreError(.damaged, "the file is too short for a database", path: path)
        case .encrypted(let salt):
            let settings = settings.asVersion3IfSame
            let newest = WALFile.firstPage(ofStore: path, pageSize: settings.pageSize, for: secret)
            let (key, isProven) = try keyCache.key(
                secret, salt: salt, settings: settings, start: newest ?? start)
            try use(key, isProven: isProven)
        }
    }

    /// Uses a passphrase of text for a file whose format is known: see
    /// ``usePassphrase(_:settings:)-(Passphrase,_)``.
    ///
    /// - throws: As that one.
    public func usePassphrase(_ passphrase: String, settings: CipherSettings) throws {
        try usePassphrase(Passphrase(passphrase), settings: settings)
    }
}

extension CipherSettings {
    /// Version 2 is version 3 with fewer rounds of derivation.
    fileprivate var asVersion3IfSame: CipherSettings {
        guard format == .version2 else { return self }
        return CipherSettings(format: .version3, pageSize: pageSize, kdfIterations: iterationCount)
    }
}
