import Synchronization
import Testing

@testable import SyncRelay

@Suite struct RelayTrafficTests {
    /// A clock that a test turns.
    private final class Clock: Sendable {
        private let value = Mutex(ContinuousClock.now)

        var now: ContinuousClock.Instant { value.withLock { $0 } }

        func advance(seconds: Int) { value.withLock { $0 += .seconds(seconds) } }
    }

    private let clock = Clock()
    private let traffic: RelayTraffic

    init() {
        traffic = RelayTraffic { [clock] in clock.now }
    }

    private func series(_ index: Int) -> RelayTraffic.Series { traffic.series[index] }

    @Test func whatComesIsInTheLastStepOfBothSeries() {
        traffic.countAnswer(200, byteCount: 7)
        traffic.countAnswer(304, byteCount: 0)
        traffic.countAnswer(401, byteCount: 3)
        traffic.count(received: 100)
        traffic.count(sent: 50)
        for (index, step) in [(0, Int64(1_000)), (1, 60_000)] {
            let series = series(index)
            #expect(series.step == step)
            #expect(series.answered.last == 2 && series.refused.last == 1)
            #expect(series.received.last == 100 && series.sent.last == 60)
            #expect(series.answered.dropLast().allSatisfy { $0 == 0 })
        }
    }

    @Test func stepsGoBackAsTimeGoesOn() {
        for number in 1...200 {
            traffic.count(received: number)
            clock.advance(seconds: 1)
        }
        // The step that has just begun is empty, and 119 are left of those before.
        #expect(series(0).received == (82...200).map(Int64.init) + [0])
        // Minutes: 60 of the numbers in each, and 20 in the fourth.
        let minutes = [(1...60), (61...120), (121...180), (181...200)].map { Int64($0.reduce(0, +)) }
        #expect(Array(series(1).received.suffix(4)) == minutes)
    }

    @Test(arguments: [1, 119, 120, 121, 7_199, 7_200, 100_000])
    func afterAPauseTheStepsBetweenAreEmpty(seconds: Int) {
        traffic.count(sent: 5)
        clock.advance(seconds: seconds)
        traffic.count(sent: 9)
        for (index, step) in [(0, 1), (1, 60)] {
            let steps = seconds / step
            var expected = [Int64](repeating: 0, count: RelayTraffic.pointCount)
            if steps < RelayTraffic.pointCount { expected[RelayTraffic.pointCount - 1 - steps] = 5 }
            expected[RelayTraffic.pointCount - 1] += 9
            #expect(series(index).sent == expected)
        }
    }

    @Test func theSizeIsFixedAndNumbersDoNotOverflow() {
        for _ in 0..<1_000 {
            traffic.count(received: .max)
            traffic.count(sent: .max)
            traffic.count(sent: -1)
            clock.advance(seconds: 7)
        }
        for series in traffic.series {
            for values in [series.answered, series.refused, series.received, series.sent] {
                #expect(values.count == RelayTraffic.pointCount)
                #expect(values.allSatisfy { $0 >= 0 })
            }
        }
        #expect(series(1).received.contains(.max))
    }

    @Test func connectionsAreCountedUpToTheirBound() {
        let connections = RelayConnections(countMax: 2)
        #expect(connections.isAcceptingNewConnections())
        connections.connectionOpened()
        connections.connectionOpened()
        #expect(connections.count == 2 && !connections.isAcceptingNewConnections())
        connections.connectionClosed()
        #expect(connections.count == 1 && connections.isAcceptingNewConnections())
    }
}
