import Foundation

extension Database {
    /// Uses a passphrase for an encrypted database.
    ///
    /// Call it in ``Configuration/prepareDatabase(_:)``, before any other use of
    /// the connection. The key is derived once per file and shared by the
    /// connections of a queue or pool. When there is a ``Keyring`` beside the
    /// file, the passphrase opens one of its slots.
    ///
    /// - throws: A ``DatabaseError`` of code `SQLITE_NOTADB` when the file is not
    ///   encrypted; its `storeError` says so. A ``StoreError`` when the
    ///   passphrase is empty or too long, or the file needs a newer SQLCipher. A
    ///   wrong passphrase shows when the connection first reads, which is when
    ///   it opens.
    public func usePassphrase(_ passphrase: String) throws {
        try usePassphrase(Passphrase(passphrase))
    }

    /// Uses a passphrase of bytes, see ``Passphrase/init(utf8:)``.
    ///
    /// - throws: As ``usePassphrase(_:)-(String)``.
    public func usePassphrase(_ passphrase: Data) throws {
        try usePassphrase(Passphrase(data: passphrase))
    }

    /// Uses a passphrase that never was in unprotected memory.
    ///
    /// - throws: As ``usePassphrase(_:)-(String)``.
    public func usePassphrase(_ passphrase: borrowing Passphrase) throws {
        try useKeySlot(Secret(passphrase))
    }

    /// Applies the key settings that the set-up functions made with pragmas.
    ///
    /// SQLCipher derives the key when it first reads a page, so its manual has
    /// `PRAGMA kdf_iter` and `PRAGMA cipher_page_size` after the key. Here the
    /// key is derived already, so it is derived again when the number of rounds
    /// is another one.
    func applyKeyPragmas() throws {
        defer { setUpSecret = nil }
        guard let key = encryptionKey, DatabasePath(path).isFile else { return }
        var settings = key.settings
        settings.pageSize = number("PRAGMA cipher_page_size") ?? settings.pageSize
        // A key that was not derived has no rounds.
        let iterations =
            setUpSecret == nil
            ? settings.iterationCount : number("PRAGMA kdf_iter") ?? settings.iterationCount
        if iterations != settings.iterationCount { settings.kdfIterations = iterations }
        guard settings != key.settings else { return }
        guard let secret = setUpSecret, settings.kdfIterations != key.settings.kdfIterations else {
            encryptionKey = key.with(settings: settings)
            return
        }
        let start =
            WALFile.firstPage(ofStore: path, pageSize: settings.pageSize, for: secret)
            ?? SQLiteHandle.leadingBytes(handle, count: settings.pageSize)
        let derived = try keyCache.key(secret, salt: key.salt, settings: settings, start: start)
        try use(derived.key, isProven: false)
        withoutTracing { _ = SQLiteHandle.execute(handle, "PRAGMA kdf_iter = \(iterations)") }
    }

    private func number(_ pragma: String) -> Int? {
        withoutTracing { SQLiteHandle.text(handle, pragma).flatMap { Int($0) } }
    }

    /// Whether nobody but this process opens the database, now or later, so that any key will do.
    var takesAnyKey: Bool { configuration.pathForAnyKey == path || !DatabasePath(path).isFile }

    /// Uses a random key of this process.
    func useAnyKey() throws {
        try use(.forMemory(memorySettings), isProven: true)
        isNewFile = DatabasePath(path).isFile
    }

    /// Hands a derived key to the codec.
    func use(_ key: EncryptionKey, isProven: Bool) throws {
        let code = try key.withRawKeyText { SQLiteHandle.key(handle, $0) }
        guard ResultCode(rawValue: code) == .SQLITE_OK else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: "the key was not accepted")
        }
        withoutTracing { useSettings(of: key) }
        encryptionKey = key
        isKeyProven = isProven
    }

    private func useSettings(of key: EncryptionKey) {
        if EngineFeatures.current.supportsFormat4 {
            // The process's first key sends the library's log to stderr, so this comes after it.
            _ = SQLiteHandle.execute(handle, "PRAGMA cipher_log_level = NONE")
            // This resets the page size, so it comes first. With a raw key, version 2 is version 3.
            let version = key.settings.format.rawValue
            if version < 4 { _ = SQLiteHandle.execute(handle, "PRAGMA cipher_compatibility = \(version)") }
        } else if !key.settings.format.hasPageMACs {
            _ = SQLiteHandle.execute(handle, "PRAGMA cipher_use_hmac = OFF")
        }
        _ = SQLiteHandle.execute(handle, "PRAGMA cipher_page_size = \(key.settings.pageSize)")
    }
}
