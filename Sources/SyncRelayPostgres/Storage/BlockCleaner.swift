import SyncRelay
import Synchronization

/// Removes the blocks of bodies that nobody sees any more, by small transactions between those of others.
///
/// Several relays may do it at once: each takes what no other one has in hand.
final class BlockCleaner: Sendable {
    /// How many blocks one transaction removes: 4 MiB.
    private static let blockCount: Int64 = 16

    private struct State {
        var isRunning = false
        /// Whether there may be more than what was seen last.
        var isAsked = false
    }

    private let pool: PostgresPool
    private let state = Mutex(State())

    init(_ pool: PostgresPool) { self.pool = pool }

    /// Says that there may be something to do.
    func wake() {
        let starts = state.withLock { state in
            state.isAsked = true
            guard !state.isRunning else { return false }
            state.isRunning = true
            return true
        }
        if starts { next() }
    }

    /// Whether nothing is being done, and nothing is to be done that this relay knows of.
    var isIdle: Bool { state.withLock { !$0.isRunning } }

    private func next() {
        state.withLock { $0.isAsked = false }
        pool.submit(until: pool.deadline) { [weak self] session in
            // What fails now is done when there is more to do, or when the relay tidies.
            let hasMore = (try? Self.doSlice(session)) ?? false
            self?.goOn(hasMore)
        } onFailure: { [weak self] _ in
            self?.goOn(false)
        }
    }

    private func goOn(_ hasMore: Bool) {
        let goesOn = state.withLock { state in
            state.isRunning = hasMore || state.isAsked
            return state.isRunning
        }
        if goesOn { next() }
    }

    private static let take = PostgresStatement(
        "clean-take", [],
        "SELECT body FROM cipherstore_relay.discarded LIMIT 1 FOR UPDATE SKIP LOCKED")
    private static let remove = PostgresStatement(
        "clean-blocks", [.integer, .integer],
        """
        DELETE FROM cipherstore_relay.block WHERE body = $1 AND number IN (
            SELECT number FROM cipherstore_relay.block WHERE body = $1 ORDER BY number LIMIT $2)
        """)
    private static let forget = PostgresStatement(
        "clean-body", [.integer], "DELETE FROM cipherstore_relay.discarded WHERE body = $1")

    /// Does a small part of what there is to do.
    ///
    /// - returns: Whether there may be more.
    private static func doSlice(_ session: PostgresSession) throws -> Bool {
        try session.repeating { connection, _ in
            let deadline = session.deadline
            return try PostgresSession.transaction(connection, until: deadline) {
                guard let row = try connection.run(take, until: deadline).first else { return false }
                let body = PostgresValue.integer(try row.integer(0))
                let removed = try connection.run(remove, [body, .integer(blockCount)], until: deadline)
                if Int64(removed.changedCount) < blockCount {
                    try connection.run(forget, [body], until: deadline)
                }
                return true
            }
        }
    }
}
