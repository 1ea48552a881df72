/// Whether a keyring is that of the database file beside it. The file's salt says so, without a secret.
extension Keyring {
    /// Whether the keyring is that of the database file, or of one that is still to be made.
    ///
    /// - throws: A ``StoreError``: `keyringMissing`, `keyringDamaged`, `cannotRead`.
    package func belongsToStore() throws -> Bool { try belongsToStore(content()) }

    private func belongsToStore(_ bytes: [UInt8]) throws -> Bool {
        let file = try KeyringFile(parsing: bytes, path: path)
        guard let salt = storage.storeSalt() else { return true }
        return salt == file.activeSalt || salt == file.pendingSalt
    }

    /// Throws when the database file has none of the keyring's keys: what is changed in the keyring would count
    /// for nothing, though it would look as if it did.
    ///
    /// - throws: A ``StoreError``: `keyringMismatch`, `keyringDamaged`.
    func requireStore(of bytes: [UInt8]) throws {
        guard try belongsToStore(bytes) else { throw Self.mismatch(path) }
    }

    /// The error for a keyring that is not that of the file.
    static func mismatch(_ path: String) -> StoreError {
        StoreError(
            .keyringMismatch,
            "the keyring belongs to another database file, or to another version of this one; put the two that belong together side by side",
            path: path)
    }

    /// The content of a keyring that is not the file's: it was made for a change that was
    /// interrupted, or for another version of the file.
    ///
    /// - returns: nil when there is no keyring.
    /// - throws: A ``StoreError``: `exists` when the keyring is the file's, `missing` when there is
    ///   no file to tell.
    func staleContent() throws -> [UInt8]? {
        guard let content = try storage.read() else { return nil }
        guard storage.storeSalt() != nil else {
            throw StoreError(.missing, "there is no such file", path: storage.storePath)
        }
        if let isOwn = try? belongsToStore(content), isOwn {
            throw StoreError(.exists, "the store has a keyring already", path: path)
        }
        return content
    }
}
