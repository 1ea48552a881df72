import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Rows outside of a leaf's choice that wait at it because the hub lacks what the leaf wrote to them.
@Suite struct RowScopeWaitingTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func hubAndLeaf() throws -> (hub: TestReplica, leaf: TestReplica) {
        let hub = try stores.createWithScopes()
        return (hub, try stores.clone(hub, as: "leaf.db"))
    }

    private func lost(_ replicas: TestReplica...) throws -> [String] {
        try replicas.flatMap { try $0.synchronizer.conflicts() }.map { "\($0.column) \($0.lost)" }.sorted()
    }

    /// The hub sends no row back that the leaf inserted, so the leaf must not expect it.
    @Test func aRowThatWaitedOutsideStaysWhenItsValueIsChosen() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.add(9, "a")
        try leaf.choose(["a"], of: hub)
        try leaf.add(1, "b")
        try leaf.share(hub, .pull)
        #expect(try leaf.numbers() == [1, 9])
        try leaf.choose(["b"], of: hub)
        for _ in 0..<3 {
            try leaf.share(hub)
            #expect(try leaf.numbers() == [1])
        }
        #expect(try leaf.items() == hub.items(["b"]))
        #expect(try leaf.value("SELECT count(*) FROM _sync_left", as: Int.self) == 0)
    }

    /// Of a key that two replicas can make, the leaf can't know whose row the hub has.
    @Test(arguments: [false, true]) func aRowInsertedUnderAKeyThatLeftIsWhereTheHubHasIt(leafWins: Bool)
        throws
    {
        let (hub, leaf) = try hubAndLeaf()
        try hub.add(9, "a")
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        let insert = { (replica: TestReplica, scope: String) in
            stores.clock.advance(milliseconds: 10)
            try replica.execute("INSERT INTO item VALUES (?, ?, 1, 1)", [key(7), scope])
            _ = try replica.vector()
        }
        if leafWins {
            try insert(hub, "b")
            try insert(leaf, "a")
        } else {
            try insert(leaf, "a")
            try insert(hub, "b")
        }
        for _ in 0..<3 { try leaf.share(hub) }
        #expect(try hub.items(["a"]).count == (leafWins ? 2 : 1))
        #expect(try leaf.items() == hub.items(["a"]))
        #expect(try leaf.value("SELECT count(*) FROM _sync_left", as: Int.self) == 0)
    }

    /// Nothing new comes of a row that a narrower choice leaves out, so who deletes it did not see it.
    @Test(arguments: [false, true]) func whatADeletionOutsideOfTheChoiceReplacesIsInTheJournal(isOwn: Bool)
        throws
    {
        let (hub, leaf) = try hubAndLeaf()
        try hub.add(9, "b")
        try (isOwn ? leaf : hub).add(1, "a")
        try leaf.share(hub)
        try hub.set(1, x: 7)
        try leaf.choose(["b"], of: hub)
        try leaf.execute("DELETE FROM item WHERE id = ?", [itemKey(1)])
        for _ in 0..<2 { try leaf.share(hub) }
        #expect(try hub.numbers() == [9])
        #expect(try lost(hub, leaf) == ["x 7"])
        #expect(try leaf.value("SELECT count(*) FROM _sync_left", as: Int.self) == 0)
        #expect(try leaf.problems() == [] && hub.problems() == [])
    }

    /// A hub that sends all rows says of none that it left.
    @Test func whatADeletionReplacesIsInTheJournalWhenAllRowsComeAnew() throws {
        let (hub, leaf) = try hubAndLeaf()
        try leaf.add(1, "a")
        try leaf.add(2, "a")
        try leaf.share(hub)
        try leaf.choose(["a"], of: hub)
        try hub.move(1, "b")
        try leaf.execute("DELETE FROM item WHERE id = ?", [itemKey(1)])
        for _ in 0..<2 { try leaf.share(hub) }
        #expect(try hub.numbers() == [2])
        #expect(try leaf.numbers() == [2])
        #expect(try lost(hub, leaf) == [#"scope "b""#])
        #expect(try leaf.value("SELECT count(*) FROM _sync_left", as: Int.self) == 0)
    }

    /// It left by the leaf's own insertion, and the leaf was cut off before it took the row out.
    @Test func whatADeletionOfARowThatWasNotTakenOutReplacesIsInTheJournal() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.add(9, "a")
        try leaf.choose(["a"], of: hub)
        try leaf.add(2, "a")
        for _ in 0..<2 { try leaf.share(hub) }
        try leaf.add(1, "b")
        stores.clock.advance(milliseconds: 10)
        #expect(throws: FaultyPeer.Cut.self) {
            try SessionDriver(
                local: FaultyPeer(leaf.peer, cut: .takingOut), remote: hub.peer,
                remoteName: hub.transport.name, progress: nil
            ).run(.push)
        }
        #expect(try hub.numbers() == [1, 2, 9] && leaf.numbers() == [1, 2, 9])
        try hub.set(1, x: 7)
        try leaf.execute("DELETE FROM item WHERE id = ?", [itemKey(1)])
        for _ in 0..<2 { try leaf.share(hub) }
        #expect(try hub.numbers() == [2, 9])
        #expect(try lost(hub, leaf) == ["x 7"])
    }

    /// A deletion of a row that is held knew all that came: the loss is told once.
    @Test func aDeletionOfAHeldRowIsNoMoreThanThat() throws {
        let (hub, leaf) = try hubAndLeaf()
        for number in 1...2 { try hub.add(number, "a") }
        try leaf.choose(["a"], of: hub)
        try leaf.add(3, "a")
        for _ in 0..<2 { try leaf.share(hub) }
        try hub.set(1, x: 5)
        try leaf.set(1, x: 6)
        try leaf.execute("DELETE FROM item WHERE id = ?", [itemKey(2)])
        for _ in 0..<2 { try leaf.share(hub) }
        #expect(try hub.numbers() == [1, 3])
        #expect(try lost(hub, leaf) == ["x 5"])
    }

    /// What others wrote to a row while it waited outside comes with all rows, and was never here.
    @Test func whatAnEditOutsideOfTheChoiceReplacesIsInTheJournalWhenAllRowsComeAnew() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.add(9, "b")
        try hub.add(1, "b")
        try leaf.share(hub)
        try leaf.choose(["b"], of: hub)
        try leaf.share(hub)
        try hub.set(1, x: 7)
        try hub.move(1, "a")
        stores.clock.advance(milliseconds: 10)
        try leaf.set(1, x: 8)
        // The row left, and the edit keeps it.
        try leaf.share(hub, .pull)
        #expect(try leaf.numbers() == [1, 9])
        try leaf.chooseEverything(of: hub)
        for _ in 0..<2 { try leaf.share(hub) }
        #expect(try leaf.items() == hub.items())
        #expect(try hub.value("SELECT x FROM item ORDER BY id LIMIT 1", as: Int.self) == 8)
        #expect(try lost(hub, leaf) == ["x 7"])
    }

    /// A row that was outside, and still here, was replaced by one inside: nothing new of it had come.
    @Test func whatANewLifeInsideOfTheChoiceReplacesIsInTheJournal() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.add(1, "b")
        try leaf.share(hub)
        try leaf.choose(["c"], of: hub)
        try hub.set(1, x: 7)
        stores.clock.advance(milliseconds: 10)
        try leaf.execute("INSERT OR REPLACE INTO item VALUES (?, 'c', 1, 1)", [itemKey(1)])
        for _ in 0..<2 { try leaf.share(hub) }
        #expect(try leaf.items() == hub.items())
        #expect(try lost(hub, leaf).contains("x 7"))
    }
}
