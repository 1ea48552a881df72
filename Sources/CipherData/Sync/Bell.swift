import Synchronization

/// Wakes a task that waits, now or when it begins to wait.
///
/// A wait that is cancelled leaves it as it was. An `AsyncStream` would end for good then, and every later loop over it
/// with it.
final class Bell: Sendable {
    private struct State {
        /// Whether it rang when nobody waited.
        var hasRung = false
        var waiting: CheckedContinuation<Bool, Never>?
    }

    private let state = Mutex(State())

    /// Wakes the task that waits, or the next one that would.
    func ring() {
        let waiting = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard let waiting = state.waiting else {
                state.hasRung = true
                return nil
            }
            state.waiting = nil
            return waiting
        }
        waiting?.resume(returning: true)
    }

    /// Waits until it rings, or has rung since the last wait. One task waits at a time.
    ///
    /// - returns: Whether it rang; false when the task was cancelled before.
    func wait() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result: Bool? = state.withLock { state in
                    if state.hasRung {
                        state.hasRung = false
                        return true
                    }
                    // A cancellation that came before found nobody waiting.
                    if Task.isCancelled { return false }
                    assert(state.waiting == nil, "two tasks wait for one bell")
                    state.waiting = continuation
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let waiting = state.withLock { state -> CheckedContinuation<Bool, Never>? in
                defer { state.waiting = nil }
                return state.waiting
            }
            waiting?.resume(returning: false)
        }
    }
}
