import Dispatch
import Synchronization

/// Waits for what is asynchronous, on a thread that may block.
enum Blocking {
    private final class Box<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
    }

    /// Runs a task and blocks this thread until it ends. Not for a thread of Swift's executors or of an
    /// event loop.
    static func run<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        let box = Box<Value>()
        let semaphore = DispatchSemaphore(value: 0)
        Task.detached {
            let result: Result<Value, any Error>
            do {
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            box.result.withLock { $0 = result }
            semaphore.signal()
        }
        semaphore.wait()
        guard let result = box.result.withLock({ $0 }) else {
            throw RemoteError(.failed, "a task ended without a result")
        }
        return try result.get()
    }
}
