import NIOCore
import SyncHTTP
import Synchronization

/// Lets each address through so many times a second, and a burst of them.
final class RelayRates: Sendable {
    /// The addresses that are remembered. When there are more, those are forgotten that came longest ago.
    static let addressCountMax = 8_192

    private struct Bucket {
        var tokens: Double
        var at: ContinuousClock.Instant
    }

    private let perSecond: Double
    private let burst: Double
    private let message: String
    private let now: @Sendable () -> ContinuousClock.Instant
    private let buckets = Mutex<[String: Bucket]>([:])

    /// - parameters:
    ///     - perSecond: How often one address is let through.
    ///     - burst: How often at once.
    ///     - message: What is said to who comes too often.
    ///     - now: The time.
    init(
        perSecond: Double, burst: Double, _ message: String,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.perSecond = max(perSecond, 0.001)
        self.burst = max(burst, 1)
        self.message = message
        self.now = now
    }

    /// How many addresses are remembered.
    var addressCount: Int { buckets.withLock { $0.count } }

    /// Counts a request.
    ///
    /// - parameter address: As ``AddressRates/name(_:)`` has it.
    /// - throws: ``RelayProblem`` of code `busy`.
    func take(_ address: String) throws {
        let now = now()
        try buckets.withLock { buckets in
            if buckets[address] == nil, buckets.count >= Self.addressCountMax { Self.forgetHalf(&buckets) }
            var bucket = buckets[address] ?? Bucket(tokens: burst, at: now)
            bucket.tokens = min(burst, bucket.tokens + (now - bucket.at) / .seconds(1) * perSecond)
            bucket.at = now
            let isLetThrough = bucket.tokens >= 1
            if isLetThrough { bucket.tokens -= 1 }
            buckets[address] = bucket
            guard isLetThrough else {
                let seconds = ((1 - bucket.tokens) / perSecond).rounded(.up)
                throw RelayProblem(.busy, message, retrySeconds: Int(min(max(seconds, 1), 3600)))
            }
        }
    }

    /// Half of them go at once, so that this is rare.
    private static func forgetHalf(_ buckets: inout [String: Bucket]) {
        let times = buckets.values.map(\.at).sorted()
        let middle = times[times.count / 2]
        buckets = buckets.filter { $0.value.at > middle }
    }
}
