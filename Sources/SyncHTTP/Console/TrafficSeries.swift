import Synchronization

/// How much a store's devices send and get, second by second and minute by minute.
///
/// What a request has is counted when it begins, and what its answer has when that begins. The size is fixed.
final class TrafficSeries: Sendable {
    /// So much in each of the last steps, the oldest first; the last one is not over yet.
    struct Series: Encodable, Equatable, Sendable {
        /// How long a step is, in milliseconds.
        let step: Int64
        let requests: [Int64]
        /// Bytes that devices sent.
        let received: [Int64]
        /// Bytes that devices got.
        let sent: [Int64]
    }

    struct Ring {
        let seconds: Int64
        /// The step that `last` stands for, counted from the start.
        var step: Int64 = 0
        var points = [(requests: Int64, received: Int64, sent: Int64)](
            repeating: (0, 0, 0), count: TrafficSeries.pointCount)

        mutating func advance(to elapsed: Int64) {
            let now = elapsed / seconds
            let count = Int(min(Int64(TrafficSeries.pointCount), max(0, now - step)))
            points.removeFirst(count)
            points += Array(repeating: (0, 0, 0), count: count)
            step = max(step, now)
        }

        var series: Series {
            Series(
                step: seconds * 1000, requests: points.map(\.requests), received: points.map(\.received),
                sent: points.map(\.sent))
        }
    }

    /// Two minutes of seconds, and two hours of minutes.
    static let pointCount = 120

    private let start = ContinuousClock.now
    private let rings = Mutex([Ring(seconds: 1), Ring(seconds: 60)])

    private var elapsed: Int64 { (ContinuousClock.now - start).components.seconds }

    /// Counts a request, or an answer.
    func count(requests: Int64 = 0, received: Int64 = 0, sent: Int64 = 0) {
        let elapsed = elapsed
        rings.withLock { rings in
            for index in rings.indices {
                rings[index].advance(to: elapsed)
                let last = TrafficSeries.pointCount - 1
                let point = rings[index].points[last]
                rings[index].points[last] = (
                    point.requests.addingSaturated(requests),
                    point.received.addingSaturated(max(0, received)),
                    point.sent.addingSaturated(max(0, sent))
                )
            }
        }
    }

    /// What was counted, in seconds and in minutes.
    var series: [Series] {
        let elapsed = elapsed
        return rings.withLock { rings in
            for index in rings.indices { rings[index].advance(to: elapsed) }
            return rings.map(\.series)
        }
    }
}
