import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The change of a store's passphrase, by copy, verify and replace.
///
/// SQLite's own `rekey` reports success when it failed, and the next write then
/// destroys the database. Here the file is copied under the new key beside the
/// old one, checked page by page, and renamed over it: a kill at any moment
/// leaves a file that opens with the old passphrase or with the new one.
///
/// The invariants, in order:
/// 1. Nobody else can read or write the store from the first page copied until
///    the rename is done: the connection holds SQLite's exclusive lock.
/// 2. The old file stands alone (no WAL, no journal) before the rename, because
///    a WAL of the old file would be replayed over the new one.
/// 3. The copy is complete on the disk before the rename.
/// 4. A process that still has the old file open gets an error at its next
///    access, not a write that nobody will see: the old file's first page is
///    overwritten before the lock is released.
public enum StoreRekey {
    /// Changes the passphrase of a store that nobody has open.
    ///
    /// - throws: A ``StoreError``: `busy` when another connection or process has
    ///   the store open, `wrongPassphrase`, `full`, … The store is then as it was.
    public static func run(
        path: String, from current: borrowing Passphrase, to new: borrowing Passphrase,
        progress: StoreProgressHandler? = nil
    ) throws {
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        do {
            let isWAL = try replace(path: file, from: current.copy(), to: new, progress: progress)
            // The new passphrase stands now. A full disk or a process that was quick to open the
            // store must not read as a rekey that failed; the store works in either mode.
            if isWAL { try? restoreWAL(path: file, passphrase: new.copy()) }
        } catch {
            let explained = StoreError.explaining(error, path: path)
            guard let known = explained as? StoreError, known.path == file else { throw explained }
            // The user knows the path that was given.
            throw StoreError(known.code, known.message, path: path)
        }
    }

    private static func replace(
        path: String, from current: consuming Passphrase, to new: borrowing Passphrase,
        progress: StoreProgressHandler?
    ) throws -> Bool {
        let source = try Database.openExisting(path: path, passphrase: current)
        defer { source.dispose() }
        guard let settings = source.encryptionKey?.settings else {
            throw StoreError(.keyRequired, "the store is not encrypted", path: path)
        }
        let isWAL = try String.fetchOne(source, sql: "PRAGMA journal_mode") == "wal"
        do {
            try lockExclusively(source)
            try exchange(path: path, source, settings, to: new, progress)
        } catch {
            // The store is as it was, its journal mode included.
            if isWAL {
                _ = try? source.execute(sql: "PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL")
            }
            throw error
        }
        return isWAL
    }

    /// Copies the locked store and puts the copy in its place.
    private static func exchange(
        path: String, _ source: Database, _ settings: CipherSettings, to new: borrowing Passphrase,
        _ progress: StoreProgressHandler?
    ) throws {
        if let key = source.encryptionKey { try StoreVerification.verifyPages(of: source, key: key) }
        // A copy that was killed just before its end left a second name of this file, which would
        // keep the old passphrase alive.
        for purpose in ["rekey", "copy", "import"] {
            FileReplacement.removeLeftovers(of: path, purpose: purpose)
        }
        let file = try FileReplacement(destination: path, purpose: "rekey")
        do {
            let key = try KeyDerivation.derive(
                passphrase: new.bytes, salt: KeyDerivation.randomSalt(), settings: settings)
            try StoreCopy.fill(file.temporary, key: key, from: source, progress: progress, finishing: nil)
            try StoreVerification.verify(
                path: file.temporary, key: key, rowCounts: StoreVerification.rowCounts(source),
                progress: progress)
            try swap(file, pageSize: settings.pageSize)
        } catch {
            file.discard()
            throw error
        }
    }

    /// Leaves WAL mode and takes SQLite's exclusive lock, to be held until the
    /// connection closes.
    private static func lockExclusively(_ db: Database) throws {
        let busy = StoreError(
            .busy, "another connection or process has it open; close it and try again", path: db.path)
        do {
            // It changes the file when the statement ends, after its row: only a statement that is
            // run to its end reports that it could not.
            try db.execute(sql: "PRAGMA journal_mode = DELETE")
            guard try String.fetchOne(db, sql: "PRAGMA journal_mode") == "delete" else { throw busy }
            try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT")
        } catch let error as DatabaseError
            where error.resultCode == .SQLITE_BUSY || error.resultCode == .SQLITE_LOCKED
        {
            throw busy
        }
        for suffix in FileReplacement.sidecarSuffixes where FileIdentity(path: db.path + suffix) != nil {
            throw StoreError(
                .busy, "\(suffix.dropFirst()) file present; another process may be at work", path: db.path)
        }
    }

    /// Renames the copy over the store and makes the old file unusable for
    /// processes that still have it open.
    private static func swap(_ file: FileReplacement, pageSize: Int) throws {
        let old = open(file.destination, O_RDWR | O_CLOEXEC)
        guard old >= 0 else {
            throw StoreError(
                .cannotWrite, "cannot open: \(StoreError.systemText)", path: file.destination)
        }
        // Closing this descriptor drops the connection's lock, so it is the last step.
        defer { close(old) }
        var information = stat()
        guard fstat(old, &information) == 0 else {
            throw StoreError(.cannotRead, "cannot look at the file", path: file.destination)
        }
        file.copyMode(of: information)
        try file.replaceDestination()
        // A hard link is somebody's backup of the old file: it is left alone.
        guard fstat(old, &information) == 0, information.st_nlink == 0 else { return }
        var noise = (0..<pageSize).map { _ in UInt8.random(in: 1...255) }
        _ = pwrite(old, &noise, noise.count, 0)
    }

    private static func restoreWAL(path: String, passphrase: consuming Passphrase) throws {
        let db = try Database.openExisting(path: path, passphrase: passphrase)
        defer { db.dispose() }
        try db.execute(sql: "PRAGMA journal_mode = WAL")
    }
}

extension Database {
    /// Opens an existing encrypted file, waiting a little for its lock.
    static func openExisting(path: String, passphrase: consuming Passphrase) throws -> Database {
        var configuration = Configuration()
        configuration.encryption = .required
        configuration.requiresExistingFile = true
        configuration.busyMode = .timeout(2)
        let secret = passphrase.bytes
        configuration.prepareDatabase { try $0.usePassphrase(Passphrase(sharing: secret)) }
        return try Database(path: path, configuration: configuration, keyCache: KeyCache())
    }
}
