import SyncWire
import Synchronization

/// How much a relay had to do, second by second and minute by minute, so that a page that is opened later sees it too.
///
/// It counts requests when they are answered, and bytes of bodies when they come or go. The size is fixed. What watches are
/// told is not counted, nor is what the relay's own page asks.
final class RelayTraffic: Sendable {
    /// What came in each of the last steps, the oldest first; the last one is not over yet.
    struct Series: Encodable, Equatable, Sendable {
        /// How long a step is, in milliseconds.
        let step: Int64
        /// Requests that got what they asked for.
        let answered: [Int64]
        /// Requests that did not.
        let refused: [Int64]
        /// Bytes that clients sent.
        let received: [Int64]
        /// Bytes that clients got.
        let sent: [Int64]
    }

    private struct Point {
        var answered: Int64 = 0
        var refused: Int64 = 0
        var received: Int64 = 0
        var sent: Int64 = 0
    }

    /// The last steps, in one block that is written round and round.
    private struct Ring {
        let seconds: Int64
        /// The step that was written last, counted from the start.
        private var step: Int64 = 0
        private var points = [Point](repeating: Point(), count: RelayTraffic.pointCount)

        init(seconds: Int64) { self.seconds = seconds }

        private func index(_ step: Int64) -> Int { Int(step % Int64(RelayTraffic.pointCount)) }

        /// Goes on to a moment. The steps in which nothing came are empty.
        mutating func advance(to elapsed: Int64) {
            let now = elapsed / seconds
            guard now > step else { return }
            let first = max(step + 1, now - Int64(RelayTraffic.pointCount) + 1)
            for step in first...now { points[index(step)] = Point() }
            step = now
        }

        mutating func change(_ body: (inout Point) -> Void) { body(&points[index(step)]) }

        var series: Series {
            let split = index(step) + 1
            let ordered = points[split...] + points[..<split]
            return Series(
                step: seconds * 1000, answered: ordered.map(\.answered), refused: ordered.map(\.refused),
                received: ordered.map(\.received), sent: ordered.map(\.sent))
        }
    }

    /// Two minutes of seconds, and two hours of minutes.
    static let pointCount = 120

    private let now: @Sendable () -> ContinuousClock.Instant
    private let start: ContinuousClock.Instant
    private let rings = Mutex([Ring(seconds: 1), Ring(seconds: 60)])

    /// - parameter now: The time.
    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.now = now
        start = now()
    }

    private var elapsed: Int64 { (now() - start).components.seconds }

    /// Counts an answer.
    ///
    /// - parameters:
    ///     - status: Its status.
    ///     - byteCount: How many bytes it has that are not counted as they go.
    func countAnswer(_ status: Int, byteCount: Int) {
        change {
            if status < 400 {
                $0.answered = $0.answered.addingSaturated(1)
            } else {
                $0.refused = $0.refused.addingSaturated(1)
            }
            $0.sent = $0.sent.addingSaturated(Int64(max(0, byteCount)))
        }
    }

    /// Counts bytes that came.
    func count(received byteCount: Int) {
        change { $0.received = $0.received.addingSaturated(Int64(max(0, byteCount))) }
    }

    /// Counts bytes that went.
    func count(sent byteCount: Int) {
        change { $0.sent = $0.sent.addingSaturated(Int64(max(0, byteCount))) }
    }

    private func change(_ body: (inout Point) -> Void) {
        let elapsed = elapsed
        rings.withLock { rings in
            for index in rings.indices {
                rings[index].advance(to: elapsed)
                rings[index].change(body)
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
