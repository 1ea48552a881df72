import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The exchange of a store's file for a copy under another key.
///
/// ``StoreRekey`` says what is guaranteed, and why.
struct StoreReplacement {
    /// A connection of its own to the store, which this takes exclusively.
    let source: Database
    let path: String

    /// The key of the copy.
    let key: EncryptionKey
    let progress: StoreProgressHandler?

    /// Copies, verifies and replaces.
    ///
    /// - parameter prepare: Runs when the copy is complete and verified, before it takes the
    ///   store's place.
    func run(_ prepare: () throws -> Void = {}) throws {
        let isWAL = try String.fetchOne(source, sql: "PRAGMA journal_mode") == "wal"
        do {
            try lockExclusively()
            try exchange(prepare)
        } catch {
            // The store is as it was, its journal mode included.
            if isWAL {
                _ = try? source.execute(sql: "PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL")
            }
            throw error
        }
        // The new key stands now. A full disk or a process that was quick to open the store must
        // not read as a rekey that failed; the store works in either mode.
        if isWAL { try? restoreWAL() }
    }

    private func exchange(_ prepare: () throws -> Void) throws {
        if let key = source.encryptionKey { try StoreVerification.verifyPages(of: source, key: key) }
        // A copy that was killed just before its end left a second name of this file, which would
        // keep the old passphrase alive.
        for purpose in ["rekey", "copy", "import"] {
            FileReplacement.removeLeftovers(of: path, purpose: purpose)
        }
        let file = try FileReplacement(destination: path, purpose: "rekey")
        do {
            try StoreCopy.fill(file.temporary, key: key, from: source, progress: progress, finishing: nil)
            try StoreVerification.verify(
                path: file.temporary, key: key, rowCounts: StoreVerification.rowCounts(source),
                progress: progress)
            try prepare()
            try swap(file)
        } catch {
            file.discard()
            throw error
        }
    }

    /// Leaves WAL mode and takes SQLite's exclusive lock, to be held until the
    /// connection closes.
    private func lockExclusively() throws {
        let busy = StoreError(
            .busy, "another connection or process has it open; close it and try again", path: path)
        do {
            // It changes the file when the statement ends, after its row: only a statement that is
            // run to its end reports that it could not.
            try source.execute(sql: "PRAGMA journal_mode = DELETE")
            guard try String.fetchOne(source, sql: "PRAGMA journal_mode") == "delete" else { throw busy }
            if FileIdentity(path: path + "-journal") != nil { try removeDeadJournal() }
            try source.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT")
        } catch let error as DatabaseError
            where error.resultCode == .SQLITE_BUSY || error.resultCode == .SQLITE_LOCKED
        {
            throw busy
        }
        for suffix in FileReplacement.sidecarSuffixes where FileIdentity(path: path + suffix) != nil {
            throw StoreError(
                .busy, "\(suffix.dropFirst()) file present; another process may be at work", path: path)
        }
    }

    /// Removes a journal that a killed process left before there was anything to undo in it. SQLite
    /// leaves such a file until the next transaction that writes.
    private func removeDeadJournal() throws {
        let version = try Int.fetchOne(source, sql: "PRAGMA user_version") ?? 0
        try source.execute(sql: "BEGIN IMMEDIATE; PRAGMA user_version = \(version); COMMIT")
    }

    /// Renames the copy over the store and makes the old file unusable for
    /// processes that still have it open.
    private func swap(_ file: FileReplacement) throws {
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
        var noise = (0..<key.settings.pageSize).map { _ in UInt8.random(in: 1...255) }
        _ = pwrite(old, &noise, noise.count, 0)
    }

    private func restoreWAL() throws {
        let db = try Database.openExisting(path: path, key: key)
        defer { db.dispose() }
        try db.execute(sql: "PRAGMA journal_mode = WAL")
    }
}
