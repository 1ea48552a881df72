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

    // MARK: - Rotation

    /// Throws where a new database file would decide an interrupted rotation: it would have the active key, and the
    /// pending one, which the missing file may have, would be dropped.
    ///
    /// - throws: A ``StoreError`` of code `keyringMismatch`. A keyring that can't be read is up to who opens it.
    func requireNoRotation() throws {
        guard let content = try? storage.read(), let file = try? KeyringFile(parsing: content, path: path)
        else { return }
        if file.pendingSalt != nil { throw UnlockedKeyring.undecided(path) }
    }

    /// Finishes or forgets a rotation that was interrupted, as the file says. The caller has the lock.
    ///
    /// - throws: A ``StoreError``: `keyringMismatch`, see ``UnlockedKeyring/resolveRotation(storeSalt:path:)``; `cannotWrite`
    ///   when a loss of power may bring the old file back, so that both keys have to stay.
    func settleRotation(of keyring: inout UnlockedKeyring) throws {
        guard let pendingSalt = keyring.file.pendingSalt else { return }
        let storeSalt = storage.storeSalt()
        if storeSalt == pendingSalt, keyring.pending != nil { try storage.requireSynchronizedFolder() }
        try keyring.resolveRotation(storeSalt: storeSalt, path: path)
    }

    /// Finishes a rotation whose file is in place already, if nobody else is at it, and a loss of power can't bring the
    /// old file back.
    func finishRotation(of content: [UInt8], opened: UnlockedKeyring) {
        // Whatever fails here is done by the next one who opens the store, or changes the keyring.
        try? storage.withLock(waits: false) { access in
            guard access.bytes == content, storage.synchronizeFolder() else { return }
            var keyring = opened
            keyring.finishRotation()
            try access.replace(with: keyring.encodedNext(path: path))
        }
    }
}
