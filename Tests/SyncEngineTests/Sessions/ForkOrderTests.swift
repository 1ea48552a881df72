import SyncWire
import TestSupport
import Testing

@testable import SyncEngine

/// Who gives way in a fork. Both sides have to come to one answer, in each implementation, so each rule is held to here.
@Suite(.anyEngine) struct ForkOrderTests {
    private let store = Identifier128(high: 9, low: 9)
    private let a = Identifier128(high: 1, low: 0)
    private let b = Identifier128(high: 2, low: 0)
    private let c = Identifier128(high: 3, low: 0)

    private func greeting(
        _ replica: ReplicaID, _ vector: [ReplicaID: Int64], own: Int64? = nil,
        chains: [ReplicaID: (sequence: Int64, hash: UInt64)] = [:], place: UInt64? = nil
    ) -> Greeting {
        var facts = ReplicaFacts()
        facts.chains = chains.mapValues {
            [ChainPoint(sequence: $0.sequence, previous: 0, hash: Identifier128(high: $0.hash, low: 0))]
        }
        facts.place = place.map { Identifier128(high: $0, low: 0) }
        return Greeting(
            store: store, replica: replica, vector: VersionVector(vector),
            ownSequence: own ?? vector[replica] ?? 0,
            facts: facts)
    }

    /// Which side gives way in a fork of one replica; both sides say the same.
    private func yielding(
        _ replica: ReplicaID, _ local: Greeting, _ remote: Greeting, common: Int64? = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> SyncSession.Side? {
        let found = common.map { [Fork(replica: replica, common: $0)] } ?? []
        func side(_ order: ForkOrder) -> SyncSession.Side? {
            let sides = [SyncSession.Side.local, .remote].filter { side in
                order.forks(of: side).contains { $0.replica == replica }
            }
            #expect(sides.count <= 1, sourceLocation: sourceLocation)
            return sides.first
        }
        let here = side(ForkOrder(local: local, remote: remote, found: found))
        let there = side(ForkOrder(local: remote, remote: local, found: found))
        #expect(
            here == nil ? there == nil : there == (here == .local ? .remote : .local),
            sourceLocation: sourceLocation)
        return here
    }

    // MARK: What is a fork

    @Test func whoKnowsLessOfItselfThanTheOtherHasNothingInCommonThatAnybodyKnowsOf() {
        let order = ForkOrder(
            local: greeting(a, [a: 4, b: 6], own: 3), remote: greeting(b, [a: 4, b: 6], own: 5), found: [])
        #expect(order.common(of: a) == 0)
        #expect(order.common(of: b) == 0)
        #expect(order.forks(of: .local) == [Fork(replica: a, common: 0)])
        #expect(order.forks(of: .remote) == [Fork(replica: b, common: 0)])
    }

    @Test func whoKnowsAsMuchOfItselfAsTheOtherIsNotForked() {
        let order = ForkOrder(
            local: greeting(a, [a: 4, b: 5], own: 4), remote: greeting(b, [a: 4, b: 5], own: 5), found: [])
        #expect(order.common(of: a) == nil && order.common(of: b) == nil && order.common(of: c) == nil)
        #expect(order.forks(of: .local) == [] && order.forks(of: .remote) == [])
    }

    @Test func theGreatestCommonChangeThatWasFoundStands() {
        let found = [Fork(replica: a, common: 2), Fork(replica: a, common: 3)]
        let order = ForkOrder(local: greeting(a, [a: 4], own: 3), remote: greeting(b, [a: 4]), found: found)
        #expect(order.common(of: a) == 3)
        #expect(order.forks(of: .local) == [Fork(replica: a, common: 3)])
    }

    @Test func twoFilesOfOneReplicaHaveTheFewerChangesInCommonWhereThereIsAChain() {
        let chain: [ReplicaID: (sequence: Int64, hash: UInt64)] = [a: (5, 1)]
        let one = greeting(a, [a: 7, b: 1], own: 7, chains: chain)
        let other = greeting(a, [a: 7], own: 7, chains: chain)
        let equal = ForkOrder(local: one, remote: other, found: [])
        #expect(equal.common(of: a) == 7)
        // The one that knows less of itself than the other has nothing in common that is known.
        let less = ForkOrder(local: greeting(a, [a: 5], own: 5, chains: chain), remote: one, found: [])
        #expect(less.common(of: a) == 0)
        // Nor has one that gave numbers to what was new just now.
        let later = ForkOrder(local: greeting(a, [a: 9], own: 7, chains: chain), remote: other, found: [])
        #expect(later.common(of: a) == 0)
    }

    @Test func twoFilesOfOneReplicaWithoutAChainHaveNothingInCommon() {
        let order = ForkOrder(local: greeting(a, [a: 7]), remote: greeting(a, [a: 7, b: 1]), found: [])
        #expect(order.common(of: a) == 0)
    }

    @Test func forksAreInTheOrderOfReplicas() {
        let found = [c, a, b].map { Fork(replica: $0, common: 1) }
        let other = Identifier128(high: 8, low: 0)
        let last = Identifier128(high: 9, low: 0)
        let less = greeting(other, [a: 2, b: 2, c: 2])
        let more = greeting(last, [a: 3, b: 3, c: 3])
        #expect(
            ForkOrder(local: less, remote: more, found: found).forks(of: .local).map(\.replica) == [a, b, c])
        #expect(
            ForkOrder(local: more, remote: less, found: found).forks(of: .remote).map(\.replica) == [a, b, c])
    }

    // MARK: Who gives way

    @Test func theFileThatUsesTheIdentifierGivesWay() {
        #expect(yielding(a, greeting(a, [a: 9]), greeting(b, [a: 3])) == .local)
        #expect(yielding(b, greeting(a, [b: 3]), greeting(b, [b: 9])) == .remote)
    }

    @Test func theOneThatKnowsLessOfTheReplicaGivesWay() {
        #expect(yielding(c, greeting(a, [c: 3]), greeting(b, [c: 4])) == .local)
        #expect(yielding(c, greeting(a, [c: 5]), greeting(b, [c: 4])) == .remote)
    }

    @Test func ofEqualNumbersTheLesserHashGivesWay() {
        let less = greeting(a, [c: 3], chains: [c: (3, 1)])
        let more = greeting(b, [c: 3, b: 1], chains: [c: (3, 2)])
        #expect(yielding(c, less, more) == .local)
        let none = greeting(a, [c: 3, a: 1])
        // Without hashes, what else they know decides.
        #expect(yielding(c, none, greeting(b, [c: 3, a: 1, b: 1], chains: [c: (3, 2)])) == .local)
        #expect(yielding(c, less, greeting(b, [c: 3, b: 1], chains: [c: (3, 1)])) == .local)
    }

    @Test func theOneThatKnowsLessOfOthersGivesWay() {
        let hash: [ReplicaID: (sequence: Int64, hash: UInt64)] = [a: (3, 1)]
        let less = greeting(a, [a: 3], chains: hash)
        let more = greeting(a, [a: 3, b: 1], chains: hash)
        #expect(yielding(a, less, more) == .local)
        #expect(yielding(a, more, less) == .remote)
    }

    @Test func ofTwoThatKnowDifferentThingsTheFirstReplicaThatTellsThemApartDecides() {
        let hash: [ReplicaID: (sequence: Int64, hash: UInt64)] = [a: (3, 1)]
        let one = greeting(a, [a: 3, b: 1, c: 5], chains: hash)
        let other = greeting(a, [a: 3, b: 2, c: 4], chains: hash)
        #expect(yielding(a, one, other) == .local)
        #expect(yielding(a, other, one) == .remote)
    }

    @Test func ofEqualVectorsTheFirstChainThatTellsThemApartDecides() {
        func file(_ chains: [ReplicaID: (sequence: Int64, hash: UInt64)]) -> Greeting {
            greeting(a, [a: 3, b: 2, c: 1], chains: chains.merging([a: (3, 1)]) { first, _ in first })
        }
        let earlier = file([b: (1, 9), c: (1, 5)])
        let later = file([b: (2, 1), c: (1, 4)])
        #expect(yielding(a, earlier, later) == .local)
        #expect(yielding(a, file([b: (2, 1)]), file([b: (2, 2)])) == .local)
        #expect(yielding(a, file([b: (2, 1)]), file([b: (2, 1), c: (1, 1)])) == .local)
        #expect(yielding(a, file([c: (1, 3)]), file([b: (2, 1), c: (1, 1)])) == .local)
    }

    @Test func ofEqualChainsThePlaceDecides() {
        let hash: [ReplicaID: (sequence: Int64, hash: UInt64)] = [a: (3, 1)]
        let one = greeting(a, [a: 3], chains: hash, place: 1)
        let other = greeting(a, [a: 3], chains: hash, place: 2)
        #expect(yielding(a, one, other) == .local)
        #expect(yielding(a, other, one) == .remote)
        // Where a place is not known, nothing tells them apart: the remote side gives way.
        let unknown = greeting(a, [a: 3], chains: hash)
        #expect(
            ForkOrder(local: one, remote: unknown, found: []).forks(of: .remote) == [
                Fork(replica: a, common: 3)
            ])
        #expect(
            ForkOrder(local: unknown, remote: one, found: []).forks(of: .remote) == [
                Fork(replica: a, common: 3)
            ])
    }
}
