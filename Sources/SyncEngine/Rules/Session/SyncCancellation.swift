import CipherStore
import Foundation
import Synchronization

/// Tells a synchronization that nobody waits for it any more.
///
/// What moves frames looks at it before each; what waits for a network is told by ``onCancel(_:)``.
package final class SyncCancellation: Sendable {
    // Looked at for each frame, so without the lock.
    private let flag = Atomic<Bool>(false)
    private let handlers = Mutex<[@Sendable () -> Void]>([])
    private let condition = NSCondition()

    /// What is said where the contact could not be noted because of it.
    static let reason = "the synchronization was cancelled"

    /// Makes one that is not cancelled.
    package init() {}

    /// Whether it was cancelled.
    package var isCancelled: Bool { flag.load(ordering: .acquiring) }

    /// Throws when it was cancelled.
    ///
    /// - throws: `CancellationError`.
    package func check() throws {
        if isCancelled { throw CancellationError() }
    }

    /// Cancels, for good. It may be called from any thread, more than once.
    package func cancel() {
        let called = handlers.withLock { handlers in
            flag.store(true, ordering: .releasing)
            defer { handlers = [] }
            return handlers
        }
        condition.withLock { condition.broadcast() }
        for handler in called { handler() }
    }

    /// Has something called once when it is cancelled, on whatever thread; at once when it was cancelled already.
    package func onCancel(_ handler: @escaping @Sendable () -> Void) {
        let isLate = handlers.withLock { handlers in
            guard !isCancelled else { return true }
            handlers.append(handler)
            return false
        }
        if isLate { handler() }
    }

    /// Blocks this thread for some time, or until it is cancelled.
    ///
    /// - throws: `CancellationError`.
    package func sleep(seconds: Double) throws {
        let end = Date(timeIntervalSinceNow: seconds)
        condition.withLock {
            while !isCancelled, condition.wait(until: end) {}
        }
        try check()
    }
}

/// An error of a program that may say that its user cancelled.
package protocol CancellingError: Error {
    /// Whether it says so.
    var isCancellation: Bool { get }
}

extension SyncCancellation {
    /// Whether an error says that somebody cancelled, which says nothing of the remote.
    static func isReason(of error: any Error) -> Bool {
        switch error {
        case is CancellationError: true
        case let error as SyncError: error.code == .cancelled
        case let error as StoreError: error.code == .cancelled
        case let error as any CancellingError: error.isCancellation
        default: false
        }
    }
}

extension SyncCancellation? {
    /// A receiver of frames that takes no more of them once it is cancelled.
    func checking(
        _ sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) -> (UnsafeRawBufferPointer) throws -> Void {
        guard let cancellation = self else { return sink }
        return { frame in
            try cancellation.check()
            try sink(frame)
        }
    }
}
