import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// A table of which some rows are held, or will be, and which another program drops.
@Suite struct LostRowScopeTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func hubAndLeaf() throws -> (hub: TestReplica, leaf: TestReplica) {
        let hub = try stores.createWithScopes()
        for (number, scope) in ["a", "b", "a"].enumerated() { try hub.add(number + 1, .text(scope)) }
        return (hub, try stores.clone(hub, as: "leaf.db"))
    }

    private func makeTable(_ leaf: TestReplica) throws {
        try leaf.execute("CREATE TABLE item (id BLOB PRIMARY KEY, scope, x INTEGER, y INTEGER)")
        try leaf.synchronizer.track(["item"])
    }

    private func wanted(_ leaf: TestReplica) throws -> [[ScopeValue]?] {
        try leaf.queue.read { db in try RowRequest.loadAll(db).map(\.values) }
    }

    @Test func theChoiceStays() throws {
        let (hub, leaf) = try hubAndLeaf()
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        try leaf.changeUnobserved("DROP TABLE item")
        try hub.add(4, "a")
        try hub.add(5, "b")
        let report = try leaf.share(hub)
        #expect(report.pulled?.rowCount == 3 && report.waitingTables == [])
        #expect(try wanted(leaf) == [["a"]])
        #expect(try leaf.share(hub).pulled == nil)
        try makeTable(leaf)
        #expect(try leaf.numbers() == [1, 3, 4])
        try leaf.set(3, x: 7)
        try hub.move(1, "b")
        try leaf.share(hub)
        #expect(try leaf.numbers() == [3, 4])
        #expect(try leaf.items() == hub.items(["a"]))
        #expect(try leaf.problems() == [] && hub.problems() == [])
    }

    @Test func otherRowsCanBeChosenWhileTheTableIsGone() throws {
        let (hub, leaf) = try hubAndLeaf()
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        try leaf.changeUnobserved("DROP TABLE item")
        try leaf.choose(["b"], of: hub)
        try leaf.share(hub)
        #expect(try wanted(leaf) == [["b"]])
        try makeTable(leaf)
        #expect(try leaf.numbers() == [2])
        #expect(try leaf.problems() == [] && hub.problems() == [])
    }

    @Test func rowsCanBeChosenOfATableThatWasLostAsAWhole() throws {
        let (hub, leaf) = try hubAndLeaf()
        try leaf.share(hub)
        try leaf.changeUnobserved("DROP TABLE item")
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        #expect(try wanted(leaf) == [["a"]])
        try makeTable(leaf)
        #expect(try leaf.numbers() == [1, 3])
        // It is the choice of this remote from now on.
        try leaf.chooseEverything(of: hub)
        try leaf.share(hub)
        #expect(try leaf.numbers() == [1, 2, 3])
        #expect(try leaf.problems() == [] && hub.problems() == [])
    }

    /// A leaf that has chosen rows, a hub of which another program took the column away by which they are chosen, and a
    /// replica that has all values.
    private func leafOfAHubWithoutTheColumn() throws -> (
        hub: TestReplica, leaf: TestReplica, other: TestReplica
    ) {
        let (hub, leaf) = try hubAndLeaf()
        let other = try stores.clone(hub, as: "other.db")
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        try hub.changeUnobserved(
            """
            CREATE TABLE copy (id BLOB PRIMARY KEY, x INTEGER, y INTEGER);
            INSERT INTO copy SELECT id, x, y FROM item;
            DROP TABLE item;
            ALTER TABLE copy RENAME TO item;
            """)
        _ = try hub.peer.greet()
        try hub.set(1, x: 7)
        return (hub, leaf, other)
    }

    private func expectWaiting(_ leaf: TestReplica, _ hub: TestReplica) throws {
        let query = "SELECT group_concat(sid || ' ' || oseq || ' ' || seen, ';') FROM _sync_partial_known"
        let known = try leaf.value(query, as: String.self)
        let report = try leaf.share(hub)
        #expect(report.waitingTables.map(\.name) == ["item"])
        // What was not sent does not count as known.
        #expect(try leaf.value(query, as: String.self) == known)
        #expect(try leaf.numbers() == [1, 3])
    }

    @Test func rowsAreWaitedForOfARemoteThatLostTheColumnsValues() throws {
        let (hub, leaf, _) = try leafOfAHubWithoutTheColumn()
        try expectWaiting(leaf, hub)
        // The column alone does not bring them back.
        try hub.changeUnobserved("ALTER TABLE item ADD COLUMN scope")
        _ = try hub.peer.greet()
        try expectWaiting(leaf, hub)
    }

    @Test func aRemoteThatGotTheColumnsValuesAgainSendsTheRows() throws {
        let (hub, leaf, other) = try leafOfAHubWithoutTheColumn()
        try expectWaiting(leaf, hub)
        try hub.share(other)
        let report = try leaf.share(hub)
        #expect(report.waitingTables == [])
        #expect(try leaf.numbers() == [1, 3])
        #expect(try leaf.value("SELECT max(x) FROM item", as: Int.self) == 7)
        try leaf.chooseEverything(of: hub)
        try leaf.share(hub)
        #expect(try leaf.numbers() == [1, 2, 3])
        #expect(try leaf.items() == other.items())
        #expect(try leaf.problems() == [] && hub.problems() == [])
    }

    /// A column by which nothing is chosen.
    @Test func theValuesOfChosenRowsComeBackToo() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.set(1, y: 5)
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        try leaf.changeUnobserved(
            """
            CREATE TABLE copy (id BLOB PRIMARY KEY, scope, x INTEGER);
            INSERT INTO copy SELECT id, scope, x FROM item;
            DROP TABLE item;
            ALTER TABLE copy RENAME TO item;
            """)
        try leaf.share(hub)
        #expect(try leaf.problems() == [])
        try leaf.changeUnobserved("ALTER TABLE item ADD COLUMN y INTEGER")
        try leaf.share(hub)
        #expect(try leaf.numbers() == [1, 3])
        #expect(try leaf.items() == hub.items(["a"]))
        #expect(try leaf.problems() == [] && hub.problems() == [])
    }

    @Test func aColumnThatTheAppDropsIsAskedForAsBefore() throws {
        let (hub, leaf) = try hubAndLeaf()
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        // Its values are kept.
        try hub.migrate("drop") { db in try db.alter(table: "item") { $0.drop(column: "scope") } }
        try hub.set(1, x: 7)
        try leaf.share(hub)
        #expect(try leaf.numbers() == [1, 3])
        #expect(try leaf.value("SELECT max(x) FROM item", as: Int.self) == 7)
    }
}
