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

    /// What is noted of a synchronization that was cancelled.
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
