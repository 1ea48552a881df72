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

    /// How far ahead of the clock here, in milliseconds, others' times may be for later edits to be dated after them. A
    /// change from later than that is taken in, and reported with the replica that made it, and moves no clock here: one
    /// wrong clock does not pull all others along. An edit that knew it wins over it all the same.
    public let skewMillisecondsMax: Int64

    /// A fold adds a point to the replica's chain for so many numbers at least.
    var chainStride: Int64 = 256

    /// What cancels the synchronization that this was made for; nil when nothing does.
    package internal(set) var cancellation: SyncCancellation?

    /// A day.
    public static let defaultSkewMillisecondsMax: Int64 = 24 * 60 * 60 * 1000

    /// Makes an environment. It is silent unless it is given a logger or metrics.
    public init(
        milliseconds: @escaping @Sendable () -> Int64, random: @escaping @Sendable () -> UInt64,
        places: (any StorePlaces)? = nil, logger: Logger? = nil, metrics: (any MetricsFactory)? = nil,
        skewMillisecondsMax: Int64 = SyncEnvironment.defaultSkewMillisecondsMax
    ) {
        self.skewMillisecondsMax = min(max(0, skewMillisecondsMax), AdmissionLimits.millisecondsMax)
        self.milliseconds = milliseconds
        self.random = random
        self.places = places
        self.logger = logger ?? Logger(label: "SyncEngine") { _ in SwiftLogNoOpLogHandler() }
        self.metrics = metrics
    }

    /// The same time, randomness and places, with events and metrics.
    public func with(logger: Logger? = nil, metrics: (any MetricsFactory)? = nil) -> SyncEnvironment {
        var environment = SyncEnvironment(
            milliseconds: milliseconds, random: random, places: places, logger: logger ?? self.logger,
            metrics: metrics ?? self.metrics, skewMillisecondsMax: skewMillisecondsMax)
        environment.chainStride = chainStride
        environment.cancellation = cancellation
        return environment
    }

    /// The same, for a synchronization that can be cancelled.
    package func with(cancellation: SyncCancellation) -> SyncEnvironment {
        var environment = self
        environment.cancellation = cancellation
        return environment
    }

    /// The present time, for what gets a stamp of it.
    ///
    /// - throws: ``SyncError`` of code `unusableClock` when it is after the latest timestamp: no other store would take in
    ///   what is stamped now, and nothing that is written later could be stamped above it.
    func stampMilliseconds() throws -> Int64 {
        let now = milliseconds()
        guard now <= AdmissionLimits.millisecondsMax else {
            throw SyncError(
                .unusableClock,
                """
                the clock of this machine shows a time after the year 4199 (\(now) milliseconds since 1970), which no other \
                replica takes in; nothing was changed: set the clock right and try again
                """)
        }
        return now
    }

    /// The latest timestamp that moves the clock here.
    var adoptionBound: Int64 {
        min(milliseconds().addingSaturated(skewMillisecondsMax), AdmissionLimits.millisecondsMax) << 16
    }

    /// The system's clock, random numbers, machine and files.
    public static let system = SyncEnvironment(
        milliseconds: { Int64(Date().timeIntervalSince1970 * 1000) },
        random: { UInt64.random(in: UInt64.min...UInt64.max) }, places: SystemPlaces())

    func identifier() -> Identifier128 { Identifier128(high: random(), low: random()) }
}
