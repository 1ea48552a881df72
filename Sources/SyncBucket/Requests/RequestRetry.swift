import Foundation

/// How often a request is repeated, and what is waited between.
struct RequestRetry: Sendable {
    /// The most attempts at one request.
    var attemptCountMax = 6
    /// The most that is waited after the first attempt, in seconds; after each other one twice as long.
    var pauseSeconds = 0.2
    /// The longest pause, in seconds, whatever the server wants.
    var pauseSecondsMax = 20.0
    /// Waits for some seconds. An error that it throws ends the request.
    var sleep: @Sendable (_ seconds: Double, _ check: () throws -> Void) throws -> Void = Self.sleepHere
    /// Sixty-four random bits.
    var random: @Sendable () -> UInt64

    /// How long is waited before the next attempt: at random up to a bound that doubles, so that those whom a server
    /// turned away together do not come back together; and not less than the server wants.
    ///
    /// - parameters:
    ///     - attempts: How many attempts there were, from 1 on.
    ///     - wish: What the server wants, in seconds.
    func seconds(after attempts: Int, wish: Double?) -> Double {
        let bound = min(pauseSecondsMax, pauseSeconds * pow(2, Double(max(0, min(attempts, 32) - 1))))
        let fraction = Double(random() >> 11) / Double(UInt64(1) << 53)
        return min(pauseSecondsMax, max(bound * fraction, wish ?? 0))
    }

    /// Waits on this thread, and looks ten times a second whether that is still wanted.
    @Sendable static func sleepHere(_ seconds: Double, _ check: () throws -> Void) throws {
        var rest = seconds
        while rest > 0 {
            try check()
            Thread.sleep(forTimeInterval: min(rest, 0.1))
            rest -= 0.1
        }
        try check()
    }
}
