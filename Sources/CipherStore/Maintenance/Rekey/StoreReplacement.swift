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

    /// Where the file of the connection is, from the root on where the process may have entered another folder.
    let path: String

    /// The key of the copy.
    let key: EncryptionKey
    let progress: StoreProgressHandler?

    /// Copies, verifies and replaces.
    ///
    /// - parameter prepare: Runs when the copy is complete and verified, before it takes the
    ///   store's place.
    /// - returns: Whether it is known that the name leads to the copy after a loss of power, too. If not, it may lead to
    ///   the old file.
    @discardableResult
    func run(_ prepare: () throws -> Void = {}) throws -> Bool {
        let isWAL = try String.fetchOne(source, sql: "PRAGMA journal_mode") == "wal"
        let isOnDisk: Bool
        do {
            try lockExclusively()
            isOnDisk = try exchange(prepare)
        } catch {
            restoreSource(isWAL: isWAL)
            throw error
        }
        // The new key stands now. A full disk or a process that was quick to open the store must
        // not read as a rekey that failed; the store works in either mode.
        if isWAL { try? restoreWAL() }
        return isOnDisk
    }

    private func exchange(_ prepare: () throws -> Void) throws -> Bool {
        guard let current = source.encryptionKey else {
            throw StoreError(.keyRequired, "the store is not encrypted", path: path)
        }
        guard current.settings.format.hasPageMACs else { throw StoreError.withoutMACs(path: path) }
        // Whatever made this file and was killed just before its end left a second name of it, which would
        // keep the old passphrase alive.
        FileReplacement.removeSecondNames(of: path)
        for purpose in ["rekey", "copy", "import"] {
            FileReplacement.removeLeftovers(of: path, purpose: purpose)
        }
        let file = try FileReplacement(destination: path, purpose: "rekey")
        do {
            try RekeyedCopy(of: source, to: file, from: current, to: key).write(progress: progress)
            try StoreVerification.verify(
                path: file.temporary, key: key, definitions: source.functions.definitions,
                rowCounts: {
                    // The disk writes while the processors check.
                    try file.synchronize()
                    return try StoreVerification.rowCounts(source)
                }, progress: progress)
            // The last moment at which a cancellation leaves the old key: the disk may have taken long.
            let pageCount = try Int.fetchOne(source, sql: "PRAGMA page_count") ?? 0
            try progress?(
                StoreProgress(phase: .verifying, completedPageCount: pageCount, totalPageCount: pageCount))
            try prepare()
            return try swap(file)
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
    ///
    /// - returns: Whether it is known that the name leads to the copy after a loss of power, too.
    private func swap(_ file: FileReplacement) throws -> Bool {
        var information = stat()
        // That some file has the name is not enough: it has to be the one that is open.
        guard stat(file.destination, &information) == 0, FileIdentity(information) == source.fileIdentity,
            !SQLiteHandle.hasMoved(source.handle)
        else {
            throw Database.replacedFileError(path: file.destination)
        }
        try file.copyMode(of: information)
        FilePlace.prepareSuccession(of: file.destination, by: file.temporary)
        let isOnDisk = try file.exchangeDestination()
        // A hard link is somebody's backup of the old file: it is left alone. And so is a file to which the name may
        // lead again after a loss of power: it would be all that is left.
        guard isOnDisk && information.st_nlink == 1 else { return isOnDisk }
        // SQLite's own descriptor is used: closing another one would drop the lock.
        let noise = (0..<key.settings.pageSize).map { _ in UInt8.random(in: 1...255) }
        try? DatabaseFile(source.handle).write(noise, at: 0)
        return isOnDisk
    }

    /// Leaves the store as it was, its journal mode included, for a connection that goes on.
    private func restoreSource(isWAL: Bool) {
        source.protected {
            try? source.execute(sql: "PRAGMA locking_mode = NORMAL")
            if isWAL { try? source.execute(sql: "PRAGMA journal_mode = WAL") }
            // The lock goes when the next read has ended.
            try? source.execute(sql: Database.probeSQL)
        }
    }

    private func restoreWAL() throws {
        let db = try Database.openExisting(path: path, key: key)
        defer { db.dispose() }
        try db.execute(sql: "PRAGMA journal_mode = WAL")
    }
}
