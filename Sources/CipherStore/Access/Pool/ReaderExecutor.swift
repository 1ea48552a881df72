import Dispatch

/// Runs a read of a task on the first reader that is free.
///
/// The task neither waits for its reader nor gives it back on a thread of the
/// cooperative pool: all of these may be blocked by reads that wait for a
/// reader, and none would ever be free. As the read is a job of an actor, it
/// sees its task's values and cancellation.
///
/// It is `@unchecked Sendable` because `result` is touched only by the thread
/// that runs the actor's job.
final class ReaderExecutor: SerialExecutor, @unchecked Sendable {
    private struct Wait {
        var number: Int?
        var isGivenUp = false
    }

    private let pool: any ReaderSource
    private let isSnapshot: Bool
    private let wait = Lock(Wait())
    private var result: Result<Database, any Error>?

    /// - parameters:
    ///     - pool: What has the readers.
    ///     - isSnapshot: Whether all that runs is one read of a snapshot.
    init(_ pool: any ReaderSource, isSnapshot: Bool) {
        self.pool = pool
        self.isSnapshot = isSnapshot
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let number = pool.withReader(
            isSnapshot: isSnapshot,
            or: { [self] error in
                // This may be called by who cancels the task, who can't run jobs.
                DispatchQueue.global(qos: pool.configuration.readQoS.qosClass).async { [self] in
                    run(job, .failure(error))
                }
            },
            { [self] db in run(job, .success(db)) })
        let isGivenUp = wait.withLock { wait in
            wait.number = number
            return wait.isGivenUp
        }
        // The cancellation may have come before there was a number.
        if isGivenUp { pool.readerPool.giveUp(number) }
    }

    private func run(_ job: UnownedJob, _ result: Result<Database, any Error>) {
        self.result = result
        job.runSynchronously(on: asUnownedSerialExecutor())
        self.result = nil
    }

    /// Ends the wait for a reader.
    func giveUp() {
        let number = wait.withLock { wait in
            wait.isGivenUp = true
            return wait.number
        }
        if let number { pool.readerPool.giveUp(number) }
    }

    /// The reader's connection, for the job that runs.
    ///
    /// - throws: The reason why there is none.
    var database: Database {
        get throws {
            guard let result else { throw DatabasePool.closedError }
            return try result.get()
        }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }
}

/// An actor that lives for one read, on the reader that its executor finds.
actor ReaderActor {
    private nonisolated let executor: ReaderExecutor

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ executor: ReaderExecutor) { self.executor = executor }

    func run<T: Sendable>(_ body: @Sendable (Database) throws -> T) throws -> T {
        try body(executor.database)
    }
}
