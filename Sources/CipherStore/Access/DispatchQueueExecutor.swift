import Dispatch

/// Runs the jobs of an actor on a serial dispatch queue, so that tasks and
/// blocking callers share one connection without blocking a thread of the
/// cooperative pool, and closures see their task's values and cancellation.
final class DispatchQueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    init(_ queue: DispatchQueue) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }
}

/// An actor that lives on a dispatch queue.
actor DispatchQueueActor {
    private nonisolated let executor: DispatchQueueExecutor

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ queue: DispatchQueue) { executor = DispatchQueueExecutor(queue) }

    func run<T: Sendable>(_ body: @Sendable () throws -> T) rethrows -> T { try body() }
}
