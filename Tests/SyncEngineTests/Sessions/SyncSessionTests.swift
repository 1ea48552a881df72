import SyncWire
import TestSupport
import Testing

@testable import SyncEngine

@Suite(.anyEngine) struct SyncSessionTests {
    private let store = Identifier128(high: 9, low: 9)
    private let a = Identifier128(high: 1, low: 0)
    private let b = Identifier128(high: 2, low: 0)

    private func greeting(_ replica: ReplicaID, _ vector: [ReplicaID: Int64], own: Int64? = nil) -> Greeting {
        Greeting(
            store: store, replica: replica, vector: VersionVector(vector),
            ownSequence: own ?? vector[replica] ?? 0)
    }

    @Test func bothDirectionsArePulledFirstAndPushedThen() {
        var session = SyncSession(.both)
        #expect(session.start == .greet)
        let local = greeting(a, [a: 5, b: 1])
        let remote = greeting(b, [a: 2, b: 3])
        #expect(session.handle(.greeted(local: local, remote: remote)) == .pull(since: local.vector))
        #expect(session.handle(.pulled) == .push(since: remote.vector))
        #expect(session.handle(.pushed) == .finish)
    }

    @Test func nothingMovesWhenNothingIsNew() {
        var session = SyncSession(.both)
        let vector: [ReplicaID: Int64] = [a: 5, b: 1]
        #expect(session.handle(.greeted(local: greeting(a, vector), remote: greeting(b, vector))) == .finish)
    }

    @Test func aPushDoesNotPull() {
        var session = SyncSession(.push)
        let remote = greeting(b, [b: 3])
        #expect(
            session.handle(.greeted(local: greeting(a, [a: 5]), remote: remote))
                == .push(since: remote.vector))
        #expect(session.handle(.pushed) == .finish)
    }

    @Test func anotherDatabaseIsRefused() {
        var session = SyncSession(.both)
        let other = Greeting(store: a, replica: b, vector: VersionVector(), ownSequence: 0)
        guard case .refuse(let error) = session.handle(.greeted(local: greeting(a, [:]), remote: other))
        else {
            Issue.record("the session goes on")
            return
        }
        #expect(error.code == .otherStore)
    }

    @Test func aSideThatKnowsLessOfItselfThanTheOtherGetsANewIdentity() {
        var session = SyncSession(.both)
        let restored = greeting(a, [a: 4], own: 3)
        #expect(
            session.handle(.greeted(local: restored, remote: greeting(b, [a: 4, b: 1])))
                == .renew(.local, [Fork(replica: a, common: 0)]))
        #expect(session.handle(.renewed(.local)) == .greet)
    }

    @Test func aSideWhoseGreetingIsOutOfDateGreetsAgainAHundredTimes() {
        var session = SyncSession(.both)
        let outdated = greeting(a, [a: 4], own: 3)
        for _ in 0..<100 {
            #expect(
                session.handle(.greeted(local: outdated, remote: greeting(b, [a: 4, b: 1])))
                    == .renew(.local, [Fork(replica: a, common: 0)]))
            #expect(session.handle(.stayed(.local)) == .greet)
        }
        _ = session.handle(.greeted(local: outdated, remote: greeting(b, [a: 4, b: 1])))
        guard case .refuse(let error) = session.handle(.stayed(.local)) else {
            Issue.record("the session goes on")
            return
        }
        #expect(error.code == .changedMeanwhile)
    }

    /// Equal in all that they say of changes, and in other places: two files, of which one takes another identity.
    @Test func twoFilesOfOneReplicaThatKnowTheSameAreToldApartByTheirPlaces() {
        func file(_ place: UInt64?) -> Greeting {
            var facts = ReplicaFacts()
            facts.place = place.map { Identifier128(high: $0, low: 0) }
            return Greeting(
                store: store, replica: a, vector: VersionVector([a: 4]), ownSequence: 4, facts: facts)
        }
        var session = SyncSession(.both)
        #expect(
            session.handle(.greeted(local: file(1), remote: file(2)))
                == .renew(.local, [Fork(replica: a, common: 0)]))
        for other in [file(1), file(nil)] {
            var session = SyncSession(.both)
            guard case .refuse(let error) = session.handle(.greeted(local: file(1), remote: other)) else {
                Issue.record("a file synchronizes with itself")
                return
            }
            #expect(error.code == .sameReplica)
        }
    }

    /// It takes along what it wrote that the other does not know, of its own identity and of other forks.
    @Test func aReplicaThatWasNotSeenForLongTakesItsOtherForksAlong() {
        var facts = ReplicaFacts()
        facts.retirements = [.init(replica: a, milliseconds: 1, reason: .unseen)]
        let c = Identifier128(high: 3, low: 0)
        let remote = Greeting(
            store: store, replica: b, vector: VersionVector([a: 4, b: 1, c: 7]), ownSequence: 1, facts: facts)
        var session = SyncSession(.both)
        #expect(
            session.handle(
                .greeted(
                    local: greeting(a, [a: 5, c: 6]), remote: remote, forks: [Fork(replica: c, common: 2)]))
                == .renew(.local, [Fork(replica: c, common: 2), Fork(replica: a, common: 4)]))
    }

    @Test func aNewIdentityThatIsKnownAlreadyEndsTheSession() {
        var session = SyncSession(.both)
        let restored = greeting(a, [:])
        let remote = greeting(b, [a: 4])
        #expect(
            session.handle(.greeted(local: restored, remote: remote))
                == .renew(.local, [Fork(replica: a, common: 0)]))
        _ = session.handle(.renewed(.local))
        _ = session.handle(.greeted(local: restored, remote: remote))
        _ = session.handle(.renewed(.local))
        guard case .refuse = session.handle(.greeted(local: restored, remote: remote)) else {
            Issue.record("the session goes on")
            return
        }
    }

    /// What forked is seen before what nobody else can bring any more.
    @Test func afterTwoNewIdentitiesItStillTakesOverWhatRetiredReplicasWroteEachOnce() {
        let c = Identifier128(high: 3, low: 0)
        var partial = ReplicaFacts.Partial(names: ["note"], since: VersionVector([c: 5]))
        partial.isDue = true
        var facts = ReplicaFacts()
        facts.partials = [partial]
        facts.retirements = [.init(replica: c, milliseconds: 1, reason: .unseen)]
        let lacking = Greeting(
            store: store, replica: a, vector: VersionVector([c: 5]), ownSequence: 0, facts: facts)
        let (restored, remote) = (greeting(a, [:]), greeting(b, [b: 1, c: 3]))
        var session = SyncSession(.both)
        for _ in 0..<2 {
            _ = session.handle(.greeted(local: restored, remote: greeting(b, [a: 4])))
            #expect(session.handle(.renewed(.local)) == .greet)
        }
        let takesOver = SyncSession.Action.renew(.local, [Fork(replica: c, common: 3)])
        #expect(session.handle(.greeted(local: lacking, remote: remote)) == takesOver)
        #expect(session.handle(.stayed(.local)) == .greet)
        #expect(session.handle(.greeted(local: lacking, remote: remote)) == takesOver)
        #expect(session.handle(.renewed(.local)) == .greet)
        // What was taken over goes on under an identity that is a former one now, too.
        let d = Identifier128(high: 4, low: 0)
        partial.since = VersionVector([c: 3, d: 2])
        facts.partials = [partial]
        facts.retirements.append(.init(replica: d, milliseconds: 1, reason: .renewed))
        let more = Greeting(
            store: store, replica: a, vector: VersionVector([c: 3, d: 2]), ownSequence: 0, facts: facts)
        #expect(
            session.handle(.greeted(local: more, remote: remote))
                == .renew(.local, [Fork(replica: d, common: 0)]))
        #expect(session.handle(.renewed(.local)) == .greet)
        guard case .refuse = session.handle(.greeted(local: lacking, remote: remote)) else {
            Issue.record("the session goes on")
            return
        }
    }
}
