extension Database {
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
                    path: file.temporary, key: encryptionKey, definitions: functions.definitions,
                    rowCounts: nil, progress: nil)
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
