import Dispatch
import SyncEngine
import Synchronization

/// The one task in which a thread that may block has done what is asynchronous, and waits for each result.
///
/// A connection has one for as long as it is open, so that a piece of a transfer costs neither a task nor an executor. The
/// task has a thread of its own while it does something: Swift's pool has one for each processor, and if all of them
/// waited here, or for each other, none would be left for what they wait for.
final class BridgingTask: Sendable {
    private typealias Work = @Sendable () async -> Void

    private struct State {
        enum Phase {
            /// The task has nothing to do, and is told when it has.
            case waiting(CheckedContinuation<Work?, Never>)
            /// Nobody has asked for anything since it began, or since its last work.
            case idle
            case asked(Work)
            case working
        }

        var phase = Phase.idle
        var isEnded = false
    }

    /// What the task and those who ask it share: it must not keep what ends it.
    private final class Shared: Sendable {
        private let state = Mutex(State())
        let done = DispatchSemaphore(value: 0)
        /// Kept for as long as the task, which comes back to it after each wait.
        let executor = QueueExecutor()

        /// Does what it is asked for until it is ended.
        func run() async {
            while await doNext() { done.signal() }
        }

        /// - returns: Whether it did anything: not once it was ended.
        private func doNext() async -> Bool {
            guard let work = await next() else { return false }
            await work()
            state.withLock { $0.phase = .idle }
            return true
        }

        private func next() async -> Work? {
            await withCheckedContinuation { continuation in
                let (isDecided, work) = state.withLock { state -> (Bool, Work?) in
                    // Who has asked waits, so that comes before the end.
                    if case .asked(let work) = state.phase {
                        state.phase = .working
                        return (true, work)
                    }
                    if !state.isEnded { state.phase = .waiting(continuation) }
                    return (state.isEnded, nil)
                }
                if isDecided { continuation.resume(returning: work) }
            }
        }

        /// Gives the task work.
        ///
        /// - returns: Whether it takes it: it does not once it was ended, nor from two threads at once.
        func ask(_ work: @escaping Work) -> Bool {
            let (isTaken, waiting) = state.withLock { state -> (Bool, CheckedContinuation<Work?, Never>?) in
                guard !state.isEnded else { return (false, nil) }
                switch state.phase {
                case .waiting(let continuation):
                    state.phase = .working
                    return (true, continuation)
                case .idle:
                    state.phase = .asked(work)
                    return (true, nil)
                case .asked, .working: return (false, nil)
                }
            }
            waiting?.resume(returning: work)
            return isTaken
        }

        /// Lets the task end after what it is doing.
        func end() {
            let waiting = state.withLock { state -> CheckedContinuation<Work?, Never>? in
                state.isEnded = true
                guard case .waiting(let continuation) = state.phase else { return nil }
                state.phase = .idle
                return continuation
            }
            waiting?.resume(returning: nil)
        }
    }

    private let shared = Shared()
    private let cancellation: SyncCancellation?

    /// Begins the task.
    ///
    /// - parameter cancellation: What cancels the task with what it is doing; nil for nothing.
    init(_ cancellation: SyncCancellation?) {
        self.cancellation = cancellation
        let shared = shared
        let task = Task.detached(executorPreference: shared.executor) { await shared.run() }
        cancellation?.onCancel { task.cancel() }
    }

    deinit { end() }

    /// Runs something in the task, and blocks this thread until it ends. Not for a thread of an event loop, and for one
    /// thread at a time.
    ///
    /// - throws: What `body` throws; `CancellationError` when it was cancelled, whatever came of the body;
    ///   ``RemoteError`` of code `unreachable` after ``end()``.
    func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        try cancellation?.check()
        let box = ResultBox<Value>()
        let isTaken = shared.ask {
            do {
                box.store(.success(try await body()))
            } catch {
                box.store(.failure(error))
            }
        }
        guard isTaken else { throw RemoteError(.unreachable, "the connection is closed") }
        shared.done.wait()
        // An answer that was cut off by it may look like one that has ended.
        try cancellation?.check()
        return try box.value()
    }

    /// Ends the task after what it is doing. It may be called from any thread, more than once.
    func end() { shared.end() }
}

/// Runs the jobs of a task on a queue of its own.
private final class QueueExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "SyncHTTP.BridgingTask")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
