import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Rows of a leaf that rest upon changes which nobody can tell its hub any more.
@Suite struct OrphanedRowTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    /// Makes a backup of the hub, which goes on.
    private func backUp(_ hub: TestReplica) throws -> TestReplica {
        try hub.queue.close()
        try stores.copy("hub.db", to: "backup.db")
        return try stores.open("hub.db")
    }

    /// Puts the hub back to its backup.
    private func putBack(_ hub: TestReplica) throws -> TestReplica {
        try hub.queue.close()
        try stores.copy("backup.db", to: "hub.db")
        return try stores.open("hub.db")
    }

    /// Nothing is new to either, and nothing waits.
    private func expectRest(
        _ leaf: TestReplica, _ hub: TestReplica, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let again = try leaf.share(hub)
        #expect(
            again.pulled == nil && again.pushed == nil && again.waitingTables == [],
            sourceLocation: sourceLocation)
    }

    /// A hub that was put back to its backup, and a leaf that knows what the hub has lost by that.
    private func restoredHubAndLeaf() throws -> (hub: TestReplica, leaf: TestReplica, former: ReplicaID) {
        let hub = try stores.createWithScopes()
        let leaf = try stores.clone(hub, as: "leaf.db")
        try hub.add(1, "a")
        try hub.add(2, "b")
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        let former = try hub.peer.greet().replica
        let later = try backUp(hub)
        try later.add(3, "a", x: 3)
        try later.set(1, x: 5)
        try later.execute("INSERT INTO other VALUES (?, 7)", [itemKey(7)])
        try leaf.share(later)
        // Of the leaf's own, the hub has nothing yet.
        try leaf.set(3, y: 8)
        try leaf.add(4, "a")
        let restored = try putBack(later)
        try restored.add(5, "a")
        try restored.set(1, y: 6)
        return (restored, leaf, former)
    }

    private func requireWhole(_ hub: TestReplica, _ leaf: TestReplica) throws {
        #expect(try leaf.numbers() == [1, 3, 4, 5])
        #expect(try hub.numbers() == [1, 2, 3, 4, 5])
        #expect(try leaf.items() == hub.items(["a"]))
        let values = "SELECT x * 10 + y FROM item WHERE scope = 'a' ORDER BY id"
        #expect(try hub.queue.read { try Int.fetchAll($0, sql: values) } == [56, 38, 0, 0])
        #expect(try hub.value("SELECT value FROM other", as: Int.self) == 7)
        #expect(try leaf.synchronizer.conflicts().isEmpty && hub.synchronizer.conflicts().isEmpty)
        #expect(try leaf.problems() == [] && hub.problems() == [])
        try expectRest(leaf, hub)
    }

    @Test func aLeafBringsAHubWhatItLostWithItsFormerIdentity() throws {
        let (hub, leaf, _) = try restoredHubAndLeaf()
        // As a store does that sees that its file was put back.
        try hub.synchronizer.renewIdentity()
        for _ in 0..<3 { try leaf.share(hub) }
        try requireWhole(hub, leaf)
    }

    @Test func itWaitsAndNamesWhoIsMissingUntilThatOneIsRetired() throws {
        let (hub, leaf, former) = try restoredHubAndLeaf()
        for _ in 0..<3 { try leaf.share(hub) }
        let waiting = try leaf.share(hub).waitingTables
        #expect(waiting.map(\.name) == ["item"])
        #expect(waiting.first?.reason.contains("of replica \(former.shortDescription)") == true, "\(waiting)")
        #expect(try !hub.numbers().contains(4))
        try hub.synchronizer.retire(former)
        for _ in 0..<3 { try leaf.share(hub) }
        try requireWhole(hub, leaf)
    }

    /// The hub wrote nothing since its backup: all that it lost is what the leaf had sent it.
    @Test(arguments: [false, true])
    func aLeafBringsAHubItsOwnChangesAgain(isNoticed: Bool) throws {
        let hub = try stores.createWithScopes()
        let leaf = try stores.clone(hub, as: "leaf.db")
        let other = try stores.clone(hub, as: "other.db")
        try hub.add(1, "a")
        try hub.add(3, "b")
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        let later = try backUp(hub)
        try leaf.set(1, y: 8)
        try leaf.add(2, "a")
        try leaf.share(later)
        // What the leaf takes into account then are its own changes, too.
        try other.add(4, "a")
        try other.share(later, .push)
        try leaf.share(later)
        try leaf.set(1, x: 4)
        let restored = try putBack(later)
        if isNoticed { try restored.synchronizer.renewIdentity() }
        try other.share(restored, .push)
        for _ in 0..<3 { try leaf.share(restored) }
        #expect(try restored.numbers() == [1, 2, 3, 4] && leaf.numbers() == [1, 2, 4])
        #expect(try leaf.items() == restored.items(["a"]))
        #expect(try leaf.problems() == [] && restored.problems() == [])
        try expectRest(leaf, restored)
    }

    /// As long as all rows are still here, it sends all that it knows, as any replica does, though it gets nothing.
    @Test func aLeafThatStillHasAllRowsSendsThemToWhoeverLacksSome() throws {
        let hub = try stores.createWithScopes()
        let other = try stores.clone(hub, as: "other.db")
        let leaf = try stores.clone(hub, as: "leaf.db")
        try other.add(1, "a")
        try leaf.share(other)
        try leaf.choose(["a"], of: hub)
        try leaf.add(2, "a")
        try leaf.share(hub)
        #expect(try hub.numbers() == [1, 2])
        try leaf.share(hub)
        #expect(try leaf.items() == hub.items())
        #expect(try leaf.problems() == [] && hub.problems() == [])
    }

    /// A row that the leaf had moved to its own rows is outside again in the hub that was put back, and changes there.
    @Test func aRowComesWholeThatALeafMovesToItsOwnAgain() throws {
        let hub = try stores.createWithScopes()
        let leaf = try stores.clone(hub, as: "leaf.db")
        let other = try stores.clone(hub, as: "other.db")
        try hub.add(1, "a")
        try hub.add(3, "b")
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        try other.share(hub)
        // It waits here until the hub has the leaf's change of it, and is moved back before that.
        try leaf.set(1, y: 8)
        try other.move(1, "b")
        try other.share(hub)
        try leaf.share(hub, .pull)
        #expect(try leaf.numbers() == [1])
        try leaf.move(1, "c")
        try leaf.move(1, "a")
        let later = try backUp(hub)
        try leaf.share(later)
        try other.add(4, "a")
        try other.share(later, .push)
        try leaf.share(later)
        let restored = try putBack(later)
        try other.set(1, x: 9)
        try other.share(restored, .push)
        for _ in 0..<3 { try leaf.share(restored) }
        #expect(try leaf.items() == restored.items(["a"]))
        #expect(try restored.numbers() == [1, 3, 4] && leaf.numbers() == [1, 4])
        #expect(try leaf.value("SELECT x FROM item ORDER BY id", as: Int.self) == 9)
        #expect(try leaf.problems() == [] && restored.problems() == [])
        try expectRest(leaf, restored)
    }

    /// The hub lost a change of the leaf in a row that the leaf does not have any more, so that nobody has it.
    @Test func aLeafGoesOnWithoutItsOwnChangesOfRowsThatItTookOut() throws {
        let hub = try stores.createWithScopes()
        let leaf = try stores.clone(hub, as: "leaf.db")
        try hub.add(1, "a")
        try hub.add(2, "a")
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        let later = try backUp(hub)
        try leaf.set(1, y: 8)
        try leaf.move(1, "b")
        try leaf.share(later)
        try leaf.share(later)
        #expect(try leaf.numbers() == [2])
        let restored = try putBack(later)
        try leaf.set(2, x: 4)
        let waiting = try leaf.share(restored).waitingTables
        #expect(waiting.first?.reason.contains("give this replica a new identity") == true, "\(waiting)")
        try leaf.synchronizer.renewIdentity()
        for _ in 0..<3 { try leaf.share(restored) }
        #expect(try leaf.items() == restored.items(["a"]) && leaf.numbers() == [1, 2])
        #expect(try restored.value("SELECT x FROM item WHERE y = 0 AND x > 0", as: Int.self) == 4)
        #expect(try leaf.problems() == [] && restored.problems() == [])
        try expectRest(leaf, restored)
    }

    /// What a replica that is only away has, it brings itself.
    @Test func whatSomebodyHasWhoIsAwayIsNotTakenOver() throws {
        let hub = try stores.createWithScopes()
        let other = try stores.clone(hub, as: "other.db")
        let leaf = try stores.clone(hub, as: "leaf.db")
        try hub.add(1, "a")
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        try other.share(hub)
        try other.set(1, x: 9)
        try leaf.share(other)
        let before = try leaf.peer.greet().replica
        for _ in 0..<2 {
            let report = try leaf.share(hub)
            #expect(report.waitingTables.count == 1 && report.renewedReplicas == [])
        }
        #expect(try leaf.peer.greet().replica == before)
        try other.share(hub)
        try leaf.share(hub)
        #expect(try leaf.items() == hub.items())
    }

    /// All rows are wanted again, and another leaf that is gone has told something of other tables.
    @Test func allRowsComeAgainWhenAnotherLeafIsGone() throws {
        let hub = try stores.createWithScopes()
        let leaf = try stores.clone(hub, as: "leaf.db")
        let gone = try stores.clone(hub, as: "gone.db")
        try hub.add(1, "a")
        try hub.add(2, "b")
        for one in [leaf, gone] {
            try one.choose(["a"], of: hub)
            try one.share(hub)
        }
        try gone.execute("INSERT INTO other VALUES (?, 7)", [itemKey(7)])
        try leaf.share(gone)
        let lost = try gone.peer.greet().replica
        try leaf.chooseEverything(of: hub)
        let waiting = try leaf.share(hub).waitingTables
        #expect(waiting.first?.reason.contains("of replica \(lost.shortDescription)") == true, "\(waiting)")
        #expect(try hub.value("SELECT value FROM other", as: Int.self) == 7)
        try leaf.synchronizer.retire(lost)
        for _ in 0..<3 { try leaf.share(hub) }
        #expect(try leaf.numbers() == [1, 2] && leaf.coverage().partials.isEmpty)
        #expect(try leaf.items() == hub.items())
        #expect(try leaf.problems() == [] && hub.problems() == [])
    }

    /// Two servers that never meet, one of which lacks what the leaf wrote under a former identity, to rows that it took out.
    @Test func betweenTwoServersItDoesNotTakeOverItsOwnChangesForEver() throws {
        let hub = try stores.createWithScopes()
        let second = try stores.clone(hub, as: "second.db")
        let leaf = try stores.clone(hub, as: "leaf.db")
        for number in 1...2 { try hub.add(number, "a") }
        try second.share(hub)
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        // Of its former identity, the second one knows something.
        try leaf.set(2, x: 1)
        for server in [hub, second] { try leaf.share(server) }
        try leaf.set(1, y: 8)
        try leaf.move(1, "b")
        for _ in 0..<2 { try leaf.share(hub) }
        #expect(try leaf.numbers() == [2])
        #expect(try leaf.share(second).waitingTables.count == 1)
        try leaf.synchronizer.renewIdentity()
        var identities: Set<ReplicaID> = []
        for _ in 0..<25 {
            try leaf.share(second)
            try leaf.share(hub)
            identities.insert(try leaf.peer.greet().replica)
        }
        #expect(identities.count <= 16)
        try second.share(hub)
        for _ in 0..<2 { try leaf.share(hub) }
        #expect(try leaf.items() == hub.items(["a"]))
        #expect(try leaf.problems() == [] && hub.problems() == [])
        try expectRest(leaf, hub)
    }

    /// Two servers that never meet, one of which has what a retired replica wrote.
    @Test func betweenTwoServersItDoesNotTakeOverForEver() throws {
        let hub = try stores.createWithScopes()
        let second = try stores.clone(hub, as: "second.db")
        let gone = try stores.clone(hub, as: "gone.db")
        let another = try stores.clone(hub, as: "another.db")
        let leaf = try stores.clone(hub, as: "leaf.db")
        try hub.add(1, "a")
        for one in [second, gone, another] { try one.share(hub) }
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        try gone.set(1, x: 9)
        try gone.share(second)
        try second.synchronizer.retire(gone.peer.greet().replica)
        var identities: Set<ReplicaID> = []
        for _ in 0..<20 {
            try leaf.share(second)
            try leaf.share(hub)
            identities.insert(try leaf.peer.greet().replica)
        }
        #expect(identities.count == 17)
        // Another one that is gone makes room for one more.
        try another.set(1, y: 4)
        try another.share(second)
        try second.synchronizer.retire(another.peer.greet().replica)
        try leaf.share(second)
        for _ in 0..<2 { try leaf.share(hub) }
        identities.insert(try leaf.peer.greet().replica)
        #expect(identities.count == 18)
        #expect(try hub.value("SELECT x * 10 + y FROM item", as: Int.self) == 94)
        try second.share(hub)
        for _ in 0..<2 { try leaf.share(hub) }
        #expect(try leaf.items() == hub.items() && leaf.share(hub).waitingTables == [])
        #expect(try leaf.problems() == [] && hub.problems() == [])
    }
}
