import CipherStore

/// Opening stores for commands that only read.
extension CommandContext {
    /// Opens a store with what the options name, for a command that only reads.
    ///
    /// - parameter makesFiles: Whether the command makes files of what it reads.
    package func openForReading(_ options: StoreOptions, makesFiles: Bool = false) throws -> DatabaseQueue {
        noteSubject(options.store)
        try StoreFileCheck.requireStore(options.store)
        return try openForReading(options.store, storeSecret(options), makesFiles: makesFiles)
    }

    /// Opens a store for a command that only reads: one that can't be written is read as it is.
    package func openForReading(
        _ path: String, _ secret: Secret, makesFiles: Bool = false
    ) throws -> DatabaseQueue {
        noteSubject(path)
        return try openForReading(path, configuration(secret), makesFiles: makesFiles)
    }

    /// The same with a configuration.
    ///
    /// Where the disk is full, a command that makes files says so at once.
    func openForReading(
        _ path: String, _ configuration: Configuration, makesFiles: Bool = false
    ) throws -> DatabaseQueue {
        var reason = FileObstacle.find(path).map { Failure.systemText($0.code) }
        if reason == nil {
            do {
                return try DatabaseQueue(path: path, configuration: configuration)
            } catch let error as DatabaseError where error.isAboutWriting {
                if error.saysDiskIsFull && makesFiles { throw error }
                reason =
                    error.saysDiskIsFull
                    ? FileSizeLimit.instead(ofFullDisk: path)?.text ?? "the disk is full"
                    : error.storeError?.message ?? error.message
            }
        }
        var configuration = configuration
        configuration.readonly = true
        configuration.journalMode = .default
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        noteReading(path, reason)
        return queue
    }

    /// Says that a store can't be written, if so, for a command that opens any store for reading only.
    ///
    /// - parameter deed: What the command did with it instead.
    func noteObstacle(toWriting path: String, _ deed: String = "opened for reading only") {
        guard let obstacle = FileObstacle.find(path) else { return }
        noteReading(path, Failure.systemText(obstacle.code), deed)
    }

    private func noteReading(
        _ path: String, _ reason: String?, _ deed: String = "opened for reading only"
    ) {
        noteAtEnd("\(path) can't be written (\(reason ?? "for an unknown reason")), and was \(deed)")
    }
}

extension DatabaseError {
    /// Whether SQLite could not make or fill a file that it needs beside a store.
    fileprivate var isAboutWriting: Bool {
        saysDiskIsFull
            || [.SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_IOERR, .SQLITE_PERM].contains(resultCode)
    }
}
