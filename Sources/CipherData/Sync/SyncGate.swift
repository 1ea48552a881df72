import Synchronization

/// Lets one task in at a time, in the order in which they came.
final class SyncGate: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [(id: Int, continuation: CheckedContinuation<Void, any Error>)] = []
        var lastID = 0
        var cancelled: Set<Int> = []
    }

    private let state = Mutex(State())

    /// Waits until nobody is inside.
    ///
    /// - throws: `CancellationError` when the task is cancelled before.
    func enter() async throws {
        try Task.checkCancellation()
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    guard state.isTaken else {
                        state.isTaken = true
                        return .success(())
                    }
                    state.waiting.append((id, continuation))
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                guard let index = state.waiting.firstIndex(where: { $0.id == id }) else {
                    // It is not waiting yet, or is inside already.
                    state.cancelled.insert(id)
                    return nil as CheckedContinuation<Void, any Error>?
                }
                return state.waiting.remove(at: index).continuation
            }
            continuation?.resume(throwing: CancellationError())
        }
        state.withLock { _ = $0.cancelled.remove(id) }
    }

    /// Lets the next one in.
    func leave() {
        let next = state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil as CheckedContinuation<Void, any Error>?
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume()
    }
}
