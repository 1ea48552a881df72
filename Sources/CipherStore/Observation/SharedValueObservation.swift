import Dispatch

/// How long a shared observation observes the database.
public enum SharedValueObservationExtent: Sendable {
    /// From its first subscription on, until it and all its subscriptions are released.
    case observationLifetime
    /// While there are subscriptions.
    case whileObserved
}

extension ValueObservation {
    /// Makes an observation whose fetches serve all who are interested.
    ///
    /// ```swift
    /// let players = ValueObservation.tracking(Player.fetchAll).shared(in: dbPool)
    /// let first = players.start(onError: …, onChange: …)    // fetches
    /// let second = players.start(onError: …, onChange: …)   // is told what is there
    /// ```
    ///
    /// - parameters:
    ///     - reader: The database, which is kept open.
    ///     - scheduler: Where values are told; by default, on the main queue.
    ///     - extent: How long it observes the database; by default, while there are subscriptions, so that
    ///       what nobody watches fetches nothing.
    public func shared(
        in reader: any DatabaseReader,
        scheduling scheduler: some ValueObservationScheduler = .async(onQueue: .main),
        extent: SharedValueObservationExtent = .whileObserved
    ) -> SharedValueObservation<Reducer.Value> {
        SharedValueObservation(scheduler: scheduler, extent: extent) { inner, onError, onChange in
            start(in: reader, scheduling: inner, onError: onError, onChange: onChange)
        }
    }
}

/// An observation whose fetches serve all who are interested:
/// ``ValueObservation/shared(in:scheduling:extent:)``.
///
/// The first subscription starts to observe the database. Those that follow, while it is observed, are
/// told the latest value at once, which may be told twice.
/// An error ends all subscriptions. The next one starts to observe the database anew.
public final class SharedValueObservation<Element: Sendable>: Sendable {
    typealias Start =
        @Sendable (
            InlineScheduler, _ onError: @escaping @Sendable (any Error) -> Void,
            _ onChange: @escaping @Sendable (Element) -> Void
        ) -> AnyDatabaseCancellable

    private enum Phase {
        case idle
        /// The database is observed; a value may be there, and an object to cancel.
        case observing(latest: Element?, AnyDatabaseCancellable?)
    }

    private struct State {
        var phase = Phase.idle
        /// Which observation of the database it is: an older one may still be telling something.
        var round = 0
        var nextID = 0
        var subscriptions: [Int: Subscription<Element>] = [:]
    }

    private let scheduler: any ValueObservationScheduler
    private let extent: SharedValueObservationExtent
    private let startBase: Start
    private let state = Lock(State())

    init(
        scheduler: any ValueObservationScheduler, extent: SharedValueObservationExtent,
        start: @escaping Start
    ) {
        self.scheduler = scheduler
        self.extent = extent
        startBase = start
    }

    /// Subscribes to the values.
    ///
    /// - parameters:
    ///     - onError: Called with the error that ends the observation.
    ///     - onChange: Called with the latest value, and with those that follow.
    /// - returns: An object that ends the subscription when it is cancelled or released.
    public func start(
        onError: @escaping @Sendable (any Error) -> Void,
        onChange: @escaping @Sendable (Element) -> Void
    ) -> AnyDatabaseCancellable {
        let isImmediate = scheduler.immediateInitialValue()
        let subscription = Subscription(
            scheduler, isReserved: isImmediate, onError: onError, onChange: onChange)
        let (id, round) = subscribe(subscription)
        if let round { observe(round, isImmediate: isImmediate) }
        if isImmediate { subscription.tellNow() } else { subscription.tellSoon() }
        return AnyDatabaseCancellable { [self] in
            subscription.cancel()
            unsubscribe(id)
        }
    }

    /// Gives the values to loops, each of which is a subscription of its own.
    ///
    /// - parameter bufferingPolicy: What becomes of values that come faster than the loop
    ///   takes them; by default, they wait.
    public func values(
        bufferingPolicy: AsyncValueObservation<Element>.BufferingPolicy = .unbounded
    ) -> AsyncValueObservation<Element> {
        AsyncValueObservation(bufferingPolicy: bufferingPolicy) { [self] onError, onChange in
            start(onError: onError, onChange: onChange)
        }
    }

    // MARK: Subscriptions

    /// Adds a subscription, with what there is to tell.
    ///
    /// - returns: Its number, and that of the observation of the database that is to be started.
    private func subscribe(_ subscription: Subscription<Element>) -> (id: Int, round: Int?) {
        state.withLock { state in
            let id = state.nextID
            state.nextID += 1
            switch state.phase {
            case .observing(let latest, _):
                state.subscriptions[id] = subscription
                if let latest { subscription.append(.success(latest)) }
                return (id, nil)
            case .idle:
                state.subscriptions[id] = subscription
                state.round += 1
                state.phase = .observing(latest: nil, nil)
                return (id, state.round)
            }
        }
    }

    private func unsubscribe(_ id: Int) {
        // The last references go outside of the lock: they run code of others.
        let ended: (Subscription<Element>?, AnyDatabaseCancellable?) = state.withLock { state in
            let subscription = state.subscriptions.removeValue(forKey: id)
            guard state.subscriptions.isEmpty, extent == .whileObserved,
                case .observing(_, let cancellable) = state.phase
            else { return (subscription, nil) }
            state.phase = .idle
            return (subscription, cancellable)
        }
        ended.1?.cancel()
    }

    // MARK: The observation of the database

    private func observe(_ round: Int, isImmediate: Bool) {
        let cancellable = startBase(
            InlineScheduler(isImmediate: isImmediate),
            { [weak self] error in self?.receive(.failure(error), round) },
            { [weak self] value in self?.receive(.success(value), round) })
        let isObserving = state.withLock { state in
            guard state.round == round, case .observing(let latest, _) = state.phase else { return false }
            state.phase = .observing(latest: latest, cancellable)
            return true
        }
        // It failed already, or nobody is interested any more.
        if !isObserving { cancellable.cancel() }
    }

    private func receive(_ result: Result<Element, any Error>, _ round: Int) {
        let (subscriptions, ended) = state.withLock {
            state -> ([Subscription<Element>], AnyDatabaseCancellable?) in
            guard state.round == round, case .observing(_, let cancellable) = state.phase else {
                return ([], nil)
            }
            // By number, so that the first to come is the first to be told.
            let subscriptions = state.subscriptions.sorted { $0.key < $1.key }.map(\.value)
            for subscription in subscriptions { subscription.append(result) }
            switch result {
            case .success(let value):
                state.phase = .observing(latest: value, cancellable)
                return (subscriptions, nil)
            case .failure:
                state.phase = .idle
                state.subscriptions = [:]
                return (subscriptions, cancellable)
            }
        }
        withExtendedLifetime(ended) {
            for subscription in subscriptions { subscription.tellSoon() }
        }
    }
}

/// One who is told the values of a shared observation.
private final class Subscription<Element: Sendable>: Sendable {
    private struct Receivers: Sendable {
        let onError: @Sendable (any Error) -> Void
        let onChange: @Sendable (Element) -> Void
    }

    private let actions: OrderedActions
    private let receivers: Lock<Receivers?>

    init(
        _ scheduler: any ValueObservationScheduler, isReserved: Bool,
        onError: @escaping @Sendable (any Error) -> Void, onChange: @escaping @Sendable (Element) -> Void
    ) {
        actions = OrderedActions(scheduler, isReserved: isReserved)
        receivers = Lock(Receivers(onError: onError, onChange: onChange))
    }

    /// Adds something to tell. It is called while a lock is held.
    func append(_ result: Result<Element, any Error>) {
        actions.append { [self] in tell(result) }
    }

    /// Tells what there is, where the scheduler says.
    func tellSoon() { actions.runSoon() }

    /// Tells the first value on this thread.
    func tellNow() { actions.runNow() }

    func cancel() {
        let ended = receivers.withLock { receivers in
            defer { receivers = nil }
            return receivers
        }
        withExtendedLifetime(ended) {}
    }

    private func tell(_ result: Result<Element, any Error>) {
        let receivers = receivers.withLock { $0 }
        switch result {
        case .success(let value): receivers?.onChange(value)
        case .failure(let error): receivers?.onError(error)
        }
    }
}

/// Tells values where they come from, to those who schedule them themselves.
struct InlineScheduler: ValueObservationScheduler {
    let isImmediate: Bool

    func immediateInitialValue() -> Bool { isImmediate }

    func schedule(_ action: @escaping @Sendable () -> Void) { action() }
}
