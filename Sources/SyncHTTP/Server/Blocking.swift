import Dispatch
import Synchronization

/// Waits for what is asynchronous, on a thread that may block.
package enum Blocking {
    /// Runs a task in Swift's pool and blocks this thread until it ends. Not for a thread of an event loop or of the
    /// pool; ``BridgingTask`` is for those who may be on one.
    package static func run<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        let box = ResultBox<Value>()
        let end = DispatchSemaphore(value: 0)
        Task.detached {
            do {
                box.store(.success(try await body()))
            } catch {
                box.store(.failure(error))
            }
            end.signal()
        }
        end.wait()
        return try box.value()
    }
}

/// Takes the result of a task to the thread that waits for it.
final class ResultBox<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)

    func store(_ result: Result<Value, any Error>) { self.result.withLock { $0 = result } }

    /// - throws: The error of the task.
    func value() throws -> Value {
        guard let result = result.withLock({ $0 }) else {
            throw RemoteError(.failed, "a task ended without a result")
        }
        return try result.get()
    }
}
