import Foundation
import SyncWire

/// Where the engine gets time and randomness from. Tests give their own.
public struct SyncEnvironment: Sendable {
    /// The Unix time in milliseconds.
    public let milliseconds: @Sendable () -> Int64

    /// Sixty-four random bits.
    public let random: @Sendable () -> UInt64

    /// Makes an environment.
    public init(
        milliseconds: @escaping @Sendable () -> Int64, random: @escaping @Sendable () -> UInt64
    ) {
        self.milliseconds = milliseconds
        self.random = random
    }

    /// The system's clock and random numbers.
    public static let system = SyncEnvironment(
        milliseconds: { Int64(Date().timeIntervalSince1970 * 1000) },
        random: { UInt64.random(in: UInt64.min...UInt64.max) })

    func identifier() -> Identifier128 { Identifier128(high: random(), low: random()) }
}
