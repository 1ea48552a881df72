import Foundation

/// How often a request is repeated, and what is waited between.
package struct RequestRetry: Sendable {
    /// The most attempts at one request.
    package var attemptCountMax: Int
    /// The most that is waited after the first attempt, in seconds; after each other one twice as long.
    package var pauseSeconds: Double
    /// The longest pause, in seconds, whatever the server wants.
    package var pauseSecondsMax: Double
    /// Waits for some seconds. An error that it throws ends the request.
    package var sleep: @Sendable (_ seconds: Double, _ check: () throws -> Void) throws -> Void
    /// Sixty-four random bits.
    package var random: @Sendable () -> UInt64

    /// Makes a retry. Without further words, it is the usual one.
    package init(
        attemptCountMax: Int = 6, pauseSeconds: Double = 0.2, pauseSecondsMax: Double = 20,
        sleep: @escaping @Sendable (_ seconds: Double, _ check: () throws -> Void) throws -> Void = Self
            .sleepHere, random: @escaping @Sendable () -> UInt64
    ) {
        self.attemptCountMax = attemptCountMax
        self.pauseSeconds = pauseSeconds
        self.pauseSecondsMax = pauseSecondsMax
        self.sleep = sleep
        self.random = random
    }

    /// How long is waited before the next attempt: at random up to a bound that doubles, so that those whom a server
    /// turned away together do not come back together; and not less than the server wants.
    ///
    /// - parameters:
    ///     - attempts: How many attempts there were, from 1 on.
    ///     - wish: What the server wants, in seconds.
    package func seconds(after attempts: Int, wish: Double?) -> Double {
        let bound = min(pauseSecondsMax, pauseSeconds * pow(2, Double(max(0, min(attempts, 32) - 1))))
        let fraction = Double(random() >> 11) / Double(UInt64(1) << 53)
        return min(pauseSecondsMax, max(bound * fraction, wish ?? 0))
    }

    /// Waits on this thread, and looks ten times a second whether that is still wanted.
    @Sendable package static func sleepHere(_ seconds: Double, _ check: () throws -> Void) throws {
        var rest = seconds
        while rest > 0 {
            try check()
            Thread.sleep(forTimeInterval: min(rest, 0.1))
            rest -= 0.1
        }
        try check()
    }
}
