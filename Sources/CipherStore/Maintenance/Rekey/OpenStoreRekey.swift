import Foundation

/// The change of the passphrase of a store that a queue or pool of this process has open.
///
/// The course is that of ``StoreRekey``, on the connection that writes. It keeps the exclusive lock
/// of the old file until the new one is in place, so that a failure leaves it working, and ends then.
struct OpenStoreRekey {
    /// The connection that writes; the readers beside it are closed.
    let db: Database
    /// The new passphrase.
    let secret: Secret
    let progress: StoreProgressHandler?

    /// Changes the passphrase.
    ///
    /// - returns: A connection to the new file, in the place of the old one; nil when the file stays,
    ///   because a slot of its keyring was changed.
    /// - throws: A ``StoreError`` or ``DatabaseError``. The connection goes on under the old passphrase,
    ///   unless it is closed: then the new passphrase stands, and the new file did not open.
    func run() throws -> Database? {
        let current = try requireChangeable()
        if current.slotID != nil {
            try db.changePassphrase(to: secret)
            return nil
        }
        try db.requireNoStatement()
        let key = try KeyDerivation.derive(
            passphrase: secret.bytes, salt: KeyDerivation.newSalt(), settings: current.settings)
        db.waitForLocks(seconds: 2)
        defer { if !db.isClosed { db.waitForLocks() } }
        // The path that was given may lead to another store, from the folder that the process is in now.
        try StoreRekey.explainingErrors(db.filePath) { file in
            _ = try StoreReplacement(source: db, path: file, key: key, progress: progress).run()
        }
        db.keyCache.replace(current, with: key, passphrase: secret.bytes)
        db.dispose()
        return try reopen()
    }

    private func requireChangeable() throws -> EncryptionKey {
        if db.isClosed { throw Database.closedError(sql: nil) }
        guard DatabasePath(db.path).isFile else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "a database in memory has no passphrase to change")
        }
        if db.isReadOnly {
            throw DatabaseError(
                resultCode: .SQLITE_READONLY, message: "a read-only connection can't change the passphrase")
        }
        if db.isInsideTransaction {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "the passphrase can't be changed inside of a transaction"
            )
        }
        guard let key = db.encryptionKey else {
            throw StoreError(
                .plaintext, "the database is not encrypted, so it has no passphrase to change", path: db.path)
        }
        return key
    }

    /// Opens the new file with the configuration of the old connection, whose functions run again. They
    /// may still give the old passphrase: the key cache has the new key for it.
    private func reopen() throws -> Database {
        var configuration = db.configuration
        configuration.requiresExistingFile = true
        var attempt = 0
        while true {
            do {
                let new = try Database(
                    path: db.filePath, configuration: configuration, keyCache: db.keyCache,
                    label: db.description, memorySettings: db.memorySettings)
                new.takeOver(from: db)
                return new
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY && attempt < 100 {
                // Another process was quick to open the new file.
                attempt += 1
                Thread.sleep(forTimeInterval: 0.02)
            } catch {
                throw StoreError(
                    .cannotRead,
                    "the new passphrase is in effect, but the database could not be opened again (\(error)), so the connection was closed; open it with the new passphrase",
                    path: db.filePath)
            }
        }
    }
}

extension Database {
    /// Goes on for a connection that ends: for its observers, and for those who count its commits.
    fileprivate func takeOver(from old: Database) {
        commits = old.commits
        broker.takeOver(from: old.broker)
        observationsDidChange()
    }
}
