import TestSupport
import Testing

@testable import SyncWire

/// Hybrid timestamps and stamps.
@Suite(.anyEngine) struct HybridTimestampTests {
    private let a = ReplicaID(high: 1, low: 0)
    private let b = ReplicaID(high: 1, low: 1)

    private func stamp(_ timestamp: Int64, _ replica: ReplicaID, _ sequence: Int64 = 1) -> Stamp {
        Stamp(timestamp: HybridTimestamp(rawValue: timestamp), replica: replica, sequence: sequence)
    }

    @Test func aTimestampHoldsItsMillisecondAndACounter() {
        let first = HybridTimestamp(milliseconds: 1_700_000_000_000)
        #expect(first.rawValue == 111_411_200_000_000_000)
        #expect(first.milliseconds == 1_700_000_000_000)
        #expect(first.next.rawValue == first.rawValue + 1)
        #expect(first.next.milliseconds == first.milliseconds)
        #expect(first < first.next)
    }

    @Test func theCounterRunsOverIntoTheNextMillisecond() {
        let last = HybridTimestamp(rawValue: 5 << 16 | 0xFFFF)
        #expect(last.milliseconds == 5)
        #expect(last.next == HybridTimestamp(milliseconds: 6))
    }

    @Test func theLastTimestampHasNoNextOneAndDoesNotTrap() {
        let last = HybridTimestamp(rawValue: .max)
        #expect(HybridTimestamp(rawValue: .max - 1).next == last)
        #expect(last.next == last)
    }

    @Test func theLaterStampIsNewer() {
        #expect(stamp(2, a).isNewer(than: stamp(1, b)))
        #expect(!stamp(1, b).isNewer(than: stamp(2, a)))
    }

    @Test func atOneMomentTheGreaterReplicaIsNewer() {
        #expect(stamp(1, b).isNewer(than: stamp(1, a)))
        #expect(!stamp(1, a).isNewer(than: stamp(1, b)))
    }

    @Test func theSequenceDoesNotDecide() {
        #expect(!stamp(1, a, 2).isNewer(than: stamp(1, a, 1)))
        #expect(!stamp(1, a, 1).isNewer(than: stamp(1, a, 2)))
    }

    @Test func beingNewerIsAStrictOrder() {
        let stamps = [0, 1, 2, Int64.max].flatMap { timestamp in
            [a, b].map { stamp(timestamp, $0) }
        }
        for (left, one) in stamps.enumerated() {
            for (right, other) in stamps.enumerated() {
                #expect(one.isNewer(than: other) == (left > right))
            }
        }
    }
}
