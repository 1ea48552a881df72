import Synchronization

/// What may stop the statements of one connection, from any thread.
///
/// A connection is used by one thread at a time, but it is interrupted, and its
/// task is cancelled, from others. Everything that the threads share is here,
/// under one lock, so that:
/// - no interrupt reaches a handle that is closed;
/// - none reaches a commit, a rollback, or the end of a read, which must not
///   fail half-way (``withoutInterruption(_:)``);
/// - a task that is cancelled late never stops the statements of the next task
///   (``CancellableAccess``).
final class Interruption: Sendable {
    /// Reasons for which a statement must not start.
    struct Restrictions: OptionSet {
        let rawValue: UInt8
        static let closed = Restrictions(rawValue: 1)
        static let cancelled = Restrictions(rawValue: 2)
        static let suspended = Restrictions(rawValue: 4)
        static let replaced = Restrictions(rawValue: 8)
        /// Something is to be done before the next statement: ``Database/settle()``.
        static let unsettled = Restrictions(rawValue: 16)
        /// The statement that runs is to stop, whether or not SQLite was told in time.
        static let stopping = Restrictions(rawValue: 32)
    }

    /// What statements are kept from.
    enum Protection {
        case none
        /// They are no part of the task's access, so its cancellation does not concern them.
        case cancellation
        /// They must not fail half-way: the end of a transaction, or of a read.
        case everything
    }

    private struct State {
        // An address instead of a pointer, because pointers are not Sendable.
        var handle: UInt
        var protectedSections = 0
        var apartSections = 0
    }

    private let state: Lock<State>
    private let flags = Atomic<UInt8>(0)

    init(_ handle: SQLiteConnection) {
        state = Lock(State(handle: UInt(bitPattern: handle)))
    }

    /// The restrictions that apply now. This is read before each statement runs.
    var restrictions: Restrictions {
        @inline(__always) get { Restrictions(rawValue: flags.load(ordering: .relaxed)) }
    }

    func insert(_ restriction: Restrictions) {
        _ = flags.bitwiseOr(restriction.rawValue, ordering: .sequentiallyConsistent)
    }

    func remove(_ restriction: Restrictions) {
        _ = flags.bitwiseAnd(~restriction.rawValue, ordering: .sequentiallyConsistent)
    }

    /// Whether the statement that runs now must stop.
    ///
    /// SQLite forgets an interrupt that comes just before a statement starts, so
    /// a statement asks for itself every now and then.
    func stopsStatement(under protection: Protection) -> Bool {
        switch protection {
        case .none: !restrictions.isDisjoint(with: [.cancelled, .stopping])
        case .cancellation: restrictions.contains(.stopping)
        case .everything: false
        }
    }

    /// Stops the statement that runs now, unless it must not be stopped.
    func interrupt() { interrupt(isCancellation: false) }

    /// Refuses the statements of a task that was cancelled, and stops the one that runs now, unless it is
    /// none of the task's.
    func cancel() {
        insert(.cancelled)
        interrupt(isCancellation: true)
    }

    private func interrupt(isCancellation: Bool) {
        state.withLock { state in
            guard state.protectedSections == 0, !(isCancellation && state.apartSections > 0),
                let handle = SQLiteConnection(bitPattern: state.handle)
            else { return }
            SQLiteHandle.interrupt(handle)
        }
    }

    /// Runs statements that are no part of the task's access, nor of the commit that may be going on: whoever
    /// is told of a commit is told in the middle of its protected section.
    func withoutCancellation<T>(_ body: () throws -> T) rethrows -> T {
        let outerSections = state.withLock { state in
            defer { state.protectedSections = 0 }
            state.apartSections += 1
            return state.protectedSections
        }
        defer {
            state.withLock { state in
                state.apartSections -= 1
                state.protectedSections = outerSections
            }
        }
        return try body()
    }

    /// Runs statements that no other thread may stop.
    func withoutInterruption<T>(_ body: () throws -> T) rethrows -> T {
        state.withLock { $0.protectedSections += 1 }
        defer { state.withLock { $0.protectedSections -= 1 } }
        return try body()
    }

    /// Nobody may interrupt a handle that is being closed.
    func close() {
        state.withLock { $0.handle = 0 }
        insert(.closed)
    }
}
