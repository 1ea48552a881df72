import CoreMetrics
import Foundation
import Logging
import SyncWire

/// Where the engine gets time and randomness from, and where it tells what it does. Tests give their own.
public struct SyncEnvironment: Sendable {
    /// The Unix time in milliseconds.
    public let milliseconds: @Sendable () -> Int64

    /// Sixty-four random bits.
    public let random: @Sendable () -> UInt64

    /// Tells where files are, so that copies are noticed; nil to notice them only when they
    /// meet other replicas.
    public let places: (any StorePlaces)?

    /// Where events are logged (``SyncEvent``).
    public let logger: Logger

    /// What makes metrics (``SyncMetric``); nil for none.
    public let metrics: (any MetricsFactory)?

    /// Makes an environment. It is silent unless it is given a logger or metrics.
    public init(
        milliseconds: @escaping @Sendable () -> Int64, random: @escaping @Sendable () -> UInt64,
        places: (any StorePlaces)? = nil, logger: Logger? = nil, metrics: (any MetricsFactory)? = nil
    ) {
        self.milliseconds = milliseconds
        self.random = random
        self.places = places
        self.logger = logger ?? Logger(label: "SyncEngine") { _ in SwiftLogNoOpLogHandler() }
        self.metrics = metrics
    }

    /// The same time, randomness and places, with events and metrics.
    public func with(logger: Logger? = nil, metrics: (any MetricsFactory)? = nil) -> SyncEnvironment {
        SyncEnvironment(
            milliseconds: milliseconds, random: random, places: places, logger: logger ?? self.logger,
            metrics: metrics ?? self.metrics)
    }

    /// The system's clock, random numbers, machine and files.
    public static let system = SyncEnvironment(
        milliseconds: { Int64(Date().timeIntervalSince1970 * 1000) },
        random: { UInt64.random(in: UInt64.min...UInt64.max) }, places: SystemPlaces())

    func identifier() -> Identifier128 { Identifier128(high: random(), low: random()) }
}
