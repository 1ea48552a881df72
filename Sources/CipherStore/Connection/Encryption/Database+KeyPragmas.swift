extension Database {
    /// Has the authorizer notice the pragmas of the set-up functions that say how the database is encrypted, and refuse
    /// those that would give it another key.
    func watchKeyPragmas() {
        authorizer.hasKeyPragmas = false
        authorizer.cipherPragmas = CipherPragmas(duringSetUp: { [unowned self] in
            let isFile = DatabasePath(self.path).isFile
            return CipherPragmas.Choices(
                pages: !isFile || !self.knowsPages, rounds: isFile && self.derivesKey)
        })
        authorizer.install(on: self)
    }

    /// Applies the key settings that pragmas asked for, unless the SQL that comes now is another such pragma.
    ///
    /// SQLCipher would use the key for a page, and from then on keep it.
    ///
    /// - parameter sql: What is about to be prepared.
    /// - throws: As ``applyKeyPragmas()``.
    func applyKeyPragmas(before sql: String) throws {
        guard !CipherPragmas.readsNoPage(sql) else { return }
        try applyKeyPragmas()
    }

    /// Applies the key settings that the set-up functions made with pragmas, and refuses those that no store has.
    ///
    /// SQLCipher derives the key when it first reads a page, so its manual has `PRAGMA kdf_iter`,
    /// `cipher_page_size` and `cipher_compatibility` after the key. Here the key is derived already, so it is derived
    /// again when the number of rounds or the format is another one.
    ///
    /// - throws: A ``StoreError`` of code `encryptionMismatch`; what a derivation throws.
    func applyKeyPragmas() throws {
        do {
            try followKeyPragmas()
            authorizer.hasKeyPragmas = false
        } catch {
            // The set-up function may swallow the error, and its next statement would write pages that no store has.
            authorizer.hasKeyPragmas = true
            throw error
        }
    }

    private func followKeyPragmas() throws {
        guard let key = encryptionKey, DatabasePath(path).isFile else { return }
        let found = codecParameters
        // Elsewhere rounds mean nothing. To set them would make SQLCipher 4 look for a key that it has forgotten.
        let derivesKey = self.derivesKey
        guard !found.agree(with: key.settings, withRounds: derivesKey) else { return }
        let settings = try settings(askedForBy: found, of: key)
        if derivesKey, let secret = setUpSecret, !settings.derivesKeys(like: key.settings) {
            let start =
                WALFile.firstPage(ofStore: path, pageSize: settings.pageSize, for: secret)
                ?? SQLiteHandle.leadingBytes(handle, count: settings.pageSize)
            let derived = try keyCache.key(secret, salt: key.salt, settings: settings, start: start)
            try use(derived.key, isProven: derived.isProven)
        } else if found.agree(with: settings, withRounds: derivesKey) {
            // The set-up functions may have read pages with these parameters: the codec stays.
            encryptionKey = key.with(settings: settings)
        } else {
            try use(key.with(settings: settings), isProven: isKeyProven)
        }
        guard !codecParameters.agree(with: settings, withRounds: derivesKey) else { return }
        throw parameterError(codecParameters.oddity ?? "SQLCipher did not take the file's format")
    }

    /// What an error of a passphrase says where the process has a default that does not count, under which the file may
    /// have been made; else nothing.
    var adviceOnDefaults: String {
        let text = withoutTracing { SQLiteHandle.text(handle, "PRAGMA cipher_default_kdf_iter") }
        guard setUpSecret != nil, let key = encryptionKey, let rounds = text.flatMap({ Int($0) }),
            rounds != CipherSettings.default.iterationCount, rounds != key.settings.iterationCount
        else { return "" }
        return "; PRAGMA cipher_default_kdf_iter does not count, so a file that was made under it needs"
            + " PRAGMA kdf_iter = \(rounds) after the passphrase in prepareDatabase"
    }

    /// The page size of a connection that encrypts, also of one whose key came from a pragma or from the C API.
    var codecPageSize: Int? {
        if let encryptionKey { return encryptionKey.settings.pageSize }
        return withoutTracing { SQLiteHandle.text(handle, "PRAGMA cipher_page_size").flatMap { Int($0) } }
    }

    private var codecParameters: CodecParameters { withoutTracing { CodecParameters(of: handle) } }

    /// Whether pragmas have nothing to say of how pages are written: a page proves it, or the keyring says it of a file
    /// that is still to be made, or nobody opens the file again.
    private var knowsPages: Bool {
        if takesAnyKey { return true }
        guard isNewFile else { return isKeyProven }
        // A set-up function may have made the file.
        return encryptionKey?.slotID != nil || !SQLiteHandle.leadingBytes(handle, count: 1).isEmpty
    }

    /// Whether the key is another one with other rounds of derivation.
    private var derivesKey: Bool { setUpSecret != nil && !knowsPages }

    /// The settings that the parameters of the codec, which differ from those of the key, ask for.
    private func settings(
        askedForBy found: CodecParameters, of key: EncryptionKey
    ) throws -> CipherSettings {
        // Nobody opens that file again.
        if takesAnyKey { return key.settings }
        if let oddity = found.oddity { throw parameterError(oddity) }
        guard let format = found.format else { return key.settings }
        let isKnown = knowsPages
        // A file of version 1 has to be told so. No other one loses its MACs.
        guard format.hasPageMACs || format == key.settings.format || !(isKnown || isNewFile) else {
            throw parameterError("PRAGMA cipher_use_hmac is 0, so that pages would carry no MAC")
        }
        guard !isKnown else { return key.settings }
        var settings = key.settings
        if format != settings.format { settings.kdfIterations = nil }
        settings.format = format
        settings.pageSize = found.number("page_size") ?? settings.pageSize
        // A key that was not derived has no rounds.
        if setUpSecret != nil, let rounds = found.number("kdf_iter"), rounds > 0,
            rounds != settings.iterationCount
        {
            settings.kdfIterations = rounds
        }
        return settings
    }

    private func parameterError(_ problem: String) -> StoreError {
        StoreError(
            .encryptionMismatch,
            problem + ", and no store has that; leave the pragma out of the set-up of the connection,"
                + " and out of what else sets it in the process", path: path)
    }
}

extension CipherSettings {
    /// Whether a passphrase gives the same key under other settings.
    fileprivate func derivesKeys(like other: CipherSettings) -> Bool {
        format == other.format && iterationCount == other.iterationCount
    }
}
