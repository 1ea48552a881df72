import Synchronization

/// Bounds of what is waited for.
struct PostgresLimits: Sendable {
    /// The most connections at a time, without the one that listens.
    var connectionCountMax = 8
    /// How long a call lasts at most, from its beginning, in seconds.
    var seconds: Double = 10
    /// How long a connection takes at most, in seconds.
    var connectingSeconds: Double = 5
    /// The most calls that wait for a connection.
    var waitingCountMax = 16_384
}

/// Whether the server could be reached a moment ago.
///
/// While it can't, each call would take the time of an attempt, and those behind it would wait for that. So a failure is
/// told to all who come within the next moment.
final class PostgresOutage: Sendable {
    private static let memory = Duration.milliseconds(250)

    private let state = Mutex<(failure: PostgresFailure, end: ContinuousClock.Instant)?>(nil)

    /// What is told at once; nil when the server is to be asked.
    var present: PostgresFailure? {
        state.withLock { state in
            guard let known = state, known.end > .now else { return nil }
            // Whoever is told is not to try again before this is over.
            return PostgresFailure(kind: .outOfReach, message: known.failure.message)
        }
    }

    func begin(_ failure: PostgresFailure) {
        state.withLock { $0 = (failure, .now + Self.memory) }
    }

    func end() { state.withLock { $0 = nil } }
}
