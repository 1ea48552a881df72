import TestSupport
import Testing

@testable import SyncWire

/// Version vectors.
@Suite(.anyEngine) struct VersionVectorTests {
    private let a = ReplicaID(high: 1, low: 0)
    private let b = ReplicaID(high: 2, low: 0)
    private let c = ReplicaID(high: 3, low: 0)

    @Test func aReplicaThatIsMissingIsAtZero() {
        let vector = VersionVector([a: 3])
        #expect(vector[a] == 3)
        #expect(vector[b] == 0)
    }

    @Test func zeroAndLessAreNotKept() {
        var vector = VersionVector([a: 0, b: -1, c: 2])
        #expect(vector.sequences == [c: 2])
        vector[c] = 0
        #expect(vector == VersionVector())
        vector[a] = -5
        #expect(vector == VersionVector())
    }

    @Test func aStampIsContainedUpToItsSequence() {
        let vector = VersionVector([a: 3])
        let stamp = { Stamp(timestamp: HybridTimestamp(rawValue: 0), replica: $0, sequence: $1) }
        #expect(vector.contains(stamp(a, 3)))
        #expect(!vector.contains(stamp(a, 4)))
        #expect(!vector.contains(stamp(b, 1)))
    }

    @Test func aVectorCoversWhatIsNowhereAhead() {
        let vector = VersionVector([a: 3, b: 1])
        #expect(vector.covers(VersionVector()))
        #expect(vector.covers(vector))
        #expect(vector.covers(VersionVector([a: 3])))
        #expect(!vector.covers(VersionVector([a: 4])))
        #expect(!vector.covers(VersionVector([a: 1, c: 1])))
        #expect(!VersionVector().covers(VersionVector([c: 1])))
    }

    @Test func joiningTakesTheLaterOfEach() {
        var vector = VersionVector([a: 3, b: 1])
        vector.join(VersionVector([b: 2, c: .max]))
        #expect(vector == VersionVector([a: 3, b: 2, c: .max]))
    }

    @Test func joiningIsTheLeastThatCoversBoth() {
        var generator = SplitMix64(seed: 4)
        for _ in 0..<500 {
            let vectors = (0..<3).map { _ in
                VersionVector(
                    Dictionary(uniqueKeysWithValues: [a, b, c].map { ($0, Int64(generator.below(4))) }))
            }
            let (x, y, z) = (vectors[0], vectors[1], vectors[2])
            let joined = Self.join(x, y)
            #expect(joined.covers(x) && joined.covers(y))
            #expect(joined == Self.join(y, x))
            #expect(Self.join(joined, z) == Self.join(x, Self.join(y, z)))
            #expect(Self.join(x, x) == x)
            #expect(x.covers(y) == (joined == x))
            #expect(!z.covers(x) || !z.covers(y) || z.covers(joined))
        }
    }

    private static func join(_ left: VersionVector, _ right: VersionVector) -> VersionVector {
        var vector = left
        vector.join(right)
        return vector
    }
}
