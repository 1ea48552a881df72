import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Rows by the value of a column: what comes, what goes, and what is claimed.
@Suite struct RowScopeTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func hubAndLeaf() throws -> (hub: TestReplica, leaf: TestReplica) {
        let hub = try stores.createWithScopes()
        return (hub, try stores.clone(hub, as: "leaf.db"))
    }

    @Test func onlyTheChosenRowsCome() throws {
        let (hub, leaf) = try hubAndLeaf()
        let scopes: [ScopeValue] = ["a", "b", nil, "A", 1, "a"]
        for (number, scope) in scopes.enumerated() { try hub.add(number, scope) }
        try hub.execute("INSERT INTO other VALUES (?, 7)", [itemKey(1)])
        try leaf.choose(["a", nil], of: hub)
        let report = try leaf.share(hub)
        #expect(report.pulled?.rowCount == 4 && report.pushed == nil && report.waitingTables == [])
        #expect(try leaf.numbers() == [0, 2, 5])
        let again = try leaf.share(hub)
        #expect(again.pulled == nil && again.pushed == nil)
        #expect(try leaf.problems() == [] && hub.problems() == [])
    }

    @Test func writesOfTheLeafReachTheHub() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.add(1, "a")
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        try leaf.set(1, x: 5)
        try leaf.add(2, "a")
        // It goes to the hub, and is not the leaf's to keep.
        try leaf.add(3, "b")
        let report = try leaf.share(hub)
        #expect(report.pushed?.rowCount == 3)
        #expect(try leaf.numbers() == [1, 2])
        #expect(try hub.numbers() == [1, 2, 3])
        #expect(try leaf.items() == hub.items(["a"]))
        #expect(try hub.coverage().parts.isEmpty)
        #expect(try leaf.problems() == [] && hub.problems() == [])
        try leaf.execute("DELETE FROM item WHERE id = ?", [itemKey(2)])
        try leaf.share(hub)
        #expect(try hub.numbers() == [1, 3])
    }

    /// Nothing new comes of a row that is outside, and it is here until somebody has what was written to it.
    @Test func aRowThatIsMovedBackBeforeItWentIsBroughtUpToDate() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.add(1, "b")
        try leaf.share(hub)
        try leaf.choose(["a"], of: hub)
        try hub.set(1, x: 7)
        try leaf.move(1, "a")
        for _ in 0..<2 { try leaf.share(hub) }
        #expect(try leaf.items() == hub.items(["a"]))
        #expect(try leaf.value("SELECT x FROM item", as: Int.self) == 7)
        let again = try leaf.share(hub)
        #expect(again.pulled == nil && again.pushed == nil)
    }

    /// The one who deletes it never saw what the row had become.
    @Test func whatADeletionOfARowThatLeftReplacesIsInTheJournal() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.add(9, "c")
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        try leaf.add(1, "a")
        for _ in 0..<2 { try leaf.share(hub) }
        try hub.move(1, "b")
        try leaf.execute("DELETE FROM item WHERE id = ?", [itemKey(1)])
        for _ in 0..<2 { try leaf.share(hub) }
        #expect(try hub.numbers() == [9])
        let lost = try hub.synchronizer.conflicts().map { "\($0.column) \($0.lost)" }
        #expect(lost == [#"scope "b""#])
        #expect(try leaf.value("SELECT count(*) FROM _sync_left", as: Int.self) == 0)
    }

    /// Of the table that both hold in part, the vector of the bundle says nothing.
    @Test func aBundleBetweenTwoThatHoldSomeRowsIsForNobodyElse() throws {
        let (hub, leaf) = try hubAndLeaf()
        let other = try stores.clone(hub, as: "other.db")
        try leaf.choose(["a"], of: hub)
        try other.choose(["b"], of: hub)
        try other.add(1, "b")
        try other.execute("INSERT INTO other VALUES (?, 7)", [itemKey(2)])
        var request = TransferRequest(base: try leaf.vector())
        request.leftOut = [["item"]]
        let frames = try other.bundle(request)
        let error = #expect(throws: SyncError.self) { try hub.take(frames) }
        #expect(error?.code == .changedMeanwhile)
        try leaf.take(frames)
        #expect(try leaf.value("SELECT value FROM other", as: Int.self) == 7)
        try other.share(hub)
        #expect(try hub.numbers() == [1])
    }

    @Test func aRowThatLeavesIsTakenOutAndDeletedNowhere() throws {
        let (hub, leaf) = try hubAndLeaf()
        for number in 1...3 { try hub.add(number, "a") }
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        try hub.move(1, "b")
        try leaf.move(2, "c")
        try leaf.share(hub)
        #expect(try leaf.numbers() == [3])
        #expect(try hub.numbers() == [1, 2, 3])
        #expect(try leaf.value("SELECT count(*) FROM _sync_row WHERE NOT cl & 1", as: Int.self) == 0)
        #expect(try leaf.value("SELECT count(*) FROM _sync_row", as: Int.self) == 1)
        // And back again, with all that was written meanwhile.
        try hub.set(1, x: 9)
        try leaf.share(hub)
        try hub.move(1, "a")
        try hub.move(2, "a")
        try leaf.share(hub)
        #expect(try leaf.items() == hub.items(["a"]))
        #expect(try leaf.numbers() == [1, 2, 3])
        #expect(try leaf.problems() == [] && hub.problems() == [])
    }

    @Test func changesOfARowThatLeftReachTheHubBeforeItGoes() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.add(1, "a", x: 1, y: 1)
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        try hub.move(1, "b")
        try hub.set(1, x: 2)
        try leaf.set(1, x: 3)
        try leaf.set(1, y: 3)
        try leaf.share(hub, .pull)
        #expect(try leaf.numbers() == [1])
        try leaf.share(hub, .push)
        #expect(try leaf.numbers() == [])
        #expect(try hub.value("SELECT scope || x || y FROM item", as: String.self) == "b33")
        // The leaf never saw the value that its own replaced.
        let lost = try hub.value("SELECT val FROM _sync_conflict WHERE col = 1", as: Int64.self)
        #expect(lost == 2)
        #expect(try leaf.problems() == [] && hub.problems() == [])
    }

    @Test func aRowThatTheLeafBroughtBackStays() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.add(1, "a")
        try leaf.choose(["a", "c"], of: hub)
        try leaf.share(hub)
        try hub.move(1, "b")
        try hub.set(1, y: 7)
        try leaf.move(1, "c")
        try leaf.share(hub)
        #expect(try leaf.numbers() == [1])
        try leaf.share(hub)
        #expect(try leaf.items() == hub.items(["c"]))
        #expect(try leaf.value("SELECT y FROM item", as: Int64.self) == 7)
    }

    @Test func wideningBringsRowsAndNarrowingTakesThemOut() throws {
        let (hub, leaf) = try hubAndLeaf()
        for number in 1...6 { try hub.add(number, number % 2 == 0 ? "a" : "b") }
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        try hub.set(2, x: 4)
        try leaf.choose(["a", "b"], of: hub)
        #expect(try leaf.share(hub).pulled?.rowCount == 4)
        #expect(try leaf.items() == hub.items())
        try leaf.choose(["b"], of: hub)
        try leaf.set(2, y: 8)
        try leaf.share(hub)
        #expect(try leaf.numbers() == [1, 3, 5])
        #expect(
            try hub.value(
                "SELECT y FROM item WHERE id = x'\(itemKey(2).map { String(format: "%02x", $0) }.joined())'",
                as: Int64.self) == 8)
        try leaf.chooseEverything(of: hub)
        try leaf.add(9, "z")
        try leaf.share(hub)
        #expect(try leaf.items() == hub.items())
        #expect(try leaf.coverage().partials.isEmpty)
        try hub.add(10, "q")
        try leaf.share(hub)
        #expect(try leaf.items() == hub.items())
        #expect(try leaf.problems() == [] && hub.problems() == [])
    }

    @Test func deletionsComeWhateverTheirScopeWas() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.add(1, "a")
        try hub.add(2, "b")
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        try hub.execute("DELETE FROM item")
        try leaf.share(hub)
        #expect(try leaf.numbers() == [])
        #expect(try leaf.value("SELECT count(*) FROM _sync_row WHERE NOT cl & 1", as: Int.self) == 2)
        // The leaf has them, and says so the next time.
        try leaf.share(hub)
        _ = try hub.synchronizer.compact()
        #expect(try hub.value("SELECT count(*) FROM _sync_row", as: Int.self) == 0)
    }

    @Test func aRemoteThatKnowsLessWaits() throws {
        let (hub, leaf) = try hubAndLeaf()
        let second = try stores.clone(hub, as: "second.db")
        try leaf.choose(["a"], of: hub)
        try hub.add(1, "a")
        try leaf.share(hub)
        try second.add(2, "a")
        try second.execute("INSERT INTO other VALUES (?, 7)", [itemKey(1)])
        try leaf.add(3, "a")
        let report = try leaf.share(second)
        #expect(report.waitingTables.map(\.name) == ["item"])
        #expect(try leaf.numbers() == [1, 3] && second.numbers() == [2])
        #expect(try leaf.value("SELECT count(*) FROM other", as: Int.self) == 1)
        try hub.share(second)
        #expect(try leaf.share(second).waitingTables == [])
        #expect(try leaf.numbers() == [1, 2, 3] && second.numbers() == [1, 2, 3])
        try second.share(hub)
        try leaf.share(hub)
        #expect(try leaf.items() == hub.items() && second.items() == hub.items())
        for store in [hub, leaf, second] { #expect(try store.problems() == []) }
    }

    @Test func whoeverMeetsALeafLeavesTheTableOut() throws {
        let (hub, leaf) = try hubAndLeaf()
        let other = try stores.clone(hub, as: "other.db")
        try leaf.choose(["a"], of: hub)
        try other.choose(["b"], of: hub)
        for number in 1...4 { try hub.add(number, number % 2 == 0 ? "a" : "b") }
        try leaf.share(hub)
        try other.share(hub)
        try hub.add(5, "a")
        try leaf.add(6, "a")
        try leaf.execute("INSERT INTO other VALUES (?, 7)", [itemKey(1)])
        #expect(try leaf.share(other).waitingTables.map(\.name) == ["item"])
        #expect(try other.numbers() == [1, 3] && leaf.numbers() == [2, 4, 6])
        #expect(try other.value("SELECT count(*) FROM other", as: Int.self) == 1)
        // What the leaf wrote comes to whoever knows all that it took into account.
        try hub.share(leaf)
        #expect(try hub.numbers() == [1, 2, 3, 4, 5, 6] && leaf.numbers() == [2, 4, 6])
        try leaf.share(hub)
        try other.share(hub)
        #expect(try leaf.numbers() == [2, 4, 5, 6] && other.numbers() == [1, 3])
        for store in [hub, leaf, other] { #expect(try store.problems() == []) }
    }
}
