import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Parents and children that are tracked again together, after peers gave the children other parents and deleted the former
/// ones: the actions of foreign keys must not find what was here before.
@Suite struct MovedChildTests {
    private static let actions = [
        "ON DELETE CASCADE", "ON DELETE SET NULL", "ON DELETE SET DEFAULT", "ON DELETE RESTRICT", "",
        "DEFERRABLE INITIALLY DEFERRED", "ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED",
    ]
    private static let orders = [["list", "item"], ["item", "list"]]

    private let stores: TestStores

    init() throws { stores = try TestStores() }

    private typealias Replicas = (a: TestReplica, b: TestReplica, c: TestReplica)

    /// Three replicas of the lists `one` and `two`, with an item each.
    private func replicas(_ action: String) throws -> Replicas {
        let a = try stores.create(
            schema: """
                CREATE TABLE list (id BLOB PRIMARY KEY, name TEXT);
                CREATE TABLE item (
                    id BLOB PRIMARY KEY, list BLOB REFERENCES list \(action), place INTEGER, text TEXT, UNIQUE (list, place));
                """, tables: ["list", "item"])
        try a.execute("INSERT INTO list VALUES (?, 'one'), (?, 'two')", [key(1), key(2)])
        try a.execute(
            "INSERT INTO item VALUES (?, ?, 1, 'first'), (?, ?, 2, 'second')",
            [key(11), key(1), key(12), key(2)])
        return (a, try stores.clone(a, as: "b.db"), try stores.clone(a, as: "c.db"))
    }

    /// Moves the item of the list `one`, and deletes the list.
    private func move(_ replica: TestReplica, to list: UInt8) throws {
        try replica.execute("UPDATE item SET list = ? WHERE text = 'first'", [key(list)])
        try replica.execute("DELETE FROM list WHERE name = 'one'")
    }

    private func track(_ tables: [String], _ replicas: Replicas) throws {
        try replicas.b.sync(replicas.a)
        try replicas.b.synchronizer.track(tables)
        try synchronize(replicas)
    }

    private func synchronize(_ replicas: Replicas) throws {
        try replicas.b.sync(replicas.a)
        try replicas.c.sync(replicas.a)
        try replicas.b.sync(replicas.a)
    }

    private func expect(
        _ replicas: Replicas, lists: [String], items: [String], parkedCount: Int = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let rows = try replicas.a.dump(["list", "item"])
        for replica in [replicas.a, replicas.b, replicas.c] {
            let (foundLists, foundItems, problems) = try replica.queue.read { db in
                (
                    try String.fetchAll(db, sql: "SELECT name FROM list ORDER BY 1"),
                    try String.fetchAll(
                        db,
                        sql: """
                            SELECT item.text || ' in ' || coalesce(list.name, 'nothing')
                            FROM item LEFT JOIN list ON list.id = item.list ORDER BY 1
                            """),
                    try MetadataCheck.problems(of: db, isDeep: true).map(\.message)
                )
            }
            #expect(foundLists == lists, sourceLocation: sourceLocation)
            #expect(foundItems == items, sourceLocation: sourceLocation)
            #expect(problems.isEmpty, sourceLocation: sourceLocation)
            let status = try replica.synchronizer.status()
            #expect(status.parkedCount == parkedCount, sourceLocation: sourceLocation)
            let others = try replica.dump(["list", "item"])
            #expect(others == rows, sourceLocation: sourceLocation)
        }
    }

    // MARK: Children that peers moved

    @Test(arguments: Self.actions, Self.orders)
    func aChildThatPeersMovedStays(action: String, tables: [String]) throws {
        let replicas = try replicas(action)
        try replicas.b.synchronizer.untrack(["list", "item"])
        try move(replicas.a, to: 2)
        try track(tables, replicas)
        try expect(replicas, lists: ["two"], items: ["first in two", "second in two"])
    }

    @Test(arguments: Self.actions, Self.orders)
    func soDoesOneWhoseParentIsNew(action: String, tables: [String]) throws {
        let replicas = try replicas(action)
        try replicas.b.synchronizer.untrack(["list", "item"])
        try replicas.a.execute("INSERT INTO list VALUES (?, 'three')", [key(3)])
        try move(replicas.a, to: 3)
        let last = try replicas.b.value("SELECT max(seq) FROM _sync_log", as: Int64.self) ?? 0
        try track(tables, replicas)
        try expect(replicas, lists: ["three", "two"], items: ["first in three", "second in two"])
        // What came from peers is no row of this replica's.
        let count = try replicas.b.value(
            "SELECT count(*) FROM _sync_log WHERE seq > \(last) AND op = 1", as: Int.self)
        #expect(count == 0)
    }

    @Test(arguments: Self.actions, Self.orders)
    func soDoesOneThatWasWrittenHere(action: String, tables: [String]) throws {
        let replicas = try replicas(action)
        try replicas.b.synchronizer.untrack(["list", "item"])
        try replicas.b.execute("UPDATE item SET text = 'here' WHERE text = 'first'")
        try move(replicas.a, to: 2)
        try track(tables, replicas)
        try expect(replicas, lists: ["two"], items: ["here in two", "second in two"])
    }

    /// What the child needs has a row that goes as well.
    @Test(arguments: Self.actions, Self.orders)
    func soDoesOneThatTakesThePlaceOfAnother(action: String, tables: [String]) throws {
        let replicas = try replicas(action)
        try replicas.b.synchronizer.untrack(["list", "item"])
        try replicas.a.execute("DELETE FROM item WHERE text = 'second'")
        try replicas.a.execute("UPDATE item SET place = 2")
        try move(replicas.a, to: 2)
        try track(tables, replicas)
        try expect(replicas, lists: ["two"], items: ["first in two"])
    }

    @Test(arguments: Self.actions, [2, 3] as [UInt8])
    func soDoesOneWhoseTableStayedTracked(action: String, list: UInt8) throws {
        let replicas = try replicas(action)
        try replicas.b.synchronizer.untrack(["list"])
        try replicas.a.execute("INSERT INTO list VALUES (?, 'three')", [key(3)])
        try move(replicas.a, to: list)
        try track(["list"], replicas)
        try expect(
            replicas, lists: ["three", "two"],
            items: [list == 2 ? "first in two" : "first in three", "second in two"])
    }

    @Test(arguments: Self.actions, Self.orders)
    func soItIsWhereForeignKeysAreNotEnforced(action: String, tables: [String]) throws {
        let replicas = try replicas(action)
        try replicas.b.queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA foreign_keys = OFF") }
        try replicas.b.synchronizer.untrack(["list", "item"])
        try move(replicas.a, to: 2)
        try track(tables, replicas)
        try expect(replicas, lists: ["two"], items: ["first in two", "second in two"])
    }

    // MARK: Children of parents that are gone

    /// At the peers it waits for its parent.
    @Test(arguments: Self.actions, Self.orders)
    func aChildThatComesAfterItsParentWasDeletedIsNotDeleted(action: String, tables: [String]) throws {
        let replicas = try replicas(action)
        try replicas.b.synchronizer.untrack(["list", "item"])
        try replicas.c.execute("INSERT INTO item VALUES (?, ?, 3, 'third')", [key(13), key(1)])
        try replicas.a.execute("DELETE FROM item WHERE text = 'first'")
        try replicas.a.execute("DELETE FROM list WHERE name = 'one'")
        try replicas.a.sync(replicas.c)
        try track(tables, replicas)
        try expect(replicas, lists: ["two"], items: ["second in two"], parkedCount: 1)
        try replicas.a.execute("INSERT INTO list VALUES (?, 'again')", [key(1)])
        try synchronize(replicas)
        try expect(replicas, lists: ["again", "two"], items: ["second in two", "third in again"])
    }

    /// Nobody who deleted the parent knew what others wrote to the child.
    @Test(arguments: Self.actions, Self.orders)
    func aChildThatPeersWroteToKeepsItsParent(action: String, tables: [String]) throws {
        let replicas = try replicas(action)
        try replicas.c.execute("INSERT INTO item VALUES (?, ?, 3, 'third')", [key(13), key(1)])
        try replicas.b.sync(replicas.c)
        try replicas.b.synchronizer.untrack(["list", "item"])
        try replicas.c.execute("UPDATE item SET text = 'changed' WHERE text = 'third'")
        try replicas.a.execute("DELETE FROM item WHERE text = 'first'")
        try replicas.a.execute("DELETE FROM list WHERE name = 'one'")
        try replicas.a.sync(replicas.c)
        try track(tables, replicas)
        try expect(replicas, lists: ["one", "two"], items: ["changed in one", "second in two"])
    }
}
