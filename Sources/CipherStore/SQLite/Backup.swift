import CSQLCipher

/// How far a backup has come.
public struct DatabaseBackupProgress: Sendable {
    /// The pages that are still to be copied.
    public let remainingPageCount: Int
    /// The pages of the source.
    public let totalPageCount: Int
    /// The pages that are copied.
    public var completedPageCount: Int { totalPageCount - remainingPageCount }
    /// Whether the backup is done.
    public let isCompleted: Bool
}

extension Database {
    /// Copies the whole database over another one, with SQLite's backup API.
    ///
    /// Both must be encrypted, under any two keys, with one format and page
    /// size; or both must be plaintext. SQLCipher reports success for other
    /// pairs and leaves plaintext, or a file that nothing can read.
    ///
    /// - parameters:
    ///     - destination: The database that is overwritten.
    ///     - pagesPerStep: How many pages are copied between two calls of `progress`; all when negative.
    ///     - progress: Called after each step; an error that it throws cancels the backup.
    /// - throws: A ``StoreError`` for a pair that can't be copied, a ``DatabaseError``, or the error of `progress`.
    public func backup(
        to destination: Database, pagesPerStep: CInt = -1,
        progress: ((DatabaseBackupProgress) throws -> Void)? = nil
    ) throws {
        guard encryptionKey?.settings == destination.encryptionKey?.settings else {
            throw StoreError(
                .encryptionMismatch,
                "a backup needs two encrypted databases of one format and page size, or two plaintext ones",
                path: destination.path)
        }
        guard let backup = sqlite3_backup_init(destination.handle, "main", handle, "main") else {
            throw destination.lastError()
        }
        var isFinished = false
        defer { if !isFinished { sqlite3_backup_finish(backup) } }
        var code = SQLITE_OK
        repeat {
            code = sqlite3_backup_step(backup, pagesPerStep)
            guard code == SQLITE_OK || code == SQLITE_DONE else { break }
            try progress?(
                DatabaseBackupProgress(
                    remainingPageCount: Int(sqlite3_backup_remaining(backup)),
                    totalPageCount: Int(sqlite3_backup_pagecount(backup)), isCompleted: code == SQLITE_DONE))
        } while code == SQLITE_OK
        isFinished = true
        let finish = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, finish == SQLITE_OK else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code == SQLITE_DONE ? finish : code))
        }
    }
}
