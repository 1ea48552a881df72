extension Database {
    /// Refuses `VACUUM` where what SQLite makes for it could be a file with other settings than the database has.
    ///
    /// SQLCipher gives its temporary file a codec with the settings that new files get, whatever those of the database
    /// are. With another size of pages, or of what each page ends with, the pages that come back from it are damaged, and
    /// `VACUUM` ends without an error. Connections keep the copy in memory, unless somebody changes `temp_store`.
    ///
    /// The file of `VACUUM INTO` gets these settings too, under the key that was derived for others: no passphrase opens it
    /// then. Where they are the same, it may be under the data key of a keyring, and has none beside it.
    ///
    /// - throws: A ``DatabaseError``.
    func checkMayVacuum(_ sql: String) throws {
        guard encryptionKey != nil, SQLText.firstWord(sql) == "vacuum" else { return }
        if SQLTokens(sql).tokens.contains(where: { $0.isKeyword("into") }) {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "VACUUM INTO can make a file of an encrypted database that nothing opens; "
                    + "call vacuum(into:) of the queue or pool instead",
                sql: sql)
        }
        let setting = withoutTracing {
            authorizer.trusting { SQLiteHandle.text(handle, "PRAGMA temp_store") }
        }
        guard setting != "2" else { return }
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: "VACUUM can damage an encrypted database while temporary tables may be files; "
                + "run PRAGMA temp_store = MEMORY before it",
            sql: sql)
    }

    /// Writes a compact copy into a new file, under the same key, with a copy of the keyring that holds it.
    ///
    /// - throws: A ``StoreError`` when there is a file already, the keyring is missing, or the source is
    ///   damaged; a ``DatabaseError``. No file is left at `path` then.
    func vacuum(into path: String) throws {
        try FileReplacement.requireFree(path)
        let file = try FileReplacement(destination: path, purpose: "vacuum")
        do {
            try StoreCopy.fill(file.temporary, key: encryptionKey, from: self, progress: nil) {
                try $0.vacuum()
            }
            if let encryptionKey {
                try StoreVerification.verify(
                    path: file.temporary, key: encryptionKey, rowCounts: nil, progress: nil)
            }
            // A copy that has its name opens.
            let keyring = try keyringContent()
            let storage = KeyringStorage(storePath: path)
            if let keyring { try storage.create(keyring) }
            do {
                try file.moveIntoPlace()
            } catch {
                if let keyring { storage.remove(ifContent: keyring) }
                throw error
            }
        } catch {
            file.discard()
            throw StoreError.explaining(error, path: path)
        }
    }

    /// The keyring that holds the key of this connection; nil when the key is derived from a passphrase.
    ///
    /// - throws: A ``StoreError``: `keyringMissing`, `keyringDamaged`, `cannotRead`, and `keyringMismatch` when the
    ///   keyring was changed for another one.
    private func keyringContent() throws -> [UInt8]? {
        guard let encryptionKey, encryptionKey.slotID != nil else { return nil }
        let keyring = Keyring(store: filePath)
        let content = try keyring.content()
        let file = try KeyringFile(parsing: content, path: keyring.path)
        guard encryptionKey.salt == file.activeSalt || encryptionKey.salt == file.pendingSalt else {
            throw Keyring.mismatch(keyring.path)
        }
        return content
    }
}
