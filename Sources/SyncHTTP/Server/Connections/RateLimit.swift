import Synchronization

/// Lets so many requests through in a time, and a burst of them.
final class RateLimit: Sendable {
    private let perSecond: Double
    private let burst: Double
    private let message: String
    private let state: Mutex<(tokens: Double, at: ContinuousClock.Instant)>

    /// - parameter message: What is said to who comes too often.
    init(perSecond: Double, burst: Double, _ message: String) {
        self.message = message
        self.perSecond = perSecond
        self.burst = burst
        state = Mutex((burst, .now))
    }

    /// - throws: ``RemoteError`` of code `busy`.
    func take() throws {
        try state.withLock { state in
            let now = ContinuousClock.now
            state.tokens = min(burst, state.tokens + (now - state.at) / .seconds(1) * perSecond)
            state.at = now
            guard state.tokens >= 1 else {
                throw RemoteError(.busy, message)
            }
            state.tokens -= 1
        }
    }
}
