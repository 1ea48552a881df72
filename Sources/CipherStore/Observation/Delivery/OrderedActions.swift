/// Functions that run where a scheduler says, in the order in which they came and
/// one after the other.
///
/// A scheduler may start two functions at one moment, as tasks do: here the next
/// one is scheduled when the one before is done.
final class OrderedActions: Sendable {
    typealias Action = @Sendable () -> Void

    private enum Phase {
        /// Nothing is scheduled.
        case idle
        /// A function is scheduled or runs, or somebody is about to call `runNow()`.
        case busy
    }

    private struct State {
        var phase: Phase
        var actions: [Action] = []
    }

    private let scheduler: any ValueObservationScheduler
    private let state: Lock<State>

    /// Makes an empty sequence.
    ///
    /// - parameter isReserved: Whether nothing is scheduled before `runNow()` was called.
    init(_ scheduler: any ValueObservationScheduler, isReserved: Bool) {
        self.scheduler = scheduler
        state = Lock(State(phase: isReserved ? .busy : .idle))
    }

    /// Adds a function. It is scheduled by `runSoon()`, or after those that run.
    func append(_ action: @escaping Action) {
        state.withLock { $0.actions.append(action) }
    }

    /// Schedules the first function, if nothing is scheduled.
    func runSoon() {
        let isFirst = state.withLock { state in
            guard state.phase == .idle, !state.actions.isEmpty else { return false }
            state.phase = .busy
            return true
        }
        if isFirst { schedule() }
    }

    /// Runs the first function on this thread, and schedules those after it.
    /// Nothing may be scheduled or running.
    func runNow() {
        state.withLock { $0.phase = .busy }
        run()
    }

    private func schedule() {
        scheduler.schedule { [self] in run() }
    }

    private func run() {
        let action = state.withLock { state in
            state.actions.isEmpty ? nil : state.actions.removeFirst()
        }
        action?()
        let isEmpty = state.withLock { state in
            if state.actions.isEmpty { state.phase = .idle }
            return state.actions.isEmpty
        }
        if !isEmpty { schedule() }
    }
}
