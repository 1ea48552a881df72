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
}
