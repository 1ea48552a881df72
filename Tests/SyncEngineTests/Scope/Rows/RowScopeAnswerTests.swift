import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// What an answer itself does to the rows of a leaf, in its own transaction. The leaf is cut off before it looks once more
/// what has to go, which would hide what the answer left behind.
@Suite struct RowScopeAnswerTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func hubAndLeaf() throws -> (hub: TestReplica, leaf: TestReplica) {
        let hub = try stores.createWithScopes()
        return (hub, try stores.clone(hub, as: "leaf.db"))
    }

    /// Takes an answer in, and nothing else.
    private func pull(_ leaf: TestReplica, _ hub: TestReplica, tables: [String]? = nil) throws {
        try exchange(leaf, hub, .pull, tables)
    }

    /// Sends what is new, and looks at nothing afterwards.
    private func push(_ leaf: TestReplica, _ hub: TestReplica) throws { try exchange(leaf, hub, .push, nil) }

    private func exchange(
        _ leaf: TestReplica, _ hub: TestReplica, _ direction: SyncDirection, _ tables: [String]?
    ) throws {
        stores.clock.advance(milliseconds: 10)
        #expect(throws: FaultyPeer.Cut.self) {
            try SessionDriver(
                local: FaultyPeer(leaf.peer, cut: .takingOut), remote: hub.peer,
                remoteName: hub.transport.name,
                tables: tables.map { $0.map { [$0] } }, progress: nil
            ).run(direction)
        }
    }

    private func markCount(_ leaf: TestReplica) throws -> Int? {
        try leaf.value("SELECT count(*) FROM _sync_left", as: Int.self)
    }

    private func lost(_ replicas: TestReplica...) throws -> [String] {
        try replicas.flatMap { try $0.synchronizer.conflicts() }.map { "\($0.column) \($0.lost)" }.sorted()
    }

    @Test func theFirstAnswerTakesOutTheRowsThatWereNotChosen() throws {
        let (hub, leaf) = try hubAndLeaf()
        for number in 1...4 { try hub.add(number, number % 2 == 0 ? "a" : "b") }
        try leaf.share(hub)
        try leaf.choose(["a"], of: hub)
        // The hub can't have these: they stay until it has them, without a mark.
        try leaf.add(5, "b")
        try leaf.set(3, y: 8)
        try hub.add(6, "a")
        try pull(leaf, hub)
        #expect(try leaf.numbers() == [2, 3, 4, 5, 6])
        // What the leaf changed is at the hub, where it may be moved: the next answer says where it is.
        #expect(try markCount(leaf) == 1)
        try leaf.share(hub, .push)
        try pull(leaf, hub)
        #expect(try leaf.numbers() == [2, 4, 6])
        #expect(try markCount(leaf) == 0)
        #expect(try leaf.items() == hub.items(["a"]))
        #expect(try hub.numbers() == [1, 2, 3, 4, 5, 6])
    }

    @Test func aRowThatWaitedGoesWithTheAnswerThatKnowsItsChanges() throws {
        let (hub, leaf) = try hubAndLeaf()
        for number in 1...2 { try hub.add(number, "a") }
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        try hub.move(1, "b")
        try leaf.set(1, y: 8)
        try pull(leaf, hub)
        #expect(try leaf.numbers() == [1, 2])
        #expect(try markCount(leaf) == 1)
        try push(leaf, hub)
        #expect(try leaf.numbers() == [1, 2])
        try pull(leaf, hub)
        #expect(try leaf.numbers() == [2])
        #expect(try markCount(leaf) == 0)
        #expect(try hub.value("SELECT y FROM item ORDER BY id", as: Int.self) == 8)
    }

    /// An answer with all rows says of none that it left: those that it does not have go.
    @Test func anAnswerWithAllRowsTakesOutTheOthers() throws {
        let (hub, leaf) = try hubAndLeaf()
        for number in 1...4 { try hub.add(number, "a") }
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        try hub.move(1, "b")
        try hub.execute("DELETE FROM item WHERE id = ?", [itemKey(2)])
        _ = try hub.vector()
        // After so long nobody waits for the leaf, and the deletion is forgotten.
        stores.clock.advance(milliseconds: 365 * 24 * 60 * 60 * 1000)
        try hub.set(3, x: 5)
        #expect(try hub.synchronizer.compact().forgottenDeletionCount == 1)
        try leaf.set(4, y: 6)
        try pull(leaf, hub)
        #expect(try leaf.numbers() == [3, 4])
        #expect(try markCount(leaf) == 0)
        for _ in 0..<2 { try leaf.share(hub) }
        #expect(try leaf.items() == hub.items(["a"]))
        #expect(try hub.numbers() == [1, 3, 4])
        #expect(try lost(hub, leaf) == [])
        #expect(try leaf.problems() == [] && hub.problems() == [])
    }

    /// What an answer brings of a row that was deleted here, the deletion replaces in one journal only: the leaf had it.
    @Test func aDeletionOfARowThatTheAnswerHasIsToldOnce() throws {
        let (hub, leaf) = try hubAndLeaf()
        for number in 1...2 { try hub.add(number, "a") }
        try leaf.choose(["a"], of: hub)
        try pull(leaf, hub)
        try hub.set(1, x: 7)
        stores.clock.advance(milliseconds: 10)
        try leaf.execute("DELETE FROM item WHERE id = ?", [itemKey(1)])
        try pull(leaf, hub)
        #expect(try markCount(leaf) == 0)
        for _ in 0..<2 { try leaf.share(hub) }
        #expect(try hub.numbers() == [2])
        #expect(try lost(hub, leaf) == ["x 7"])
    }

    /// A deletion of a row that had left waits until the sender knows it, and then waits for nothing more. The sender may have
    /// forgotten it meanwhile, so that no answer says it.
    @Test(arguments: [false, true])
    func aDeletionOfARowThatHadLeftWaitsForTheAnswerThatKnowsIt(isForgotten: Bool) throws {
        let (hub, leaf) = try hubAndLeaf()
        for number in 1...3 { try hub.add(number, "a") }
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        try hub.move(1, "b")
        stores.clock.advance(milliseconds: 10)
        try leaf.execute("DELETE FROM item WHERE id = ?", [itemKey(1)])
        try pull(leaf, hub)
        #expect(try markCount(leaf) == 1)
        try push(leaf, hub)
        if isForgotten {
            _ = try hub.vector()
            stores.clock.advance(milliseconds: 365 * 24 * 60 * 60 * 1000)
            try hub.set(2, x: 5)
            #expect(try hub.synchronizer.compact().forgottenDeletionCount == 1)
        }
        try pull(leaf, hub)
        #expect(try markCount(leaf) == 0)
        #expect(try leaf.numbers() == [2, 3] && hub.numbers() == [2, 3])
        #expect(try leaf.problems() == [] && hub.problems() == [])
    }

    /// All rows come, and of this table alone, so that more is known of it than of all.
    @Test func whatIsKnownOfATableWhoseRowsAllCameIsKnownAfterwards() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.add(1, "a")
        try hub.add(2, "b")
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        try leaf.chooseEverything(of: hub)
        try hub.execute("INSERT INTO other VALUES (?, 7)", [itemKey(7)])
        try hub.add(3, "b")
        try leaf.exchange(hub, ["item"])
        #expect(try leaf.numbers() == [1, 2, 3])
        #expect(try leaf.coverage().partials.isEmpty)
        let again = try leaf.exchange(hub, ["item"])
        #expect(again.pulled == nil && again.pushed == nil)
        try leaf.share(hub)
        #expect(try leaf.value("SELECT value FROM other", as: Int.self) == 7)
        #expect(try leaf.items() == hub.items())
    }

    /// A row that is outside of what is held here stays until it is looked for. Deleted before that, its deletion knows
    /// nothing of what others wrote to it outside.
    @Test(arguments: [false, true], [false, true])
    func aRowOutsideIsDeletedBeforeItGoes(isInserted: Bool, isAnswered: Bool) throws {
        let (hub, leaf) = try hubAndLeaf()
        for number in 1...2 { try hub.add(number, "a") }
        try leaf.choose(["a"], of: hub)
        for _ in 0..<2 { try leaf.share(hub) }
        if isInserted { try leaf.add(3, "b") } else { try leaf.move(1, "b") }
        let number = isInserted ? 3 : 1
        if isAnswered {
            try hub.set(2, x: 1)
            try pull(leaf, hub)
        }
        try push(leaf, hub)
        stores.clock.advance(milliseconds: 10)
        try hub.set(number, x: 7)
        stores.clock.advance(milliseconds: 10)
        try leaf.execute("DELETE FROM item WHERE id = ?", [itemKey(number)])
        for _ in 0..<3 { try leaf.share(hub) }
        #expect(try hub.numbers() == (isInserted ? [1, 2] : [2]))
        #expect(try lost(hub, leaf) == ["x 7"])
        #expect(try leaf.problems() == [] && hub.problems() == [])
    }
}
