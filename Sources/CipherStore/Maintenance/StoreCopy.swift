import Foundation

/// A verified, encrypted copy of a database under a passphrase of its own.
///
/// ```swift
/// try dbQueue.writeWithoutTransaction { db in
///     try StoreCopy.make(of: db, at: "backup.db", passphrase: Passphrase("…"))
/// }
/// ```
public enum StoreCopy {
    /// Copies a database into a new file, checks the copy, and only then gives
    /// it its name. The source may be read and written meanwhile; without a WAL, others can't commit before its
    /// pages are copied.
    ///
    /// - parameters:
    ///     - source: A connection outside of a transaction.
    ///     - path: Where the copy goes; no file may be there.
    ///     - passphrase: The passphrase of the copy.
    ///     - preparation: What has to hold of the source when it is copied.
    ///     - progress: Called with how far it is; an error that it throws ends the whole.
    ///     - finishing: Changes to the copy before it gets its name.
    /// - throws: ``StoreError``, ``DatabaseError``, or the error of a closure.
    ///   No file is left at `path` then.
    public static func make(
        of source: Database, at path: String, passphrase: borrowing Passphrase,
        preparation: StorePreparation? = nil, progress: StoreProgressHandler? = nil,
        finishing: ((Database) throws -> Void)? = nil
    ) throws {
        try FileReplacement.requireFree(path)
        guard let settings = source.encryptionKey?.settings else {
            throw StoreError(
                .encryptionMismatch, "the source is not encrypted; import it instead", path: source.path)
        }
        let file = try FileReplacement(destination: path, purpose: "copy")
        do {
            let key = try KeyDerivation.derive(
                passphrase: passphrase.bytes, salt: DerivedKeyMemo.saltForNewFile(path), settings: settings)
            try fill(
                file.temporary, key: key, from: source, preparation: preparation, verifiesSource: true,
                progress: progress, finishing: finishing)
            try StoreVerification.verify(
                path: file.temporary, key: key, definitions: source.functions.definitions, rowCounts: nil,
                progress: progress)
            try file.moveIntoPlace()
        } catch {
            file.discard()
            throw StoreError.explaining(error, path: path)
        }
    }

    /// Checks the pages of a source that has a WAL.
    ///
    /// The pages in the WAL are left to SQLCipher's own check. Others may write to the WAL, and a checkpoint may
    /// copy it into the file: a page that one is writing looks damaged while it is read, and one of a process
    /// that was killed meanwhile does so until the next checkpoint. So such pages are looked at again, after a
    /// checkpoint and with a lock that keeps others from writing.
    ///
    /// - returns: Whether the pages were checked, which ``verifyPages(_:)`` does where there is no WAL.
    private static func verifyFileBesideWAL(_ source: Database) throws -> Bool {
        guard let key = source.encryptionKey else { return true }
        guard try hasWAL(source) else { return false }
        var suspects: Set<Int>?
        for attempt in 0..<7 {
            if attempt > 1 { Thread.sleep(forTimeInterval: 0.02 * Double(attempt)) }
            // A checkpoint that is not complete leaves old, valid pages in the file.
            if source.canWrite { try source.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)") }
            // All pages of a large store take long: writers must not wait for that.
            try source.inTransaction(attempt > 0 && source.canWrite ? .immediate : .deferred) {
                // Nothing is read through SQLite below, which would not lock the file otherwise.
                _ = try Int.fetchOne(source, sql: Database.probeSQL)
                suspects = try StoreVerification.unauthenticPages(of: source, key: key, among: suspects)
                return .rollback
            }
            if suspects?.isEmpty ?? true { return true }
        }
        guard let page = suspects?.min() else { return true }
        throw StoreVerification.unauthentic(page: page, path: source.path)
    }

    /// Checks the pages of a source without a WAL, in the transaction that goes on to copy them.
    ///
    /// Nobody writes to the file while it is read. Whoever wants to commit then waits for the end of the
    /// transaction, and lets no other one begin to read: a second transaction for the copy would not get in.
    private static func verifyPages(_ source: Database) throws {
        guard let key = source.encryptionKey else { return }
        // Nothing is read through SQLite below, which would not lock the file otherwise.
        _ = try Int.fetchOne(source, sql: Database.probeSQL)
        guard let page = try StoreVerification.unauthenticPages(of: source, key: key).min() else { return }
        // What looks damaged beside a WAL may be a page that a checkpoint is writing.
        guard try !hasWAL(source) else {
            throw StoreError(
                .busy, "another connection or process has given it a WAL meanwhile; try again",
                path: source.path)
        }
        throw StoreVerification.unauthentic(page: page, path: source.path)
    }

    private static func hasWAL(_ source: Database) throws -> Bool {
        try String.fetchOne(source, sql: "PRAGMA journal_mode") == "wal"
    }

    /// Copies all pages into a file of another key, or of none.
    ///
    /// - parameter verifiesSource: Whether the pages of the source itself are checked before: SQLCipher 3.4.1
    ///   takes a page of zeros for a valid one, and the copy would make it one.
    static func fill(
        _ path: String, key: EncryptionKey?, from source: Database,
        preparation: StorePreparation? = nil, verifiesSource: Bool = false,
        progress: StoreProgressHandler?, finishing: ((Database) throws -> Void)?
    ) throws {
        let isVerified = verifiesSource ? try verifyFileBesideWAL(source) : true
        let copy = try Database.open(path: path, key: key)
        defer { copy.dispose() }
        source.functions.definitions.add(to: copy)
        // The file is fsynced as a whole before it gets its name.
        try copy.execute(sql: "PRAGMA synchronous = OFF")
        try StorePreparation.read(source, preparedBy: preparation) {
            if !isVerified { try verifyPages(source) }
            // The read keeps the transaction's errors together until the end.
            try source.verifyReads()
            try source.backup(to: copy, pagesPerStep: 256) { step in
                try progress?(
                    StoreProgress(
                        phase: .copying, completedPageCount: step.completedPageCount,
                        totalPageCount: step.totalPageCount))
            }
            // The copy gives each page a valid MAC, so a damaged one must not get into it.
            try source.verifyReads()
        }
        try copy.execute(sql: "PRAGMA journal_mode = DELETE")
        try finishing?(copy)
    }
}

extension Database {
    /// Opens a file with a derived key, or none, for the operations of this folder.
    static func open(path: String, key: EncryptionKey?) throws -> Database {
        var configuration = Configuration()
        if let key {
            configuration.encryption = .required
            configuration.prepareDatabase { try $0.use(key, isProven: true) }
        }
        return try Database(path: path, configuration: configuration, keyCache: KeyCache())
    }
}

extension StoreError {
    /// Turns the errors of SQLite that a user can act upon into store errors.
    static func explaining(_ error: any Error, path: String) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        if let storeError = error.storeError { return storeError }
        if error.saysDiskIsFull {
            return StoreError(.full, "the disk is full; nothing was changed", path: path)
        }
        if [.SQLITE_IOERR_READ, .SQLITE_IOERR_SHORT_READ].contains(error.extendedResultCode) {
            return StoreError(
                .cannotRead,
                "cannot read the database or its copy: \(error.message ?? "input/output error"); nothing was changed",
                path: path)
        }
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            return StoreError(.busy, "another connection or process has it in use", path: path)
        case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_IOERR:
            return StoreError(
                .cannotWrite, "cannot write: \(error.message ?? "input/output error"); nothing was changed",
                path: path)
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            return StoreError(.damaged, "the database is damaged: \(error.message ?? "")", path: path)
        default:
            return error
        }
    }
}
