import CipherStore
import Dispatch

/// Synchronizations of tasks, which can be cancelled.
extension Synchronizer {
    /// Brings changes here from a remote, and sends ours to it.
    ///
    /// ```swift
    /// let task = Task { try await synchronizer.sync(with: transport) }
    /// task.cancel()      // the user has closed the window
    /// ```
    ///
    /// The cancellation of the task takes effect before the next frame, or in the middle of a request of
    /// `HTTPTransport`: the open transaction is rolled back, and the connection is closed. Everything that
    /// was committed before stays, here and at the remote, and the next synchronization goes on from there. A
    /// transaction that has received all of its frames is finished first. A task that is cancelled after
    /// everything was exchanged still gets its report.
    ///
    /// - throws: ``SyncError``, `DatabaseError`, `StoreError`, `WireError`; `CancellationError` when
    ///   the task was cancelled; if it was cancelled from the beginning, nothing was done. Each bundle is
    ///   applied as a whole or not at all.
    public func sync(with transport: any Transport) async throws -> SyncReport {
        try await cancellable { try $0.run(.both, transport) }
    }

    /// Brings changes here from a remote. It can be cancelled as ``sync(with:)``.
    ///
    /// - throws: As ``sync(with:)``.
    public func pull(from transport: any Transport) async throws -> SyncReport {
        try await cancellable { try $0.run(.pull, transport) }
    }

    /// Sends our changes to a remote. It can be cancelled as ``sync(with:)``.
    ///
    /// - throws: As ``sync(with:)``.
    public func push(to transport: any Transport) async throws -> SyncReport {
        try await cancellable { try $0.run(.push, transport) }
    }

    /// Brings changes here from a folder, and puts ours into it. It can be cancelled as ``sync(with:)``: a bundle
    /// that is being applied is rolled back, and one that is being written is removed.
    ///
    /// - throws: As ``run(_:_:progress:)-(_,FolderTransport,_)``; `CancellationError` when the task was cancelled.
    public func sync(through folder: FolderTransport) async throws -> FolderReport {
        try await cancellable { try $0.run(.both, folder) }
    }

    /// Brings changes here from a folder. It can be cancelled as ``sync(through:)-(FolderTransport)``.
    ///
    /// - throws: As ``sync(through:)-(FolderTransport)``.
    public func pull(through folder: FolderTransport) async throws -> FolderReport {
        try await cancellable { try $0.run(.pull, folder) }
    }

    /// Puts our changes into a folder. It can be cancelled as ``sync(through:)-(FolderTransport)``.
    ///
    /// - throws: As ``sync(through:)-(FolderTransport)``.
    public func push(through folder: FolderTransport) async throws -> FolderReport {
        try await cancellable { try $0.run(.push, folder) }
    }

    /// Brings changes here from a mailbox, and puts ours into it. It can be cancelled as ``sync(through:)-(FolderTransport)``.
    ///
    /// - throws: As ``sync(through:)-(FolderTransport)``.
    public func sync(through mailbox: MailboxTransport) async throws -> FolderReport {
        try await cancellable { try $0.run(.both, mailbox) }
    }

    /// Brings changes here from a mailbox. It can be cancelled as ``sync(through:)-(FolderTransport)``.
    ///
    /// - throws: As ``sync(through:)-(FolderTransport)``.
    public func pull(through mailbox: MailboxTransport) async throws -> FolderReport {
        try await cancellable { try $0.run(.pull, mailbox) }
    }

    /// Puts our changes into a mailbox. It can be cancelled as ``sync(through:)-(FolderTransport)``.
    ///
    /// - throws: As ``sync(through:)-(FolderTransport)``.
    public func push(through mailbox: MailboxTransport) async throws -> FolderReport {
        try await cancellable { try $0.run(.push, mailbox) }
    }

    /// Runs a synchronization that ends when the task is cancelled. It blocks its thread, so it has one of its own.
    private func cancellable<Report: Sendable>(
        _ body: @escaping @Sendable (Synchronizer) throws -> Report
    ) async throws -> Report {
        try Task.checkCancellation()
        let cancellation = SyncCancellation()
        let synchronizer = Synchronizer(self, cancellation)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(with: Result { try body(synchronizer) })
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
    }
}
