import Dispatch

/// Brings what an observation fetches to whom it is for.
///
/// ```
/// access to the database ──fetched──▶ own queue ──reduced──▶ scheduler ──▶ receivers
/// ```
///
/// What is told as it was fetched, and later, takes no own queue: to wake its thread takes longer than a short fetch, and
/// a thousand observations would wake some hundred threads at each commit.
///
/// Each arrow keeps the order. An observation is running until it has failed,
/// when its error is still to be told, and then ended; a cancellation ends it at once.
///
/// It is `@unchecked Sendable` because `reducer` is touched on `queue` only, or by one fetch after the other.
final class ObservationDelivery<Reducer: ValueReducer>: @unchecked Sendable {
    /// Whom the values are for.
    struct Receivers: Sendable {
        let onError: @Sendable (any Error) -> Void
        let onChange: @Sendable (Reducer.Value) -> Void
    }

    private enum State {
        case running(Receivers)
        case failed(Receivers)
        case ended
    }

    let observation: ValueObservation<Reducer>

    /// Whether the first value is told before the start returns.
    let isImmediate: Bool

    private let state: Lock<State>
    private let queue = DispatchQueue(label: "CipherStore.ValueObservation", qos: .userInitiated)
    private var reducer: Reducer
    private let actions: OrderedActions

    /// Whether values go from the fetch to the scheduler.
    private let isDirect: Bool

    init(
        _ observation: ValueObservation<Reducer>, _ scheduler: some ValueObservationScheduler,
        _ receivers: Receivers
    ) {
        self.observation = observation
        reducer = observation.reducer
        isDirect =
            scheduler is any DeferringScheduler
            && (observation.reducer as? any PassingReducer)?.passesOn == true
        isImmediate = scheduler.immediateInitialValue()
        actions = OrderedActions(scheduler, isReserved: isImmediate)
        state = Lock(.running(receivers))
    }

    /// Takes what was fetched, or why it could not be. It is called in the order
    /// of the fetches, and returns at once.
    ///
    /// - parameters:
    ///     - result: What was fetched. An error is the end.
    ///     - onFailure: Called when the observation has failed.
    ///     - completion: Called when the value is on its way.
    func submit(
        _ result: Result<Reducer.Fetched, any Error>, onFailure: @escaping @Sendable () -> Void,
        completion: (@Sendable () -> Void)? = nil
    ) {
        // An error is the last that comes, and functions of the app may be called with it.
        if isDirect, case .success = result {
            reduce(result, onFailure)
            completion?()
            return
        }
        queue.async { [self] in
            reduce(result, onFailure)
            completion?()
        }
    }

    /// Tells the first value, on this thread, if there is one.
    func tellFirst() { actions.runNow() }

    /// Ends the observation.
    func cancel() {
        let wasRunning = state.withLock { state in
            defer { state = .ended }
            if case .running = state { return true } else { return false }
        }
        if wasRunning { observation.events.didCancel.callAll() }
    }

    private var isRunning: Bool {
        state.withLock { if case .running = $0 { true } else { false } }
    }

    private func reduce(
        _ result: Result<Reducer.Fetched, any Error>, _ onFailure: @Sendable () -> Void
    ) {
        guard isRunning else { return }
        do {
            guard let value = try reducer.reduce(result.get()) else { return }
            actions.append { [self] in tell(value) }
            actions.runSoon()
        } catch {
            onFailure()
            fail(error)
        }
    }

    private func fail(_ error: any Error) {
        let wasRunning = state.withLock { state in
            guard case .running(let receivers) = state else { return false }
            state = .failed(receivers)
            return true
        }
        guard wasRunning else { return }
        observation.events.didFail.callAll(error)
        actions.append { [self] in tell(error) }
        actions.runSoon()
    }

    // Receivers are called without the lock: they may cancel.

    private func tell(_ value: Reducer.Value) {
        let receivers: Receivers? = state.withLock { state in
            switch state {
            case .running(let receivers), .failed(let receivers): receivers
            case .ended: nil
            }
        }
        receivers?.onChange(value)
    }

    private func tell(_ error: any Error) {
        let receivers: Receivers? = state.withLock { state in
            guard case .failed(let receivers) = state else { return nil }
            state = .ended
            return receivers
        }
        receivers?.onError(error)
    }
}
