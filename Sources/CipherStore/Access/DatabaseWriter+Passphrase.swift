import Foundation

extension DatabaseWriter {
    /// Changes the passphrase of the database: see
    /// ``changePassphrase(_:progress:)-(Passphrase,StoreProgressHandler?)``.
    ///
    /// - throws: As that one.
    @_disfavoredOverload public func changePassphrase(
        _ passphrase: String, progress: StoreProgressHandler? = nil
    ) throws {
        try changePassphrase(Passphrase(passphrase), progress: progress)
    }

    /// Changes the passphrase of the database to one of bytes: see
    /// ``changePassphrase(_:progress:)-(Passphrase,StoreProgressHandler?)``.
    ///
    /// - throws: As that one.
    @_disfavoredOverload public func changePassphrase(
        _ passphrase: Data, progress: StoreProgressHandler? = nil
    ) throws {
        try changePassphrase(Passphrase(data: passphrase), progress: progress)
    }

    /// Changes the passphrase of the database: see
    /// ``changePassphrase(_:progress:)-(Passphrase,StoreProgressHandler?)``.
    ///
    /// - throws: As that one; `CancellationError` when the task is cancelled before the new file is
    ///   complete, with nothing changed.
    public func changePassphrase(
        _ passphrase: String, progress: (@Sendable (StoreProgress) throws -> Void)? = nil
    ) async throws {
        try await changeOnThread(to: Passphrase(passphrase), progress)
    }

    /// Changes the passphrase of the database to one of bytes: see
    /// ``changePassphrase(_:progress:)-(Passphrase,StoreProgressHandler?)``.
    ///
    /// - throws: As that one; `CancellationError` when the task is cancelled before the new file is
    ///   complete, with nothing changed.
    public func changePassphrase(
        _ passphrase: Data, progress: (@Sendable (StoreProgress) throws -> Void)? = nil
    ) async throws {
        try await changeOnThread(to: Passphrase(data: passphrase), progress)
    }

    private func changeOnThread(
        to passphrase: consuming Passphrase, _ progress: (@Sendable (StoreProgress) throws -> Void)?
    ) async throws {
        let isCancelled = Lock(false)
        // A closure can hold a constant, and no parameter.
        let passphrase = passphrase
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                // It takes as long as the file is large, which no shared thread is for.
                Thread.detachNewThread {
                    continuation.resume(
                        with: Result {
                            try self.changePassphrase(passphrase) { step in
                                if isCancelled.withLock({ $0 }) { throw CancellationError() }
                                try progress?(step)
                            }
                        })
                }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }
}

extension Database {
    static var changeInAccessError: DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: "the passphrase can't be changed from inside of a database access")
    }
}

extension SerializedDatabase {
    /// Changes the passphrase, and goes on with a connection to the new file.
    func changePassphrase(_ secret: Secret, progress: StoreProgressHandler?) throws {
        try exchange { try OpenStoreRekey(db: $0, secret: secret, progress: progress).run() }
    }
}

extension DatabaseQueue {
    /// Changes the passphrase of the database: see
    /// ``DatabaseWriter/changePassphrase(_:progress:)-(Passphrase,StoreProgressHandler?)``.
    ///
    /// - throws: As that one.
    @_disfavoredOverload public func changePassphrase(
        _ passphrase: borrowing Passphrase, progress: StoreProgressHandler? = nil
    ) throws {
        try changeKey(Secret(passphrase), progress)
    }
}

extension DatabasePool {
    /// Changes the passphrase of the database: see
    /// ``DatabaseWriter/changePassphrase(_:progress:)-(Passphrase,StoreProgressHandler?)``.
    ///
    /// The reads that are running end first, and reads that start meanwhile wait.
    ///
    /// - throws: As that one, and a ``StoreError`` of code `busy` while a snapshot of the pool lives.
    @_disfavoredOverload public func changePassphrase(
        _ passphrase: borrowing Passphrase, progress: StoreProgressHandler? = nil
    ) throws {
        try changeKey(Secret(passphrase), progress)
    }
}
