import Dispatch

/// Runs an observation on a connection that writes: each transaction that
/// changes the region is followed by a fetch, before anything else is written.
///
/// Its states are starting → fetching → tracking → fetching → …, and ended.
/// Changes are noticed while it is tracking, so what a fetch writes itself does not make
/// it fetch again. What others write when they are told of that does, once.
final class SerialObserver<Reducer: ValueReducer>: Sendable {
    /// The region that counts, and who watches it.
    private struct Watch: Sendable {
        let region: DatabaseRegion
        let observer: RegionObserver
    }

    private struct Fetching: Sendable {
        let watch: Watch?
        /// How many ends of transactions were being told when it began. That of the fetch itself is one more.
        let toldCount: Int
        /// Whether a later transaction has changed the region.
        var isOutdated = false
    }

    private enum State {
        case starting
        case fetching(Fetching)
        case tracking(Watch)
        case ended
    }

    private let delivery: ObservationDelivery<Reducer>

    /// The connection of the writer.
    private let connection: SerializedDatabase?

    private let state = Lock(State.starting)

    /// What tells of commits of others.
    private let others = Lock<OtherCommits.Registration?>(nil)

    init(_ delivery: ObservationDelivery<Reducer>, _ connection: SerializedDatabase?) {
        self.delivery = delivery
        self.connection = connection
    }

    /// Starts the observation.
    func start(in writer: any DatabaseWriter) {
        delivery.observation.events.willStart.callAll()
        let registration = connection?.observeOtherCommits { [weak self] db in self?.othersCommitted(db) }
        others.withLock { $0 = registration }
        guard delivery.isImmediate else {
            return writer.asyncWriteWithoutTransaction { [self] db in
                connection?.noticeOtherCommits(db)
                fetch(db)
            }
        }
        let isReduced = DispatchSemaphore(value: 0)
        // The access that the start may be a part of is used: the value is told before the start returns.
        writer.unsafeReentrantWrite { db in
            connection?.noticeOtherCommits(db)
            fetch(db) { isReduced.signal() }
        }
        isReduced.wait()
        delivery.tellFirst()
    }

    /// Ends the observation.
    func cancel() {
        end()
        delivery.cancel()
    }

    // The connection does not retain the region's observer, which ends with the state.

    private func end() {
        state.withLock { $0 = .ended }
        let ended = others.withLock { others in
            defer { others = nil }
            return others
        }
        withExtendedLifetime(ended) {}
    }

    // MARK: Fetching

    private func fetch(
        _ db: Database, isRepeated: Bool = false, completion: (@Sendable () -> Void)? = nil
    ) {
        let toldCount = db.transactionEnd.toldCount
        let fetching: Fetching? = state.withLock { state in
            let fetching: Fetching
            switch state {
            case .starting: fetching = Fetching(watch: nil, toldCount: toldCount)
            case .tracking(let watch): fetching = Fetching(watch: watch, toldCount: toldCount)
            case .fetching, .ended: return nil
            }
            state = .fetching(fetching)
            return fetching
        }
        guard let fetching else {
            completion?()
            return
        }
        let watch = fetching.watch
        let wasSuspended = db.interruption.isSuspended
        do {
            let (fetched, region) = try db.fetchThroughInterruptions(
                delivery.observation, needsRegion: needsRegion(watch), while: { isRunning })
            let isOutdated = track(region ?? watch?.region ?? DatabaseRegion(), since: watch, db)
            submit(.success(fetched), completion)
            // Once, because somebody may react to the commit of each fetch.
            if isOutdated && !isRepeated {
                delivery.observation.events.databaseDidChange.callAll()
                fetch(db, isRepeated: true)
            }
        } catch {
            if wasSuspended || db.interruption.isSuspended, waitForResume(watch, error) {
                completion?()
                return
            }
            end()
            submit(.failure(error), completion)
        }
    }

    /// Goes on after a fetch that a suspension did not let take a lock, and fetches after its end.
    ///
    /// - parameters:
    ///     - watch: Who watches the region; nil when that was the first fetch.
    ///     - error: Why the fetch failed.
    /// - returns: Whether the error came of that, and the observation goes on.
    private func waitForResume(_ watch: Watch?, _ error: any Error) -> Bool {
        guard let connection, (error as? DatabaseError)?.isInterruptionError == true else { return false }
        guard let watch else { return startAfterResume(connection) }
        finishFetching(watch)
        connection.afterResume { [weak self] db in
            if !db.isClosed { self?.regionDidChange(db) }
        }
        return true
    }

    /// Fetches the first value after a suspension.
    ///
    /// - returns: Whether that is possible: a start that tells the value before it returns can't wait for it.
    private func startAfterResume(_ connection: SerializedDatabase) -> Bool {
        guard !delivery.isImmediate else { return false }
        state.withLock { state in
            if case .fetching = state { state = .starting }
        }
        connection.afterResume { [weak self] db in
            // As an observation that had its first value before the suspension, it is over without an error.
            guard let self, !db.isClosed else { return }
            self.connection?.noticeOtherCommits(db)
            self.fetch(db)
        }
        return true
    }

    private var isRunning: Bool {
        state.withLock { if case .ended = $0 { false } else { true } }
    }

    private func needsRegion(_ watch: Watch?) -> Bool {
        if case .lastFetch = delivery.observation.tracking { return true }
        return watch == nil
    }

    private func submit(
        _ result: Result<Reducer.Fetched, any Error>, _ completion: (@Sendable () -> Void)?
    ) {
        delivery.submit(result, onFailure: { [self] in end() }, completion: completion)
    }

    // MARK: Tracking

    /// - returns: Whether the region has changed since the fetch.
    private func track(_ region: DatabaseRegion, since watch: Watch?, _ db: Database) -> Bool {
        if let watch, watch.region == region { return finishFetching(watch)?.isOutdated ?? false }
        delivery.observation.events.willTrackRegion.callAll(region)
        let observer = RegionObserver(region) { [weak self] db in self?.regionDidChange(db) }
        guard let fetching = finishFetching(Watch(region: region, observer: observer)) else { return false }
        if !region.isEmpty { db.add(transactionObserver: observer) }
        // A transaction that was left open is not known from its beginning. A read changes nothing.
        if db.isInsideTransaction && !db.isInsideRead {
            let refetch: (Database) -> Void = { [weak self] db in self?.regionDidChange(db) }
            db.afterNextTransaction(onCommit: refetch, onRollback: refetch)
        }
        return fetching.isOutdated
    }

    /// - returns: The fetch that has ended, if the observation goes on.
    @discardableResult private func finishFetching(_ watch: Watch) -> Fetching? {
        state.withLock { state in
            guard case .fetching(let fetching) = state else { return nil }
            state = .tracking(watch)
            return fetching
        }
    }

    /// Another connection has committed something, nobody knows what.
    private func othersCommitted(_ db: Database) {
        let isConcerned = state.withLock { state in
            if case .tracking(let watch) = state { !watch.region.isEmpty } else { false }
        }
        if isConcerned { regionDidChange(db) }
    }

    private func regionDidChange(_ db: Database) {
        let toldCount = db.transactionEnd.toldCount
        let isTracking = state.withLock { state in
            switch state {
            case .tracking: return true
            case .starting, .ended: return false
            case .fetching(var fetching):
                // The transaction is the fetch's own, or of somebody who was told of that one.
                if toldCount > fetching.toldCount + 1 { fetching.isOutdated = true }
                state = .fetching(fetching)
                return false
            }
        }
        guard isTracking else { return }
        delivery.observation.events.databaseDidChange.callAll()
        db.apartFromAccess { fetch(db) }
    }
}
