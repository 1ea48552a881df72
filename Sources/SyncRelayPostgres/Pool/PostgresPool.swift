import Foundation
import SyncRelay

/// Threads that wait for PostgreSQL, so that no thread of Swift's concurrency has to.
///
/// Each has a connection, and there are no more of them than are needed at a time. Jobs are done in the order in which they
/// came. Each has a deadline, which counts the time in the queue too: a server that hangs is told to everybody in time.
final class PostgresPool: Sendable {
    typealias Deadline = PostgresConnection.Deadline

    private struct Job {
        let deadline: Deadline
        let work: @Sendable (PostgresSession) -> Void
        let fail: @Sendable (PostgresFailure) -> Void
    }

    /// What the threads share. They hold this and not the pool, which ends them when it goes.
    ///
    /// It is `@unchecked` because what changes in it is used while its condition is locked, which the compiler can't see.
    private final class Shared: @unchecked Sendable {
        let condition = NSCondition()
        /// The jobs, and nothing where they were taken.
        var jobs: [Job?] = []
        /// Where the jobs that wait begin.
        var start = 0
        var threadCount = 0
        var idleCount = 0
        var isClosed = false

        var waitingCount: Int { jobs.count - start }

        func add(_ job: Job, afterAtMost count: Int) {
            jobs.insert(job, at: start + min(count, waitingCount))
        }

        func take() -> Job? {
            let job = jobs[start]
            jobs[start] = nil
            start += 1
            if start > 1024 && start * 2 > jobs.count {
                jobs.removeFirst(start)
                start = 0
            }
            return job
        }
    }

    let limits: PostgresLimits
    let library: LibPQ
    let address: PostgresAddress
    private let outage = PostgresOutage()
    private let shared = Shared()

    init(_ library: LibPQ, _ address: PostgresAddress, _ limits: PostgresLimits) {
        self.library = library
        self.address = address
        self.limits = limits
    }

    deinit { close() }

    /// Ends the threads when what waits is done. Later jobs fail.
    func close() {
        shared.condition.lock()
        shared.isClosed = true
        shared.condition.broadcast()
        shared.condition.unlock()
    }

    /// Waits on this thread until the threads have ended, after ``close()``.
    func waitUntilClosed() {
        shared.condition.lock()
        while shared.threadCount > 0 { shared.condition.wait() }
        shared.condition.unlock()
    }

    /// Until when a call that begins now has to be done.
    var deadline: Deadline { .now + .seconds(limits.seconds) }

    /// Does a job with a connection.
    ///
    /// - parameter end: When it has to be done, for one that has waited already.
    /// - throws: ``RelayProblem``.
    func run<Value: Sendable>(
        until end: Deadline? = nil, _ body: @escaping @Sendable (PostgresSession) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            submit(until: end ?? deadline) { session in
                continuation.resume(
                    with: Result { try body(session) }.mapError { RelayProblem(postgres: $0) })
            } onFailure: { failure in
                continuation.resume(throwing: failure.problem)
            }
        }
    }

    /// Has a job done later.
    ///
    /// - parameters:
    ///     - deadline: When it is too late to begin with it.
    ///     - isUrgent: Whether it waits behind as many others as there may be connections, and not behind all.
    ///     - work: The job, on a thread that may block.
    ///     - onFailure: Called instead when it can't be begun, on any thread.
    func submit(
        until deadline: Deadline, isUrgent: Bool = false,
        _ work: @escaping @Sendable (PostgresSession) -> Void,
        onFailure: @escaping @Sendable (PostgresFailure) -> Void
    ) {
        shared.condition.lock()
        guard !shared.isClosed, shared.waitingCount < limits.waitingCountMax else {
            let isClosed = shared.isClosed
            shared.condition.unlock()
            return onFailure(
                PostgresFailure(
                    kind: isClosed ? .cannotConnect : .tooLate,
                    message: isClosed ? "the storage was closed" : "too many calls wait"))
        }
        shared.add(
            Job(deadline: deadline, work: work, fail: onFailure),
            afterAtMost: isUrgent ? limits.connectionCountMax : .max)
        let starts =
            shared.waitingCount > shared.idleCount && shared.threadCount < limits.connectionCountMax
        if starts { shared.threadCount += 1 } else { shared.condition.signal() }
        shared.condition.unlock()
        if starts { startThread() }
    }

    // MARK: Threads

    private func startThread() {
        let (shared, library, address, limits, outage) = (shared, library, address, limits, outage)
        let thread = Thread {
            let worker = PostgresWorker(library, address, limits, outage)
            while let job = Self.next(shared) { Self.perform(job, worker) }
            shared.condition.lock()
            shared.threadCount -= 1
            shared.condition.broadcast()
            shared.condition.unlock()
        }
        thread.name = "SyncRelayPostgres"
        thread.start()
    }

    private static func next(_ shared: Shared) -> Job? {
        shared.condition.lock()
        defer { shared.condition.unlock() }
        while shared.waitingCount == 0 {
            guard !shared.isClosed else { return nil }
            shared.idleCount += 1
            shared.condition.wait()
            shared.idleCount -= 1
        }
        return shared.take()
    }

    private static func perform(_ job: Job, _ worker: PostgresWorker) {
        guard job.deadline > .now else {
            return job.fail(PostgresFailure(kind: .tooLate, message: "all connections are in use"))
        }
        job.work(PostgresSession(worker, until: job.deadline))
    }
}

extension RelayProblem {
    /// What a failure is to those who called.
    init(postgres error: any Error) {
        switch error {
        case let problem as RelayProblem: self = problem
        case let failure as PostgresFailure: self = failure.problem
        default:
            self.init(
                .unavailable, "the relay can't use its storage now; its log says why", retrySeconds: 5)
            cause = "\(error)"
        }
    }
}
