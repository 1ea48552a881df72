#if canImport(Combine) || OpenCombine
    #if canImport(Combine)
        import Combine
    #else
        import OpenCombine
    #endif

    /// The subscription of one subscriber to values, of which only the latest waits.
    ///
    /// It is `@unchecked Sendable` because the subscriber is called by one thread at a time.
    final class ObservationSubscription<Output: Sendable>: Subscription, @unchecked Sendable {
        typealias Start =
            @Sendable (
                _ onError: @escaping @Sendable (any Error) -> Void,
                _ onChange: @escaping @Sendable (Output) -> Void
            ) -> AnyDatabaseCancellable

        private struct State: @unchecked Sendable {
            var subscriber: AnySubscriber<Output, any Error>?
            var demand = Subscribers.Demand.none
            var isStarted = false
            /// Whether a thread is telling something: it tells what comes meanwhile, too.
            var isTelling = false
            var latest: Output?
            var failure: (any Error)?
            var cancellable: AnyDatabaseCancellable?
        }

        private enum Step {
            case value(AnySubscriber<Output, any Error>, Output)
            case failure(AnySubscriber<Output, any Error>, any Error)
        }

        private let start: Start
        private let state: Lock<State>

        init(_ subscriber: AnySubscriber<Output, any Error>, start: @escaping Start) {
            self.start = start
            state = Lock(State(subscriber: subscriber))
        }

        func request(_ demand: Subscribers.Demand) {
            let starts = state.withLock { state in
                state.demand += demand
                defer { state.isStarted = state.isStarted || state.demand > 0 }
                return !state.isStarted && state.demand > 0 && state.subscriber != nil
            }
            guard starts else { return tell() }
            // The observation does not keep those who are told.
            let cancellable = start(
                { [weak self] error in self?.receive { $0.failure = error } },
                { [weak self] value in self?.receive { $0.latest = value } })
            let isCancelled = state.withLock { state in
                if state.subscriber != nil { state.cancellable = cancellable }
                return state.subscriber == nil
            }
            if isCancelled { cancellable.cancel() }
        }

        func cancel() {
            // The last references go outside of the lock: they run code of others.
            let ended = state.withLock { state in
                defer { state = State(isStarted: true, isTelling: state.isTelling) }
                return state
            }
            ended.cancellable?.cancel()
        }

        private func receive(_ change: @Sendable (inout State) -> Void) {
            state.withLock { change(&$0) }
            tell()
        }

        /// Tells what there is and is demanded, unless another call does already.
        private func tell() {
            while let step = nextStep() {
                switch step {
                case .value(let subscriber, let value):
                    let demand = subscriber.receive(value)
                    state.withLock { state in
                        state.demand += demand
                        state.isTelling = false
                    }
                case .failure(let subscriber, let error):
                    subscriber.receive(completion: .failure(error))
                    cancel()
                    return
                }
            }
        }

        private func nextStep() -> Step? {
            state.withLock { state in
                guard !state.isTelling, let subscriber = state.subscriber else { return nil }
                if let value = state.latest, state.demand > 0 {
                    state.latest = nil
                    state.demand -= 1
                    state.isTelling = true
                    return .value(subscriber, value)
                }
                guard let failure = state.failure, state.latest == nil else { return nil }
                state.isTelling = true
                return .failure(subscriber, failure)
            }
        }
    }

    /// The subscription of one subscriber to the transactions that change a region.
    ///
    /// It is `@unchecked Sendable` because its state has a lock, and the subscriber is called on the
    /// writing connection only.
    final class RegionSubscription: Subscription, @unchecked Sendable {
        typealias Start =
            @Sendable (
                _ onError: @escaping @Sendable (any Error) -> Void,
                _ onChange: @escaping @Sendable (Database) -> Void
            ) -> AnyDatabaseCancellable

        private struct State: @unchecked Sendable {
            var subscriber: AnySubscriber<Database, any Error>?
            var demand = Subscribers.Demand.none
            var isStarted = false
            var cancellable: AnyDatabaseCancellable?
        }

        private let start: Start
        private let state: Lock<State>

        init(_ subscriber: AnySubscriber<Database, any Error>, start: @escaping Start) {
            self.start = start
            state = Lock(State(subscriber: subscriber))
        }

        func request(_ demand: Subscribers.Demand) {
            let starts = state.withLock { state in
                state.demand += demand
                defer { state.isStarted = true }
                return !state.isStarted && state.subscriber != nil
            }
            guard starts else { return }
            let cancellable = start(
                { [weak self] error in self?.fail(error) }, { [weak self] db in self?.tell(db) })
            let isCancelled = state.withLock { state in
                if state.subscriber != nil { state.cancellable = cancellable }
                return state.subscriber == nil
            }
            if isCancelled { cancellable.cancel() }
        }

        func cancel() {
            let ended = state.withLock { state in
                defer { state = State(isStarted: true) }
                return state
            }
            ended.cancellable?.cancel()
        }

        private func tell(_ db: Database) {
            let subscriber = state.withLock { state -> AnySubscriber<Database, any Error>? in
                guard state.demand > 0 else { return nil }
                state.demand -= 1
                return state.subscriber
            }
            guard let demand = subscriber?.receive(db) else { return }
            state.withLock { $0.demand += demand }
        }

        private func fail(_ error: any Error) {
            let subscriber = state.withLock { $0.subscriber }
            subscriber?.receive(completion: .failure(error))
            cancel()
        }
    }
#endif
