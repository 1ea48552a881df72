import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// What rows can be chosen by, what stands in the way, and what becomes of what refers to them.
@Suite struct RowScopeRuleTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func pair(_ schema: String = rowScopeSchema, _ tables: [String] = ["item", "other"]) throws -> (
        hub: TestReplica, leaf: TestReplica
    ) {
        let hub = try stores.create("hub.db", schema: schema, tables: tables)
        return (hub, try stores.clone(hub, as: "leaf.db"))
    }

    private func code(_ body: () throws -> Void) -> SyncError.Code? {
        do { try body() } catch { return (error as? SyncError)?.code }
        return nil
    }

    /// Of 5 the column makes 5.0, which is another value.
    @Test func numbersOfARealColumnCantBeChosen() throws {
        let (hub, leaf) = try pair(
            "CREATE TABLE item (id BLOB PRIMARY KEY, level REAL, scope INTEGER)", ["item"])
        for value: ScopeValue in [5, "5", " 5.5"] {
            let scope = SyncScope.rows(of: "item", where: "level", in: ["none", value])
            #expect(code { try leaf.synchronizer.setScope(scope, ofRemote: "hub") } == .unsuitableScope)
            #expect(code { _ = try hub.synchronizer.bounds(of: scope) } == .unsuitableScope)
        }
        #expect(try leaf.synchronizer.scope(ofRemote: "hub") == .everything)
        try leaf.synchronizer.setScope(.rows(of: "item", where: "level", in: [nil, "none"]), ofRemote: "hub")
        try leaf.synchronizer.setScope(.rows(of: "item", where: "scope", in: [5]), ofRemote: "hub")
    }

    @Test func choicesThatCantBeAreRefused() throws {
        let (_, leaf) = try pair()
        let synchronizer = leaf.synchronizer
        try synchronizer.setPolicies([.counter("item", "y")])
        func choose(_ scope: SyncScope, _ remote: String = "hub") -> SyncError.Code? {
            code { try synchronizer.setScope(scope, ofRemote: remote) }
        }
        #expect(choose(.rows(of: "item", where: "id", in: ["a"])) == .unsuitableScope)
        #expect(choose(.rows(of: "item", where: "nothing", in: ["a"])) == .unsuitableScope)
        #expect(choose(.rows(of: "item", where: "y", in: ["a"])) == .unsuitableScope)
        #expect(choose(.rows(of: "item", where: "scope", in: [])) == .unsuitableScope)
        #expect(choose(.rows(of: "nothing", where: "scope", in: ["a"])) == .noSuchTable)
        #expect(choose(.tables(["other"]).rows(of: "item", where: "scope", in: ["a"])) == .unsuitableScope)
        #expect(try synchronizer.scope(ofRemote: "hub") == .everything)
        #expect(choose(.rows(of: "item", where: "SCOPE", in: ["a", 1, "a"])) == nil)
        #expect(try synchronizer.scope(ofRemote: "hub") == .rows(of: "item", where: "scope", in: [1, "a"]))
        // It is the store's choice: another remote can have the same one, or none of its own.
        #expect(choose(.rows(of: "item", where: "scope", in: ["b"]), "other") == .unsuitableScope)
        #expect(choose(.rows(of: "item", where: "scope", in: ["a", 1]), "other") == nil)
        #expect(choose(.everything, "other") == nil)
        #expect(try synchronizer.scope(ofRemote: "other").rows.count == 1)
        #expect(choose(.everything) == nil)
        #expect(try synchronizer.scope(ofRemote: "other") == .everything)
        #expect(try leaf.coverage().partials.isEmpty)
    }

    @Test func foldersAndBundleFilesDontTakeThem() throws {
        let (hub, leaf) = try pair()
        try hub.add(1, "a")
        try leaf.choose(["a"], of: hub)
        let lock = BundleFile.Protection.plaintext
        let file = stores.path("file.bundle")
        #expect(
            code { try leaf.synchronizer.writeBundle(to: file, since: .nothing, lock) } == .scopeUnsupported)
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(
            code {
                try leaf.synchronizer.writeBundle(to: file, since: .nothing, scope: .tables(["other"]), lock)
            } == nil)
        // One of everything is refused where some rows are held.
        let frames = try hub.bundle(TransferRequest(base: VersionVector()))
        #expect(code { try leaf.take(frames) } == .scopeUnsupported)
        #expect(try leaf.numbers() == [])
        // A peer that can't bring them says so.
        try leaf.share(hub)
        #expect(try leaf.numbers() == [1])
        #expect(try leaf.synchronizer.compare(with: hub.transport) == nil)
    }

    @Test func childrenOfRowsThatLeaveAreHiddenAndNotDeleted() throws {
        let schema = """
            CREATE TABLE item (id BLOB PRIMARY KEY, scope, x INTEGER, y INTEGER);
            CREATE TABLE part (id BLOB PRIMARY KEY, item BLOB REFERENCES item(id) ON DELETE CASCADE);
            """
        for policy in [OrphanPolicy.hold, .delete, .setNull] {
            let stores = try TestStores()
            let hub = try stores.create("hub.db", schema: schema, tables: ["item", "part"])
            let leaf = try stores.clone(hub, as: "leaf.db")
            try leaf.synchronizer.setOrphanPolicy(policy, for: "part")
            for number in 1...2 {
                try hub.add(number, "a")
                try hub.execute("INSERT INTO part VALUES (?, ?)", [itemKey(number + 10), itemKey(number)])
            }
            try leaf.choose(["a"], of: hub)
            try leaf.share(hub)
            #expect(try leaf.value("SELECT count(*) FROM part", as: Int.self) == 2)
            try hub.move(1, "b")
            try leaf.move(2, "b")
            try leaf.share(hub)
            try leaf.share(hub)
            #expect(try leaf.value("SELECT count(*) FROM part", as: Int.self) == 0)
            #expect(try leaf.value("SELECT count(*) FROM _sync_hidden", as: Int.self) == 2)
            #expect(try hub.value("SELECT count(item) FROM part", as: Int.self) == 2)
            try hub.move(1, "a")
            try hub.move(2, "a")
            try leaf.share(hub)
            #expect(try leaf.value("SELECT count(item) FROM part", as: Int.self) == 2)
            #expect(try leaf.problems() == [] && hub.problems() == [])
        }
    }

    @Test func aRowThatMadeRoomForOneThatLeftIsShown() throws {
        let (hub, leaf) = try pair(
            "CREATE TABLE item (id BLOB PRIMARY KEY, scope, x INTEGER UNIQUE, y INTEGER)", ["item"])
        try leaf.choose(["a"], of: hub)
        try hub.add(1, "a", x: 1)
        try leaf.add(2, "a", x: 1)
        try leaf.share(hub)
        #expect(try leaf.numbers() == [1])
        try hub.move(1, "b")
        try leaf.share(hub)
        #expect(try leaf.numbers() == [2])
        #expect(try leaf.problems() == [] && hub.problems() == [])
    }

    @Test func twoInsertionsUnderOneKeyEndAtTheSameRow() throws {
        // A key that is made of something else than chance, so that two replicas can make it.
        let key = key(7)
        let (hub, leaf) = try pair()
        let second = try stores.clone(hub, as: "second.db")
        try leaf.choose(["a"], of: hub)
        try hub.execute("INSERT INTO item VALUES (?, 'a', 1, 1)", [key])
        try leaf.share(hub)
        try second.execute("INSERT INTO item VALUES (?, 'b', 2, 2)", [key])
        try hub.share(second)
        try leaf.share(hub)
        #expect(try leaf.numbers() == [])
        #expect(try hub.value("SELECT x FROM item", as: Int64.self) == 2)
        // The leaf does not have the row, and inserts one under its key: what was there is kept.
        try leaf.execute("INSERT INTO item VALUES (?, 'a', 3, 3)", [key])
        try leaf.share(hub)
        #expect(try hub.value("SELECT x FROM item", as: Int64.self) == 3)
        #expect(try hub.value("SELECT count(*) FROM _sync_conflict WHERE val = 2", as: Int.self) == 2)
        #expect(try leaf.items() == hub.items())
    }

    @Test func parkedValuesDecideToo() throws {
        let (hub, leaf) = try pair()
        // The hub lacks the table, so all values wait there.
        let bare = try stores.clone(hub, as: "bare.db")
        try bare.execute("DROP TABLE item")
        try leaf.choose(["a"], of: bare)
        try hub.add(1, "a")
        try hub.add(2, "b")
        try bare.share(hub)
        try leaf.share(bare)
        #expect(try leaf.numbers() == [1])
        try hub.move(1, "b")
        try bare.share(hub)
        try leaf.share(bare)
        #expect(try leaf.numbers() == [])
    }

    @Test func copiesOfALeafGoOnWithoutLoss() throws {
        let (hub, leaf) = try pair()
        for number in 1...4 { try hub.add(number, number < 3 ? "a" : "b") }
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        try leaf.set(1, x: 5)
        try leaf.add(6, "a")
        let copy = try stores.clone(leaf, as: "copy.db")
        try copy.set(2, y: 6)
        try leaf.set(2, x: 7)
        #expect(try copy.share(hub).waitingTables == [])
        try leaf.share(hub)
        try copy.share(hub)
        try leaf.share(hub)
        #expect(try leaf.items() == hub.items(["a"]) && copy.items() == hub.items(["a"]))
        #expect(try leaf.numbers() == [1, 2, 6])
        #expect(
            try hub.value(
                "SELECT x * 10 + y FROM item WHERE id = x'02000000000040008000000000000000'", as: Int64.self)
                == 76)
        for store in [hub, leaf, copy] { #expect(try store.problems() == []) }
    }

    @Test func aColumnByWhichRowsAreChosenGetsNoPolicy() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        let leaf = try stores.clone(hub, as: "leaf.db")
        try leaf.choose(["a"], of: hub)
        for policy in [ColumnPolicy.counter("item", "scope"), .custom("Item", "Scope", merge: "lines")] {
            let error = #expect(throws: SyncError.self) { try leaf.synchronizer.setPolicies([policy]) }
            #expect(error?.code == .unsuitablePolicy)
        }
        try leaf.synchronizer.setPolicies([.lastWriter("item", "scope"), .counter("item", "x")])
        #expect(try leaf.synchronizer.policies().map(\.column) == ["x"])
    }
}
