import Dispatch

/// Runs an observation of a pool: values are fetched on readers, beside the
/// writes that follow the change. ``ConcurrentTracking`` decides what is done when.
final class ConcurrentObserver<Reducer: ValueReducer>: RoundRead {
    private struct Running {
        var tracking = ConcurrentTracking()
        /// Who watches the region. The writer does not retain it.
        var observer: RegionObserver?
        /// What tells of commits of others.
        var others: OtherCommits.Registration?
    }

    private let pool: DatabasePool
    private let delivery: ObservationDelivery<Reducer>

    /// What goes on, or nil when the observation has ended.
    private let running = Lock<Running?>(Running())

    init(_ pool: DatabasePool, _ delivery: ObservationDelivery<Reducer>) {
        self.pool = pool
        self.delivery = delivery
    }

    /// Starts the observation.
    func start() {
        delivery.observation.events.willStart.callAll()
        let others = pool.writer.observeOtherCommits { [weak self] _ in self?.othersCommitted() }
        running.withLock { $0?.others = others }
        guard delivery.isImmediate else { return scheduleFetch() }
        let isReduced = DispatchSemaphore(value: 0)
        var actions: ConcurrentTracking.Actions?
        do {
            actions = try pool.unsafeRead { db in fetch(db) { isReduced.signal() } }
        } catch {
            fail(error) { isReduced.signal() }
        }
        isReduced.wait()
        delivery.tellFirst()
        finishFetch(actions)
    }

    /// Ends the observation.
    func cancel() {
        end()
        delivery.cancel()
    }

    private func end() {
        // The last reference to an observer goes outside of the lock.
        let ended = running.withLock { running in
            defer { running = nil }
            return running
        }
        withExtendedLifetime(ended) {}
    }

    // MARK: Fetching

    private func scheduleFetch() { pool.readerRounds.add(self, on: pool) }

    func read(_ db: Database) { finishFetch(fetch(db)) }

    func cannotRead(_ error: any Error) { fail(error) }

    /// - returns: What is to be done next.
    private func fetch(
        _ db: Database, completion: (@Sendable () -> Void)? = nil
    ) -> ConcurrentTracking.Actions? {
        let needsRegion: Bool? = running.withLock { running in
            running?.tracking.fetchBegins()
            guard let tracking = running?.tracking else { return nil }
            if case .lastFetch = delivery.observation.tracking { return true }
            return !tracking.knowsRegion
        }
        guard let needsRegion else {
            completion?()
            return nil
        }
        let commitCount = pool.writer.commitCount
        do {
            let (fetched, region) = try db.fetchThroughInterruptions(
                delivery.observation, needsRegion: needsRegion, while: { isRunning })
            let actions = running.withLock {
                $0?.tracking.fetchFinds(region: region, commitCount: commitCount)
            }
            if let region = actions?.toldRegion {
                delivery.observation.events.willTrackRegion.callAll(region)
            }
            submit(.success(fetched), completion)
            return actions
        } catch {
            fail(error, completion)
            return nil
        }
    }

    private var isRunning: Bool { running.withLock { $0 != nil } }

    /// Goes on when the value is on its way, so that no other one overtakes it.
    private func finishFetch(_ actions: ConcurrentTracking.Actions?) {
        guard let actions else { return }
        if actions.schedulesAccess {
            pool.asyncWriteWithoutTransaction { [self] db in track(db) }
        }
        let isOutdated = running.withLock { $0?.tracking.fetchEnds() }
        if isOutdated ?? false { scheduleFetch() }
    }

    private func fail(_ error: any Error, _ completion: (@Sendable () -> Void)? = nil) {
        // After the first value, an observation of a closed pool just has no more of them.
        let isStarted = running.withLock { $0?.tracking.knowsRegion ?? true }
        end()
        if isStarted && pool.isClosed {
            completion?()
        } else {
            submit(.failure(error), completion)
        }
    }

    private func submit(
        _ result: Result<Reducer.Fetched, any Error>, _ completion: (@Sendable () -> Void)?
    ) {
        delivery.submit(result, onFailure: { [self] in end() }, completion: completion)
    }

    // MARK: Tracking

    /// Watches the region that counts, in an access to the writer.
    private func track(_ db: Database) {
        // Those that came after the fetch count like those of the pool.
        pool.writer.noticeOtherCommits(db)
        let commitCount = pool.writer.commitCount
        let actions = running.withLock { $0?.tracking.accessBegins(commitCount: commitCount) }
        guard let actions, let region = actions.watchedRegion, !db.isClosed else { return }
        let observer = RegionObserver(region) { [weak self] _ in self?.regionDidChange() }
        running.withLock { $0?.observer = observer }
        if !region.isEmpty { db.add(transactionObserver: observer) }
        // A transaction that was left open is not known from its beginning.
        if db.isInsideTransaction {
            db.afterNextTransaction { [weak self] _ in self?.regionDidChange() }
        }
        if let region = actions.toldRegion {
            delivery.observation.events.willTrackRegion.callAll(region)
        }
        if actions.mayHaveChanged { delivery.observation.events.databaseDidChange.callAll() }
        if actions.schedulesFetch { scheduleFetch() }
    }

    /// Another connection has committed something, nobody knows what.
    private func othersCommitted() {
        let isConcerned = running.withLock { $0?.tracking.mayConcern ?? false }
        if isConcerned { regionDidChange() }
    }

    private func regionDidChange() {
        let schedulesFetch = running.withLock { $0?.tracking.regionChanges() }
        guard let schedulesFetch else { return }
        delivery.observation.events.databaseDidChange.callAll()
        if schedulesFetch { scheduleFetch() }
    }
}
