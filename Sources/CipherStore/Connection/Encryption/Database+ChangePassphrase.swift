import Foundation

extension Database {
    /// Changes the passphrase of an encrypted database in place.
    ///
    /// Prefer ``StoreRekey``, which works on a copy. This method is for a
    /// connection that stays open. It must be the only one that uses the
    /// database: with a pool, call it in a barrier, and invalidate the readers.
    ///
    /// ```swift
    /// try dbPool.barrierWriteWithoutTransaction { db in
    ///     try db.changePassphrase("new")
    ///     dbPool.invalidateReadOnlyConnections()
    /// }
    /// ```
    ///
    /// In a store with a ``Keyring`` only the slot changes that the connection was
    /// opened with: the file stays as it is, and so do all its connections. A recovery key and a key file
    /// have no passphrase to change: the error is a ``StoreError`` of code `slotInUse` then. Where somebody has
    /// changed or removed that slot since, it is one of code `noSuchSlot`.
    ///
    /// The function given to ``Configuration/prepareDatabase(_:)`` must use the
    /// new passphrase from now on. Inside of a transaction, what was changed so
    /// far is committed first.
    ///
    /// SQLCipher reports success when a rekey has failed, and the next write
    /// would then destroy the database. So the exclusive lock is taken first,
    /// the salt stays, every page is read back through a second connection, and
    /// on any doubt the connection is closed.
    ///
    /// - throws: A ``DatabaseError``, of code `SQLITE_BUSY` when another
    ///   connection uses the database, with nothing changed (in WAL mode, only
    ///   one that writes is noticed; the others fail at their next read); a ``StoreError``
    ///   when the database is not encrypted, or the change could not be
    ///   verified. In the latter case the connection is closed; the file opens
    ///   with the old or with the new passphrase.
    public func changePassphrase(_ passphrase: String) throws {
        try changePassphrase(Passphrase(passphrase))
    }

    /// Changes the passphrase to one of bytes, see ``changePassphrase(_:)-(String)``.
    ///
    /// - throws: As ``changePassphrase(_:)-(String)``.
    public func changePassphrase(_ passphrase: Data) throws {
        try changePassphrase(Passphrase(data: passphrase))
    }

    /// Changes the passphrase to one that never was in unprotected memory, see
    /// ``changePassphrase(_:)-(String)``.
    ///
    /// - throws: As ``changePassphrase(_:)-(String)``.
    public func changePassphrase(_ passphrase: borrowing Passphrase) throws {
        try changePassphrase(to: Secret(passphrase))
    }

    /// Changes the passphrase to the one that a secret is.
    func changePassphrase(to secret: Secret) throws {
        guard let current = encryptionKey else {
            throw StoreError(
                .plaintext, "the database is not encrypted, so it has no passphrase to change", path: path)
        }
        guard DatabasePath(path).isFile else { return }
        if let slotID = current.slotID {
            let slot = try Keyring(store: filePath)
                .changePassphrase(of: current.dataKey(), slotID: slotID, to: secret)
            encryptionKey = current.with(slotID: slot.id)
            return
        }
        let new = try keyCache.key(
            passphrase: secret.bytes, salt: current.salt, settings: current.settings)
        let wasInsideTransaction = isInsideTransaction
        if wasInsideTransaction { try commit() }
        defer {
            if wasInsideTransaction && !isClosed { try? execute(sql: "BEGIN IMMEDIATE TRANSACTION") }
        }
        try execute(sql: "BEGIN EXCLUSIVE TRANSACTION")
        do {
            // A cancellation that comes now comes too late.
            try protected {
                try rewrite(with: new)
                // In WAL mode the file has its pages under the former key until then. Who reads an older state keeps it
                // from happening, so nothing relies on it.
                try? execute(sql: "PRAGMA wal_checkpoint(PASSIVE)")
            }
        } catch {
            dispose()
            throw StoreError(
                .cannotWrite,
                "the change of the passphrase could not be verified (\(error)), so the connection was closed;"
                    + " open the file again, with the old passphrase or the new one", path: path)
        }
        clearStatementCache()
    }

    /// Rewrites all pages, under the exclusive lock, and reads them back.
    private func rewrite(with key: EncryptionKey) throws {
        let code = try key.withRawKeyText { SQLiteHandle.rekey(handle, $0) }
        guard ResultCode(rawValue: code) == .SQLITE_OK else { throw lastError() }
        if isInsideTransaction { try commit() }
        encryptionKey = key
        let probe = try Database.open(path: filePath, key: key)
        defer { probe.dispose() }
        let problems = try String.fetchAll(probe, sql: "PRAGMA quick_check(1)")
        guard problems == ["ok"] else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: problems.first)
        }
    }
}
