import Foundation

extension Database {
    /// Opens a store that has a ``Keyring`` with what opens one of its slots.
    ///
    /// Call it in ``Configuration/prepareDatabase(_:)``, before any other use of
    /// the connection; or use ``Configuration/useKeySlot(_:)``. A passphrase is used
    /// as by ``usePassphrase(_:)-(String)``, which also opens stores without a
    /// keyring. The slot's key is derived once for the connections of a queue or pool.
    ///
    /// - throws: A ``StoreError``: `wrongPassphrase` when it opens no slot, `keyringMissing`,
    ///   `keyringDamaged`, and `keyringMismatch` when the keyring is not that of the file.
    public func useKeySlot(_ secret: KeySlotSecret) throws {
        if isClosed { throw Self.closedError(sql: nil) }
        if secret.kind == .passphrase { return try usePassphrase(Passphrase(sharing: secret.bytes)) }
        guard DatabasePath(path).isFile else {
            return try use(.forMemory(memorySettings), isProven: true)
        }
        let keyring = Keyring(store: path)
        guard keyring.exists else {
            throw StoreError(.keyringMissing, "the store has no keyring", path: path)
        }
        guard try useKeyring(secret) else { throw Self.mismatch(keyring) }
    }

    /// Takes the key of the connection from the keyring beside the file.
    ///
    /// - returns: Whether there is a keyring, and it is that of the file.
    func useKeyring(_ secret: KeySlotSecret) throws -> Bool {
        let keyring = Keyring(store: path)
        guard let content = try keyring.storage.read() else { return false }
        let start = SQLiteHandle.leadingBytes(handle, count: 65_536)
        let salt: [UInt8]?
        switch StoreFile(leadingBytes: start) {
        case .empty: salt = nil
        case .encrypted(let found): salt = found
        case .plaintext, .truncated: return false
        }
        guard let key = try keyCache.key(secret, keyring: keyring, content: content, salt: salt) else {
            return false
        }
        guard !key.settings.format.needsVersion4 || EngineFeatures.current.supportsFormat4 else {
            throw StoreError.formatTooNew(path: path)
        }
        // A page in the WAL may be newer than the first page of the file: then SQLite decides.
        let isProven =
            start.isEmpty
            || start.withUnsafeBytes {
                PageAuthenticator(key: key).authenticates($0, number: 1)
            }
        try use(key, isProven: isProven)
        isNewFile = start.isEmpty
        return true
    }

    static func mismatch(_ keyring: Keyring) -> StoreError {
        StoreError(
            .keyringMismatch,
            "the keyring belongs to another database file, or to another version of this one; put the two that belong together side by side",
            path: keyring.path)
    }
}

extension Configuration {
    /// Opens connections with what opens a slot of the store's ``Keyring``.
    public mutating func useKeySlot(_ secret: KeySlotSecret) {
        prepareDatabase { try $0.useKeySlot(secret) }
    }
}
