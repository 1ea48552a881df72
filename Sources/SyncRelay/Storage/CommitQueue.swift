import CipherStore
import Dispatch
import Synchronization

/// Writes what many ask for with few commits.
///
/// A commit waits for the disk, and a relay has many writers. What came while one commit was under way is written together
/// by the next. One job that fails takes nothing with it: the others are written again, each in a savepoint.
final class CommitQueue: Sendable {
    /// The most jobs of one commit, and the most bytes that they bring.
    private static let groupCountMax = 256
    private static let groupByteCountMax = 8 << 20
    /// The most jobs that wait.
    private static let waitingCountMax = 16_384
    /// How many groups have savepoints after one that had a job that failed. A savepoint writes each page that it changes
    /// to a journal of its own, which costs more than most jobs.
    private static let waryGroupCount = 16

    private struct Job: Sendable {
        let byteCount: Int
        /// Does the work, and gives what is to be done after the commit.
        let attempt: @Sendable (Database) throws -> @Sendable () -> Void
        let fail: @Sendable (any Error) -> Void
    }

    private struct State {
        var jobs: [Job] = []
        var isRunning = false
        /// Whether there may be work for when nobody waits.
        var hasLeisureWork = false
        var commitCount: Int64 = 0
        /// How many of the next groups have savepoints.
        var waryGroupCount = 0
        /// Whether jobs only gather.
        var isHeld = false
    }

    private let pool: DatabasePool
    private let leisure: @Sendable (Database, _ newByteCount: Int) throws -> Bool
    private let queue = DispatchQueue(label: "SyncRelay.CommitQueue")
    private let state = Mutex(State())

    /// - parameter leisure: A slice of work that can wait, in a transaction of its own; it gets how many bytes were brought
    ///   since the slice before, and says whether there is more. It is done when no job waits, and after each group of
    ///   jobs.
    init(
        _ pool: DatabasePool, leisure: @escaping @Sendable (Database, _ newByteCount: Int) throws -> Bool
    ) {
        self.pool = pool
        self.leisure = leisure
    }

    /// How many commits there were of jobs.
    var commitCount: Int64 { state.withLock { $0.commitCount } }

    /// How many jobs wait.
    var waitingCount: Int { state.withLock { $0.jobs.count } }

    /// Does a job in a transaction, and returns when that is on the disk.
    ///
    /// - parameters:
    ///     - byteCount: How many bytes it brings.
    ///     - onCommit: Called after the commit, in the order of commits, before this returns.
    ///     - body: It may be called again when the commit failed that it was part of.
    /// - throws: ``RelayProblem``.
    func run<Value: Sendable>(
        byteCount: Int = 0, onCommit: @escaping @Sendable (Value) -> Void = { _ in },
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let job = Job(
                byteCount: byteCount,
                attempt: { db in
                    let value = try body(db)
                    return {
                        onCommit(value)
                        continuation.resume(returning: value)
                    }
                },
                fail: { continuation.resume(throwing: RelayProblem(storage: $0)) })
            let (isTaken, starts) = state.withLock { state in
                guard state.jobs.count < Self.waitingCountMax else { return (false, false) }
                state.jobs.append(job)
                return (true, Self.begin(&state))
            }
            guard isTaken else {
                return job.fail(RelayProblem(.busy, "the relay has too much to write", status: 503))
            }
            if starts { start() }
        }
    }

    /// Says that there is work for when nobody waits.
    func noteLeisureWork() {
        let starts = state.withLock { state in
            state.hasLeisureWork = true
            return Self.begin(&state)
        }
        if starts { start() }
    }

    /// Waits until nothing is being written.
    func drain() { queue.sync {} }

    /// Lets jobs gather, so that what comes meanwhile is one group. For tests.
    func hold() { state.withLock { $0.isHeld = true } }

    /// Goes on after ``hold()``.
    func release() {
        let starts = state.withLock { state in
            state.isHeld = false
            return Self.begin(&state)
        }
        if starts { start() }
    }

    private static func begin(_ state: inout State) -> Bool {
        guard !state.isRunning, !state.isHeld else { return false }
        state.isRunning = true
        return true
    }

    private func start() { queue.async { [self] in work() } }

    private enum Work {
        case group([Job])
        case leisure
    }

    private func work() {
        while let work = next() {
            guard case .group(let group) = work else {
                doLeisureWork(after: 0)
                continue
            }
            commit(group)
            if state.withLock({ $0.hasLeisureWork }) {
                doLeisureWork(after: group.reduce(0) { $0 + $1.byteCount })
            }
        }
    }

    private func next() -> Work? {
        state.withLock { state in
            var byteCount = 0
            let count = state.jobs.prefix(Self.groupCountMax).prefix { job in
                defer { byteCount += job.byteCount }
                return byteCount <= Self.groupByteCountMax
            }.count
            if count > 0 && !state.isHeld {
                let group = Array(state.jobs.prefix(count))
                state.jobs.removeFirst(count)
                return .group(group)
            }
            if state.hasLeisureWork && !state.isHeld { return .leisure }
            state.isRunning = false
            return nil
        }
    }

    private func doLeisureWork(after newByteCount: Int) {
        state.withLock { $0.hasLeisureWork = false }
        // A failure of it is none of anybody's; it is tried again when there is more of it.
        let hasMore = (try? pool.writeWithoutTransaction { try leisure($0, newByteCount) }) ?? false
        if hasMore { state.withLock { $0.hasLeisureWork = true } }
    }

    // MARK: Commits

    private func commit(_ group: [Job]) {
        pool.writeWithoutTransaction { db in
            if group.count > 1, let ends = together(group, db) {
                for end in ends { end() }
                return
            }
            for job in group { alone(job, db) }
        }
    }

    /// Writes a group by one commit.
    ///
    /// - returns: What is to be done after it; nil when each job has to be tried alone.
    private func together(_ group: [Job], _ db: Database) -> [@Sendable () -> Void]? {
        let isWary = state.withLock { state in
            defer { state.waryGroupCount = max(0, state.waryGroupCount - 1) }
            return state.waryGroupCount > 0
        }
        if !isWary {
            if let ends = try? inOneTransaction(group, db, hasSavepoints: false) { return ends }
            state.withLock { $0.waryGroupCount = Self.waryGroupCount }
        }
        return try? inOneTransaction(group, db, hasSavepoints: true)
    }

    /// - throws: What a job without a savepoint does, what SQLite reports of the others.
    private func inOneTransaction(
        _ group: [Job], _ db: Database, hasSavepoints: Bool
    ) throws -> [@Sendable () -> Void] {
        var ends: [@Sendable () -> Void] = []
        try db.inTransaction {
            for job in group {
                guard hasSavepoints else {
                    ends.append(try job.attempt(db))
                    continue
                }
                do {
                    try db.inSavepoint {
                        ends.append(try job.attempt(db))
                        return .commit
                    }
                } catch let problem as RelayProblem {
                    ends.append { job.fail(problem) }
                }
            }
            return .commit
        }
        state.withLock { $0.commitCount += 1 }
        return ends
    }

    private func alone(_ job: Job, _ db: Database) {
        do {
            var end: (@Sendable () -> Void)?
            try db.inTransaction {
                end = try job.attempt(db)
                return .commit
            }
            state.withLock { $0.commitCount += 1 }
            end?()
        } catch {
            job.fail(error)
        }
    }
}

extension RelayProblem {
    /// What a failure of a storage's database is to others.
    init(storage error: any Error) {
        switch error {
        case let problem as RelayProblem: self = problem
        case let error as DatabaseError where error.saysDiskIsFull:
            self.init(.diskFull, "the relay's disk is full")
            cause = "\(error)"
        default:
            self.init(.unavailable, "the relay can't use its storage now; its log says why", retrySeconds: 5)
            cause = "\(error)"
        }
    }
}
