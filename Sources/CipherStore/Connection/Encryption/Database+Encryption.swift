import Foundation

extension Database {
    /// Uses a passphrase for an encrypted database.
    ///
    /// Call it in ``Configuration/prepareDatabase(_:)``, before any other use of
    /// the connection. The key is derived once per file and shared by the
    /// connections of a queue or pool. When there is a ``Keyring`` beside the
    /// file, the passphrase opens one of its slots.
    ///
    /// The format and the page size of a file that exists are recognised. Those of a new one can be chosen by
    /// `PRAGMA cipher_page_size`, `kdf_iter` and `cipher_compatibility` after it, before anything that reads or writes;
    /// they also tell those of a file that is not recognised, because its key was derived with another number of
    /// rounds. Of a file that is recognised they say nothing. Where pragmas ask for what no
    /// store has (a plaintext header, no MACs, other algorithms), the connection does not open: the error is a
    /// ``StoreError`` of code `encryptionMismatch`, and no page was written. Pragmas that would give the file another
    /// key (`rekey`, `key`, `cipher_migrate`) are refused with a ``DatabaseError`` of code `SQLITE_MISUSE`:
    /// `changePassphrase` and ``StoreCopy/makeStore(of:at:passphrase:progress:)`` do that.
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
        // These pragmas are the library's own.
        let isOpen = authorizer.cipherPragmas?.isOpen ?? false
        if !isOpen { authorizer.cipherPragmas = nil }
        withoutTracing {
            if EngineFeatures.current.supportsFormat4 {
                // The process's first key sends the library's log to stderr, so this comes after it.
                _ = SQLiteHandle.execute(handle, "PRAGMA cipher_log_level = NONE")
            }
            for pragma in CodecParameters.pragmas(key.settings) { _ = SQLiteHandle.execute(handle, pragma) }
        }
        encryptionKey = key
        isKeyProven = isProven
        if !isOpen { watchKeyPragmas() }
    }
}
