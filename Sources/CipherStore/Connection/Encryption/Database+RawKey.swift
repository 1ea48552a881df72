import Foundation

extension Database {
    /// Uses the key of an encrypted database itself, see ``RawKey``.
    ///
    /// Call it in ``Configuration/prepareDatabase(_:)``, before any other use of the connection. A file
    /// that is made gets the salt of the key, or a random one. A ``Keyring`` beside the file is not
    /// looked at.
    ///
    /// - throws: A ``DatabaseError`` of code `SQLITE_NOTADB` when the file is not encrypted; its
    ///   `storeError` says so. A ``StoreError``: `wrongPassphrase` when the key's salt is not the file's,
    ///   `formatTooNew`. A wrong key shows when the connection first reads, which is when it opens.
    public func useRawKey(_ key: borrowing RawKey) throws {
        if isClosed { throw Self.closedError(sql: nil) }
        if takesAnyKey { return try useAnyKey() }
        let start = SQLiteHandle.leadingBytes(handle, count: 65_536)
        switch StoreFile(leadingBytes: start) {
        case .empty:
            try use(try keyCache.keyForNewFile(key, settings: .default), isProven: true)
            isNewFile = true
        case .plaintext:
            throw DatabaseError(
                resultCode: .SQLITE_NOTADB, message: nil,
                storeError: StoreError(
                    .plaintext, "the database is not encrypted, and a key does not change that", path: path))
        case .truncated:
            throw DatabaseError(
                resultCode: .SQLITE_NOTADB, message: nil,
                storeError: StoreError(.damaged, "the file is too short for a database", path: path))
        case .encrypted(let salt):
            if let known = try keyCache.key(key, path: path, start: start) {
                return try use(known.key, isProven: known.isProven)
            }
            guard key.salt == nil || key.salt == salt else {
                throw StoreError(
                    .wrongPassphrase, "the salt of the raw key is not that of the file", path: path)
            }
            // A journal may still hold the good first page: SQLite decides.
            try use(try key.encryptionKey(salt: salt, settings: .default), isProven: false)
        }
    }
}
