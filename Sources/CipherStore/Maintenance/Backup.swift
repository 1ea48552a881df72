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

    /// Whether the backup is done: another name of ``isCompleted``.
    public var isComplete: Bool { isCompleted }
}

extension Database {
    /// Copies the whole database over another one, with SQLite's backup API.
    ///
    /// ```swift
    /// try source.read { sourceDb in
    ///     try destination.barrierWriteWithoutTransaction { destDb in
    ///         try sourceDb.backup(to: destDb)
    ///     }
    /// }
    /// ```
    ///
    /// Both must be encrypted, under any two keys, with one format and page
    /// size; or both must be plaintext. SQLCipher reports success for other
    /// pairs and leaves plaintext, or a file that nothing can read, so they are
    /// refused before anything is written.
    ///
    /// The copy is of one moment: the source is read in one transaction. A
    /// backup that fails, or that `progress` cancels, leaves the destination as
    /// it was, with one exception. SQLCipher may notice only after the end that
    /// the source's last page is not authentic; the error's `storeError` has
    /// the code `damaged` then, and the destination must not be used.
    /// `StoreCopy` checks a copy before it gives it its name.
    ///
    /// Related SQLite documentation: <https://www.sqlite.org/c3ref/backup_finish.html>
    ///
    /// - parameters:
    ///     - destination: The database that is overwritten. It must not be in a transaction.
    ///     - pagesPerStep: How many pages are copied between two calls of `progress`; all when negative.
    ///     - progress: Called after each step. An error that it throws cancels
    ///       the backup, unless the backup is completed.
    /// - throws: A ``StoreError`` for a pair that can't be copied, a
    ///   ``DatabaseError``, or the error of `progress`.
    public func backup(
        to destination: Database, pagesPerStep: CInt = -1,
        progress: ((_ progress: DatabaseBackupProgress) throws -> Void)? = nil
    ) throws {
        guard try pageLayout() == destination.pageLayout() else {
            throw StoreError(
                .encryptionMismatch,
                "a backup needs two encrypted databases of one format and page size, or two plaintext ones",
                path: destination.path)
        }
        try withReadTransaction {
            try copyPages(to: destination, pagesPerStep: pagesPerStep, progress: progress)
            try withoutTracing { try verifyReads() }
        }
        destination.clearSchemaCache()
        try destination.withoutTracing { try destination.useRecursiveTriggersIfTracked() }
    }

    /// Runs a block in a transaction that has begun to read.
    private func withReadTransaction(_ body: () throws -> Void) throws {
        let isInTransaction = isInsideTransaction
        if !isInTransaction {
            forgetDoubtfulPages()
            try withoutTracing { try execute(sql: "BEGIN DEFERRED TRANSACTION") }
        }
        do {
            _ = try withoutTracing { try Int.fetchOne(self, sql: Self.probeSQL) }
            try body()
        } catch {
            if !isInTransaction { withoutTracing { try? rollback() } }
            throw error
        }
        if !isInTransaction { try withoutTracing { try executeProtected("COMMIT TRANSACTION") } }
    }

    private func copyPages(
        to destination: Database, pagesPerStep: CInt,
        progress: ((DatabaseBackupProgress) throws -> Void)?
    ) throws {
        guard let backup = sqlite3_backup_init(destination.handle, "main", handle, "main") else {
            throw destination.lastError()
        }
        var isFinished = false
        // This rolls the destination back when the copy is not complete.
        defer { if !isFinished { sqlite3_backup_finish(backup) } }
        var code = SQLITE_OK
        repeat {
            code = sqlite3_backup_step(backup, pagesPerStep)
            guard code == SQLITE_OK || code == SQLITE_DONE else { break }
            let state = DatabaseBackupProgress(
                remainingPageCount: Int(sqlite3_backup_remaining(backup)),
                totalPageCount: Int(sqlite3_backup_pagecount(backup)), isCompleted: code == SQLITE_DONE)
            do {
                try progress?(state)
            } catch  where state.isCompleted {
                // There is nothing left to cancel.
            }
        } while code == SQLITE_OK
        isFinished = true
        let finish = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, finish == SQLITE_OK else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code == SQLITE_DONE ? finish : code))
        }
    }

    /// How pages are encrypted and laid out, or nil for a plaintext database.
    ///
    /// It is asked of SQLCipher, because a key may also come from a pragma or
    /// from the C API. Keys and salts make no difference: each page is
    /// decrypted with the one and encrypted with the other.
    private func pageLayout() throws -> [String: String]? {
        try withoutTracing {
            // SQLCipher gives no row when the connection has no key.
            guard let pageSize = try String.fetchOne(self, sql: "PRAGMA cipher_page_size") else { return nil }
            var layout = ["page_size": pageSize]
            for name in ["cipher_use_hmac", "cipher_hmac_algorithm", "cipher_plaintext_header_size"] {
                layout[name] = try String.fetchOne(self, sql: "PRAGMA \(name)")
            }
            return layout
        }
    }
}

extension DatabaseReader {
    /// Copies the whole database over another one.
    ///
    /// ```swift
    /// let source: DatabasePool = …
    /// let destination = try DatabaseQueue(path: "copy.db", configuration: configuration)
    /// try source.backup(to: destination)
    /// ```
    ///
    /// Both must be encrypted with one format and page size, or both must be
    /// plaintext; see ``Database/backup(to:pagesPerStep:progress:)``, which also
    /// says what an error leaves behind. A pool can be written to meanwhile;
    /// those writes are not in the copy.
    ///
    /// - parameters:
    ///     - writer: The database that is overwritten.
    ///     - pagesPerStep: How many pages are copied between two calls of `progress`; all when negative.
    ///     - progress: Called after each step. An error that it throws cancels
    ///       the backup, unless the backup is completed.
    /// - throws: A ``StoreError`` for a pair that can't be copied, a
    ///   ``DatabaseError``, or the error of `progress`.
    public func backup(
        to writer: some DatabaseWriter, pagesPerStep: CInt = -1,
        progress: ((_ progress: DatabaseBackupProgress) throws -> Void)? = nil
    ) throws {
        try read { source in
            try writer.barrierWriteWithoutTransaction { destination in
                try source.backup(to: destination, pagesPerStep: pagesPerStep, progress: progress)
            }
        }
    }
}
