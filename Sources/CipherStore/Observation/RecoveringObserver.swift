import Dispatch

/// Runs an observation that goes on after an error: when one has ended it, it starts another one as soon as the
/// cause of the error may be gone.
///
/// That is after a commit of whomever, which may have brought a table or a value that can be decoded; and, where
/// an error may pass by itself, as that of a lock does, after a while.
final class RecoveringObserver<Reducer: ValueReducer>: Sendable {
    /// The first pause before it is tried again, and the longest, in milliseconds.
    private static var pauses: (first: Int, longest: Int) { (50, 2000) }

    private struct State {
        var isCancelled = false
        /// How many observations were started.
        var startCount = 0
        /// The observation that was started last.
        var cancellable: AnyDatabaseCancellable?
        /// What waits for commits, while there is an error.
        var wait: CommitWait?
        /// Whether the next signal starts an observation.
        var isWaiting = false
        /// Whether a signal came while an observation was being tried, which may not have seen its commit.
        var hasMissedSignal = false
        var pause = 0
        var lastError: String?
        var others: OtherCommits.Registration?
    }

    private let observation: ValueObservation<Reducer>
    private let database: any DatabaseReader
    private let connection: SerializedDatabase?
    private let scheduler: any ValueObservationScheduler
    private let receivers: ObservationDelivery<Reducer>.Receivers
    private let state = Lock(State())

    /// - parameter observation: An observation that ends with an error.
    init(
        _ observation: ValueObservation<Reducer>, in database: any DatabaseReader,
        _ connection: SerializedDatabase?, _ scheduler: any ValueObservationScheduler,
        _ receivers: ObservationDelivery<Reducer>.Receivers
    ) {
        self.observation = observation
        self.database = database
        self.connection = connection
        self.scheduler = scheduler
        self.receivers = receivers
    }

    /// Starts the observation.
    func start() { run(scheduler) }

    /// Ends the observation.
    func cancel() {
        let ended = state.withLock { state in
            let ended = state
            state = State()
            state.isCancelled = true
            return ended
        }
        ended.cancellable?.cancel()
    }

    private func run(_ scheduler: some ValueObservationScheduler) {
        let number = state.withLock { state in
            state.startCount += 1
            return state.startCount
        }
        let cancellable = observation.start(
            in: database, scheduling: scheduler, onError: { [self] in receive($0) },
            onChange: { [self] in receive($0) })
        // An observation may fail, and be followed by another one, before its own start has returned.
        let ended = state.withLock { state -> AnyDatabaseCancellable? in
            guard !state.isCancelled, number == state.startCount else { return cancellable }
            defer { state.cancellable = cancellable }
            return state.cancellable
        }
        ended?.cancel()
    }

    private func receive(_ value: Reducer.Value) {
        let (isCancelled, ended) = state.withLock { state in
            let ended = (state.wait, state.others)
            state.wait = nil
            state.others = nil
            state.isWaiting = false
            state.hasMissedSignal = false
            state.pause = 0
            state.lastError = nil
            return (state.isCancelled, ended)
        }
        withExtendedLifetime(ended) {}
        if !isCancelled { receivers.onChange(value) }
    }

    private func receive(_ error: any Error) {
        let text = "\(error)"
        let (isNew, isFirst, hasMissed, pause) = state.withLock { state -> (Bool, Bool, Bool, Int) in
            guard !state.isCancelled else { return (false, false, false, 0) }
            defer { state.hasMissedSignal = false }
            let isNew = state.lastError != text
            let isFirst = state.lastError == nil
            state.lastError = text
            state.isWaiting = true
            state.pause = min(max(state.pause * 2, Self.pauses.first), Self.pauses.longest)
            return (isNew, isFirst, state.hasMissedSignal, state.pause)
        }
        guard pause > 0 else { return }
        if isNew { receivers.onError(error) }
        guard !database.isClosedError(error) else { return }
        if isFirst { waitForCommits() }
        if hasMissed { return tryAgain() }
        if error.mayPass {
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(pause)) { [weak self] in
                self?.tryAgain()
            }
        }
    }

    private func waitForCommits() {
        let wait = CommitWait { [weak self] in self?.tryAgain() }
        let others = connection?.observeOtherCommits { [weak self] _ in self?.tryAgain() }
        state.withLock { state in
            guard !state.isCancelled else { return }
            state.wait = wait
            state.others = others
        }
        connection?.async { db in
            guard !db.isClosed else { return }
            db.add(transactionObserver: wait)
            // What was committed since the error is not told.
            wait.signal()
        }
    }

    private func tryAgain() {
        let isDue = state.withLock { state in
            if !state.isWaiting { state.hasMissedSignal = true }
            defer { state.isWaiting = false }
            return state.isWaiting && !state.isCancelled
        }
        if isDue { run(LaterScheduler(base: scheduler)) }
    }
}

/// Waits for commits of the writer, whatever they change.
private final class CommitWait: TransactionObserver, Sendable {
    let signal: @Sendable () -> Void

    init(_ signal: @escaping @Sendable () -> Void) { self.signal = signal }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }

    func databaseDidChange(with event: DatabaseEvent) {}

    func databaseDidCommit(_ db: Database) { signal() }

    func databaseDidRollback(_ db: Database) {}
}

/// Tells values as another scheduler does, the first one too.
private struct LaterScheduler: ValueObservationScheduler {
    let base: any ValueObservationScheduler

    func immediateInitialValue() -> Bool { false }

    func schedule(_ action: @escaping @Sendable () -> Void) { base.schedule(action) }
}

extension Error {
    /// Whether what failed may succeed without a commit, after a while.
    fileprivate var mayPass: Bool {
        guard let error = self as? DatabaseError else { return self is StoreError }
        switch error.resultCode {
        case .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_FULL, .SQLITE_NOTADB, .SQLITE_CORRUPT: return true
        default: return error.isPassing
        }
    }
}

extension DatabaseReader {
    /// Whether an error comes of a database that was closed, which nothing helps against.
    fileprivate func isClosedError(_ error: any Error) -> Bool {
        guard (error as? DatabaseError)?.resultCode == .SQLITE_MISUSE else { return false }
        return switch self {
        case let pool as DatabasePool: pool.isClosed
        case let queue as DatabaseQueue: (try? queue.unsafeReentrantRead { $0.isClosed }) ?? true
        default: false
        }
    }
}
