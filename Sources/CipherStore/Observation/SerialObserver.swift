import Dispatch

/// Runs an observation on a connection that writes: each transaction that
/// changes the region is followed by a fetch, before anything else is written.
///
/// Its states are starting → fetching → tracking → fetching → …, and ended.
/// Changes are noticed while it is tracking, so what a fetch writes itself does not make
/// it fetch again.
final class SerialObserver<Reducer: ValueReducer>: Sendable {
    /// The region that counts, and who watches it.
    private struct Watch: Sendable {
        let region: DatabaseRegion
        let observer: RegionObserver
    }

    private enum State {
        case starting
        case fetching(Watch?)
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

    private func fetch(_ db: Database, completion: (@Sendable () -> Void)? = nil) {
        let watch: Watch?? = state.withLock { state in
            switch state {
            case .starting:
                state = .fetching(nil)
                return .some(nil)
            case .tracking(let watch):
                state = .fetching(watch)
                return watch
            case .fetching, .ended: return nil
            }
        }
        guard let watch else {
            completion?()
            return
        }
        let wasSuspended = db.interruption.isSuspended
        do {
            let (fetched, region) = try db.fetchThroughInterruptions(
                delivery.observation, needsRegion: needsRegion(watch), while: { isRunning })
            track(region ?? watch?.region ?? DatabaseRegion(), since: watch, db)
            submit(.success(fetched), completion)
        } catch {
            if let watch, wasSuspended || db.interruption.isSuspended, waitForResume(watch, error) {
                completion?()
                return
            }
            end()
            submit(.failure(error), completion)
        }
    }

    /// Goes on tracking after a fetch that a suspension did not let take a lock, and fetches after its end.
    ///
    /// - returns: Whether the error came of that.
    private func waitForResume(_ watch: Watch, _ error: any Error) -> Bool {
        guard let connection, (error as? DatabaseError)?.isInterruptionError == true else { return false }
        _ = finishFetching(watch)
        connection.afterResume { [weak self] db in
            if !db.isClosed { self?.regionDidChange(db) }
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

    private func track(_ region: DatabaseRegion, since watch: Watch?, _ db: Database) {
        if let watch, watch.region == region {
            _ = finishFetching(watch)
            return
        }
        delivery.observation.events.willTrackRegion.callAll(region)
        let observer = RegionObserver(region) { [weak self] db in self?.regionDidChange(db) }
        guard finishFetching(Watch(region: region, observer: observer)) else { return }
        if !region.isEmpty { db.add(transactionObserver: observer) }
        // A transaction that was left open is not known from its beginning. A read changes nothing.
        if db.isInsideTransaction && !db.isInsideRead {
            let refetch: (Database) -> Void = { [weak self] db in self?.regionDidChange(db) }
            db.afterNextTransaction(onCommit: refetch, onRollback: refetch)
        }
    }

    /// - returns: Whether the observation goes on.
    private func finishFetching(_ watch: Watch) -> Bool {
        state.withLock { state in
            guard case .fetching = state else { return false }
            state = .tracking(watch)
            return true
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
        let isTracking = state.withLock { if case .tracking = $0 { true } else { false } }
        guard isTracking else { return }
        delivery.observation.events.databaseDidChange.callAll()
        db.apartFromAccess { fetch(db) }
    }
}
