import CipherStore

/// Opening stores for commands that only read.
extension CommandContext {
    /// Opens a store with what the options name, for a command that only reads.
    package func openForReading(_ options: StoreOptions) throws -> DatabaseQueue {
        noteSubject(options.store)
        try StoreFileCheck.requireStore(options.store)
        return try openForReading(options.store, storeSecret(options))
    }

    /// Opens a store for a command that only reads: one that can't be written is read as it is.
    package func openForReading(_ path: String, _ secret: KeySlotSecret) throws -> DatabaseQueue {
        noteSubject(path)
        return try openForReading(path, configuration(secret))
    }

    /// The same with a configuration.
    func openForReading(_ path: String, _ configuration: Configuration) throws -> DatabaseQueue {
        var reason = FileObstacle.find(path).map { Failure.systemText($0.code) }
        if reason == nil {
            do {
                return try DatabaseQueue(path: path, configuration: configuration)
            } catch let error as DatabaseError where error.isAboutWriting {
                reason =
                    error.saysDiskIsFull ? "the disk is full" : error.storeError?.message ?? error.message
            }
        }
        var configuration = configuration
        configuration.readonly = true
        configuration.journalMode = .default
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        note("\(path) can't be written (\(reason ?? "unknown reason")), and is opened for reading only")
        return queue
    }
}

extension DatabaseError {
    /// Whether SQLite could not make or fill a file that it needs beside a store.
    fileprivate var isAboutWriting: Bool {
        saysDiskIsFull
            || [.SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_IOERR, .SQLITE_PERM].contains(resultCode)
    }
}
