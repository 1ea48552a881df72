extension Database {
    /// Opens a store with what opens one of the slots of its ``Keyring``.
    ///
    /// Call it in ``Configuration/prepareDatabase(_:)``, before any other use of
    /// the connection; or use ``Configuration/useKeySlot(_:)``. A passphrase also
    /// opens stores without a keyring, as by ``usePassphrase(_:)-(String)``. The
    /// key is derived once for the connections of a queue or pool.
    ///
    /// - throws: A ``StoreError``: `wrongPassphrase` when it opens no slot, `keyringMissing`,
    ///   `keyringDamaged`, and `keyringMismatch` when the keyring is not that of the file. For a
    ///   passphrase, as ``usePassphrase(_:)-(String)``.
    public func useKeySlot(_ secret: Secret) throws {
        if isClosed { throw Self.closedError(sql: nil) }
        if takesAnyKey { return try useAnyKey() }
        let store = try LockedStore(path: path) { SQLiteHandle.leadingBytes(handle, count: $0) }
        let (key, isProven) = try store.key(secret, keyCache)
        try use(key, isProven: isProven)
        isNewFile = store.isNew
        // Only a key that was derived has rounds of derivation that a pragma can change.
        if key.slotID == nil { setUpSecret = secret }
    }
}

extension Configuration {
    /// Opens connections with what opens a slot of the store's ``Keyring``, or with the passphrase of a
    /// store that has none.
    public mutating func useKeySlot(_ secret: Secret) {
        prepareDatabase { try $0.useKeySlot(secret) }
    }
}
