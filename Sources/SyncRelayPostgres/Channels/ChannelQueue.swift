import Foundation
import SyncRelay
import Synchronization

/// Changes channels: those of one channel one after the other, and those of several at the same time.
///
/// What came for a channel while one commit of it was under way is written together by the next. That is not only cheaper:
/// jobs of one channel would wait for its lock, each with a connection that others need.
final class ChannelQueue: Sendable {
    /// The most jobs, changes and bytes of one commit.
    private static let jobCountMax = 256
    private static let fileCountMax = 1_024
    private static let byteCountMax = 8 << 20

    private struct State {
        /// What waits, of channels that have something under way.
        var jobs: [RelayChannelID: [ChannelJob]] = [:]
        var commitCount: Int64 = 0
        var waitingCount = 0
        /// Whether jobs only gather.
        var isHeld = false
        var heldChannels: [RelayChannelID] = []
    }

    private let pool: PostgresPool
    private let bounds: ChannelPlan.Bounds
    private let milliseconds: (@Sendable () -> Int64)?
    private let onChange: @Sendable (RelayChannelID, RelayMoment) -> Void
    private let cleaner: BlockCleaner
    private let numbers: BodyNumbers
    private let state = Mutex(State())

    /// - parameters:
    ///     - cleaner: It is told of what was written, and of blocks to be removed, before those who asked for a commit know
    ///       of it.
    ///     - onChange: Called after each commit, in the order of positions, before those who asked for it know of it.
    init(
        _ pool: PostgresPool, _ numbers: BodyNumbers, _ bounds: ChannelPlan.Bounds, _ cleaner: BlockCleaner,
        milliseconds: (@Sendable () -> Int64)?,
        onChange: @escaping @Sendable (RelayChannelID, RelayMoment) -> Void
    ) {
        self.pool = pool
        self.numbers = numbers
        self.bounds = bounds
        self.milliseconds = milliseconds
        self.onChange = onChange
        self.cleaner = cleaner
    }

    /// How many commits there were.
    var commitCount: Int64 { state.withLock { $0.commitCount } }

    /// How many jobs wait.
    var waitingCount: Int { state.withLock { $0.waitingCount } }

    /// Does a job, and returns when it is durable.
    ///
    /// - throws: ``RelayProblem``.
    func run(_ action: ChannelJob.Action, byteCount: Int, in channel: RelayChannelID) async throws
        -> RelayChangeResult
    {
        if byteCount > 0 { try cleaner.requireRoom() }
        return try await withCheckedThrowingContinuation { continuation in
            add(
                ChannelJob(action: action, byteCount: byteCount, deadline: pool.deadline) { result in
                    continuation.resume(with: result.mapError { RelayProblem(postgres: $0) })
                }, to: channel)
        }
    }

    /// Lets jobs gather, so that what comes meanwhile is one commit for each channel. For tests.
    func hold() { state.withLock { $0.isHeld = true } }

    /// Goes on after ``hold()``.
    func release() {
        let channels = state.withLock { state in
            state.isHeld = false
            defer { state.heldChannels = [] }
            return state.heldChannels
        }
        for channel in channels { start(channel) }
    }

    // MARK: Order

    private func add(_ job: ChannelJob, to channel: RelayChannelID) {
        let (isTaken, starts) = state.withLock { state in
            guard state.waitingCount < pool.limits.waitingCountMax else { return (false, false) }
            state.waitingCount += 1
            let isFirst = state.jobs[channel] == nil
            state.jobs[channel, default: []].append(job)
            if isFirst && state.isHeld { state.heldChannels.append(channel) }
            return (true, isFirst && !state.isHeld)
        }
        guard isTaken else {
            return job.end(
                .failure(RelayProblem(.busy, "the relay has too much to write", status: 503)))
        }
        if starts { start(channel) }
    }

    private func start(_ channel: RelayChannelID) {
        // It is begun late rather than never: some of the jobs may have come a moment ago. Each has a deadline of its own.
        pool.submit(until: .now + .seconds(pool.limits.seconds)) { [self] session in
            let group = take(channel)
            commit(group, channel, session)
            goOn(channel)
        } onFailure: { [self] failure in
            for job in take(channel) { job.end(.failure(failure)) }
            goOn(channel)
        }
    }

    private func take(_ channel: RelayChannelID) -> [ChannelJob] {
        state.withLock { state in
            guard let jobs = state.jobs[channel] else { return [] }
            var (byteCount, fileCount) = (0, 0)
            let group = Array(
                jobs.prefix(Self.jobCountMax).prefix { job in
                    byteCount += job.byteCount
                    fileCount += job.files.count
                    return byteCount <= Self.byteCountMax && fileCount <= Self.fileCountMax
                })
            let taken = group.isEmpty ? Array(jobs.prefix(1)) : group
            state.jobs[channel]?.removeFirst(taken.count)
            state.waitingCount -= taken.count
            return taken
        }
    }

    /// Begins with what came meanwhile, behind what others wait for.
    private func goOn(_ channel: RelayChannelID) {
        let hasMore = state.withLock { state in
            guard state.jobs[channel]?.isEmpty == false else {
                state.jobs[channel] = nil
                return false
            }
            if state.isHeld { state.heldChannels.append(channel) }
            return !state.isHeld
        }
        if hasMore { start(channel) }
    }

    // MARK: Commits

    private func commit(_ group: [ChannelJob], _ channel: RelayChannelID, _ session: PostgresSession) {
        let now = ContinuousClock.now
        for job in group where job.deadline <= now {
            job.end(.failure(PostgresFailure(kind: .tooLate, message: "all connections are in use")))
        }
        let jobs = group.filter { $0.deadline > now }
        guard let deadline = jobs.deadline else { return }
        // Who asked first is answered in time, and so are all others.
        let hurried = session.ending(by: deadline)
        let commit = ChannelCommit(
            channel: channel, jobs: jobs, bounds: bounds, milliseconds: milliseconds?(),
            deadline: hurried.deadline)
        do {
            let outcome = try commit.run(hurried, numbers)
            state.withLock { $0.commitCount += 1 }
            if let moment = outcome.moment { onChange(channel, moment) }
            cleaner.noteWritten(jobs.reduce(0) { $0 + Int64($1.byteCount) })
            if outcome.hasDiscarded { cleaner.wake() }
            for (job, result) in zip(jobs, outcome.results) { job.end(result) }
        } catch let failure as PostgresFailure where jobs.count > 1 && !failure.endsConnection {
            // What the server refuses of one, such as for a full disk, it may take of another.
            for job in jobs { self.commit([job], channel, session) }
        } catch {
            for job in jobs { job.end(.failure(error)) }
        }
    }
}
