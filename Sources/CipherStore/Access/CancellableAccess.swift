/// One access of a task to a connection, from the moment it is asked for.
///
/// Its states are waiting → running → finished, and each but the last can be
/// cancelled. A cancellation while it waits keeps it from starting; while it
/// runs, it interrupts the connection and refuses the statements that follow;
/// once it is finished, a cancellation does nothing, so that it can't stop the
/// statements of the access that comes next.
final class CancellableAccess: Sendable {
    private enum State {
        case waiting
        case running(Interruption)
        case finished
        case cancelled
    }

    private let state = Lock(State.waiting)

    /// Cancels the access. It may be called from any thread.
    func cancel() {
        // Held over the interruption: finish() waits, and the next access with it.
        state.withLock { state in
            switch state {
            case .waiting: state = .cancelled
            case .running(let interruption):
                interruption.cancel()
                state = .cancelled
            case .finished, .cancelled: break
            }
        }
    }

    /// Lets a later cancellation do nothing.
    func finish() {
        state.withLock { state in
            if case .running = state { state = .finished }
        }
    }

    /// Runs the access on its connection.
    ///
    /// - throws: What the body throws; `CancellationError` when the access was
    ///   cancelled before it started, or a cancellation stopped a statement.
    func run<T>(_ db: Database, _ body: (Database) throws -> T) throws -> T {
        let interruption = db.interruption
        try state.withLock { state in
            guard case .waiting = state else { throw CancellationError() }
            state = .running(interruption)
        }
        let outer = db.currentAccess
        db.currentAccess = self
        defer {
            finish()
            interruption.remove(.cancelled)
            db.currentAccess = outer
        }
        do {
            return try body(db)
        } catch let error as DatabaseError where error.isInterruptionError && isCancelled {
            throw CancellationError()
        }
    }

    private var isCancelled: Bool {
        state.withLock { state in
            if case .cancelled = state { true } else { false }
        }
    }
}
