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
    /// it its name. The source may be read and written meanwhile.
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
            try verifySource(source)
            try fill(
                file.temporary, key: key, from: source, preparation: preparation, progress: progress,
                finishing: finishing)
            try StoreVerification.verify(
                path: file.temporary, key: key, definitions: source.functions.definitions, rowCounts: nil,
                progress: progress)
            try file.moveIntoPlace()
        } catch {
            file.discard()
            throw StoreError.explaining(error, path: path)
        }
    }

    /// Checks the pages of the source itself: SQLCipher 3.4.1 takes a page of
    /// zeros for a valid one, and the copy would make it one.
    ///
    /// The pages in a WAL are left to SQLCipher's own check. Others may write to the WAL, and a checkpoint may
    /// copy it into the file: a page that one is writing looks damaged while it is read, and one of a process
    /// that was killed meanwhile does so until the next checkpoint. So such pages are looked at again, after a
    /// checkpoint and with a lock that keeps others from writing. Without a WAL nobody writes to the file while it is
    /// read.
    static func verifySource(_ source: Database) throws {
        guard let key = source.encryptionKey else { return }
        let isWAL = try String.fetchOne(source, sql: "PRAGMA journal_mode") == "wal"
        var suspects: Set<Int>?
        for attempt in 0..<(isWAL ? 7 : 1) {
            if attempt > 1 { Thread.sleep(forTimeInterval: 0.02 * Double(attempt)) }
            // A checkpoint that is not complete leaves old, valid pages in the file.
            if isWAL && source.canWrite { try source.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)") }
            // All pages of a large store take long: writers must not wait for that.
            try source.inTransaction(attempt > 0 && source.canWrite ? .immediate : .deferred) {
                // Nothing is read through SQLite below, which would not lock the file otherwise.
                _ = try Int.fetchOne(source, sql: Database.probeSQL)
                suspects = try StoreVerification.unauthenticPages(of: source, key: key, among: suspects)
                return .rollback
            }
            if suspects?.isEmpty ?? true { return }
        }
        if let page = suspects?.min() {
            throw StoreVerification.unauthentic(page: page, path: source.path)
        }
    }

    /// Copies all pages into a file of another key, or of none.
    static func fill(
        _ path: String, key: EncryptionKey?, from source: Database,
        preparation: StorePreparation? = nil, progress: StoreProgressHandler?,
        finishing: ((Database) throws -> Void)?
    ) throws {
        let copy = try Database.open(path: path, key: key)
        defer { copy.dispose() }
        source.functions.definitions.add(to: copy)
        // The file is fsynced as a whole before it gets its name.
        try copy.execute(sql: "PRAGMA synchronous = OFF")
        try StorePreparation.read(source, preparedBy: preparation) {
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
