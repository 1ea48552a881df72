import Dispatch
import Synchronization

/// Waits for what is asynchronous, on a thread that may block.
enum Blocking {
    private final class Box<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
    }

    /// Runs a task and blocks this thread until it ends. Not for a thread of an event loop.
    ///
    /// The task has a thread of its own: Swift's pool has one for each processor, and if all of them waited
    /// here, or for each other, none would be left for what they wait for.
    ///
    /// - parameter isParallel: Whether it runs in the pool instead, because it has tasks of its own that are to run
    ///   beside each other.
    static func run<Value: Sendable>(
        isParallel: Bool = false, _ body: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        let box = Box<Value>()
        let semaphore = DispatchSemaphore(value: 0)
        Task.detached(executorPreference: isParallel ? nil : QueueExecutor()) {
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

/// Runs the jobs of a task on a queue of its own.
private final class QueueExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "SyncHTTP.Blocking")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
