import SyncRelay
import SyncctlCommands
import Synchronization

/// What a relay tells of a channel while a store is watched.
final class RelayFeed: Sendable {
    private struct State {
        /// The moment that was told last.
        var told: RelayMoment?
        /// The one that was the reason of an exchange.
        var used: RelayMoment?
        /// What was not reported yet.
        var failure: (error: RelayError, seconds: Double)?
        var isBack = false
        /// Whether a failure was reported, and no connection since.
        var isBroken = false
        /// What the watch itself does not try again after.
        var end: (any Error)?
        /// When it ended so, and how often since a connection came about.
        var ended = ContinuousClock.now
        var endCount = 0
        var task: Task<Void, Never>?
    }

    /// Tells each moment until it is cancelled or fails.
    typealias Listening =
        @Sendable (
            _ options: RelayWatch.Options, _ tell: @Sendable (RelayMoment) -> Void
        ) async throws -> Void

    private let known: @Sendable () -> RelayMoment?
    private let listening: Listening
    private let wake: @Sendable () -> Void
    private let state = Mutex(State())

    /// Prepares it; nil for what is no relay.
    ///
    /// - parameter wake: Called when there is something to look at.
    convenience init?(_ relay: OpenedRelay?, wake: @escaping @Sendable () -> Void) {
        guard let mailbox = relay?.transport.mailbox as? RelayMailbox else { return nil }
        self.init(
            known: { mailbox.known }, wake: wake,
            listening: { options, tell in
                for try await moment in mailbox.watch(options) { tell(moment) }
            })
    }

    /// Prepares it for any channel.
    ///
    /// - parameters:
    ///   - known: The moment up to which all is known.
    ///   - wake: Called when there is something to look at.
    ///   - listening: What tells the moments.
    init(
        known: @escaping @Sendable () -> RelayMoment?, wake: @escaping @Sendable () -> Void,
        listening: @escaping Listening
    ) {
        (self.known, self.wake, self.listening) = (known, wake, listening)
    }

    /// How long a relay is left alone that refused twice in a row.
    private static let refusalPause = Duration.seconds(60)

    /// Begins to listen, unless it does already. What is known then need not be told.
    func start() {
        let isDue = state.withLock { state -> Bool in
            guard state.task == nil else { return false }
            return state.endCount < 2 || ContinuousClock.now - state.ended >= Self.refusalPause
        }
        guard isDue else { return }
        let task = Task.detached { [self] in await listen() }
        state.withLock { $0.task = task }
    }

    /// Ends it.
    func stop() { state.withLock { $0.task }?.cancel() }

    private func listen() async {
        var options = RelayWatch.Options()
        options.onConnection = { [self] in
            state.withLock { state in
                state.endCount = 0
                if state.isBroken { state.isBack = true }
            }
            wake()
        }
        options.onFailure = { [self] error, seconds in
            state.withLock { $0.failure = (error, seconds) }
            wake()
        }
        do {
            try await listening(options) { [self] moment in
                state.withLock { $0.told = moment }
                wake()
            }
        } catch {
            state.withLock { state in
                state.end = error
                state.ended = .now
                state.endCount += 1
            }
            wake()
        }
    }

    /// Whether a moment was told that is not known yet, and that no exchange was made for.
    func hasNews() -> Bool {
        let known = known()
        return state.withLock { state in
            guard let told = state.told, told != known, told != state.used else { return false }
            state.used = told
            return true
        }
    }

    /// How long nothing may be told before what was told is looked at, in seconds.
    private static let quietSeconds = 0.1
    private static let quietCountMax = 10

    /// Waits until nothing more is told for a moment. A replica writes a bundle that is too large for one change before the
    /// head that lists it: who looks in between can't rely on the bundle yet, and would write its changes again.
    ///
    /// - parameter wait: Waits for some seconds, or until there is news.
    func settle(_ wait: (Double) -> Void) {
        for _ in 0..<Self.quietCountMax {
            let told = state.withLock { $0.told }
            wait(Self.quietSeconds)
            if state.withLock({ $0.told == told }) { break }
        }
        state.withLock { $0.used = $0.told }
    }

    /// Reports what became of the connection. Of several failures in a row, the first one is.
    ///
    /// - throws: What ended it. The next ``start()`` listens again.
    func report(onConnection: () throws -> Void, onFailure: (Failure, Double) throws -> Void) throws {
        let (isBack, failure, end) = state.withLock { state in
            let failure = state.isBroken ? nil : state.failure
            defer {
                if failure != nil { state.isBroken = true }
                if state.isBack { state.isBroken = false }
                (state.isBack, state.failure) = (false, nil)
                if state.end != nil { (state.end, state.task) = (nil, nil) }
            }
            return (state.isBack, failure, state.end)
        }
        if let failure { try onFailure(Failure(explaining: failure.error), failure.seconds) }
        if isBack { try onConnection() }
        if let end { throw end }
    }
}
