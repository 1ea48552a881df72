import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Three tables that are tracked again together, after a peer deleted a row that others had added children and grandchildren to:
/// CASCADE takes the children along, and no row that peers wrote meanwhile.
@Suite struct GrandchildTests {
    private static let actions = [
        "ON DELETE CASCADE", "ON DELETE SET NULL", "ON DELETE SET DEFAULT", "ON DELETE RESTRICT", "",
        "DEFERRABLE INITIALLY DEFERRED", "ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED",
    ]
    private static let tables = ["list", "item", "note"]
    private static let orders: [[String]] = [Self.tables, Self.tables.reversed()]

    private let stores: TestStores

    init() throws { stores = try TestStores() }

    private typealias Replicas = (a: TestReplica, b: TestReplica, c: TestReplica)

    /// Three replicas of the lists `one` and `two`, of which a lacks the item of `one` and the note on it.
    ///
    /// - parameter action: That of the notes.
    private func replicas(_ action: String) throws -> Replicas {
        let a = try stores.create(
            schema: """
                CREATE TABLE list (id BLOB PRIMARY KEY, name TEXT);
                CREATE TABLE item (id BLOB PRIMARY KEY, list BLOB REFERENCES list ON DELETE CASCADE, text TEXT);
                CREATE TABLE note (id BLOB PRIMARY KEY, item BLOB REFERENCES item \(action), text TEXT);
                """, tables: Self.tables)
        try a.execute("INSERT INTO list VALUES (?, 'one'), (?, 'two')", [key(1), key(2)])
        try a.execute("INSERT INTO item VALUES (?, ?, 'second')", [key(12), key(2)])
        try a.execute("INSERT INTO note VALUES (?, ?, 'b')", [key(22), key(12)])
        let b = try stores.clone(a, as: "b.db")
        let c = try stores.clone(a, as: "c.db")
        try c.execute("INSERT INTO item VALUES (?, ?, 'first')", [key(11), key(1)])
        try c.execute("INSERT INTO note VALUES (?, ?, 'a')", [key(21), key(11)])
        try b.sync(c)
        return (a, b, c)
    }

    /// Has c write while b does not track the tables and a deletes the list `one`.
    ///
    /// - parameter deletion: What b deletes meanwhile; nil for nothing.
    private func run(
        _ replicas: Replicas, _ tables: [String], write sql: String, _ arguments: StatementArguments = [],
        deletingHere deletion: String? = nil
    ) throws {
        try replicas.b.synchronizer.untrack(Self.tables)
        if let deletion { try replicas.b.execute(deletion) }
        try replicas.c.execute(sql, arguments)
        try replicas.a.execute("DELETE FROM list WHERE name = 'one'")
        try replicas.a.sync(replicas.c)
        try replicas.b.sync(replicas.a)
        try replicas.b.synchronizer.track(tables)
        try replicas.b.sync(replicas.a)
        try replicas.c.sync(replicas.a)
        try replicas.b.sync(replicas.a)
    }

    private func expect(
        _ replicas: Replicas, lists: [String], items: [String], notes: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let rows = try replicas.a.dump(Self.tables)
        for replica in [replicas.a, replicas.b, replicas.c] {
            let (foundLists, foundItems, foundNotes, problems) = try replica.queue.read { db in
                (
                    try String.fetchAll(db, sql: "SELECT name FROM list ORDER BY 1"),
                    try String.fetchAll(db, sql: "SELECT text FROM item ORDER BY 1"),
                    try String.fetchAll(
                        db,
                        sql: """
                            SELECT note.text || ' on ' || coalesce(item.text, 'nothing')
                            FROM note LEFT JOIN item ON item.id = note.item ORDER BY 1
                            """),
                    try MetadataCheck.problems(of: db, isDeep: true).map(\.message)
                )
            }
            #expect(foundLists == lists, sourceLocation: sourceLocation)
            #expect(foundItems == items, sourceLocation: sourceLocation)
            #expect(foundNotes == notes, sourceLocation: sourceLocation)
            #expect(problems.isEmpty, sourceLocation: sourceLocation)
            let status = try replica.synchronizer.status()
            #expect(status.parkedCount == 0, sourceLocation: sourceLocation)
            let others = try replica.dump(Self.tables)
            #expect(others == rows, sourceLocation: sourceLocation)
        }
    }

    // MARK: Grandchildren that peers wrote

    @Test(arguments: Self.actions, Self.orders)
    func oneThatPeersAddedKeepsTheRow(action: String, tables: [String]) throws {
        let replicas = try replicas(action)
        try run(
            replicas, tables, write: "INSERT INTO note VALUES (?, ?, 'c')", [key(23), key(11)])
        try expect(
            replicas, lists: ["one", "two"], items: ["first", "second"],
            notes: ["a on first", "b on second", "c on first"])
    }

    @Test(arguments: Self.actions, Self.orders)
    func soDoesOneThatPeersMovedThere(action: String, tables: [String]) throws {
        let replicas = try replicas(action)
        try run(replicas, tables, write: "UPDATE note SET item = ? WHERE text = 'b'", [key(11)])
        try expect(
            replicas, lists: ["one", "two"], items: ["first", "second"], notes: ["a on first", "b on first"])
    }

    @Test(arguments: Self.actions, Self.orders)
    func soDoesOneThatPeersChanged(action: String, tables: [String]) throws {
        let replicas = try replicas(action)
        try run(replicas, tables, write: "UPDATE note SET text = 'changed' WHERE text = 'a'")
        try expect(
            replicas, lists: ["one", "two"], items: ["first", "second"],
            notes: ["b on second", "changed on first"])
    }

    // MARK: Others

    @Test(arguments: Self.actions, Self.orders)
    func oneThatPeersMovedAwayKeepsNothing(action: String, tables: [String]) throws {
        let replicas = try replicas(action)
        try run(replicas, tables, write: "UPDATE note SET item = ? WHERE text = 'a'", [key(12)])
        try expect(replicas, lists: ["two"], items: ["second"], notes: ["a on second", "b on second"])
    }

    @Test(arguments: Self.orders)
    func oneThatNobodyWroteToGoesAlong(tables: [String]) throws {
        let replicas = try replicas("ON DELETE CASCADE")
        try run(replicas, tables, write: "UPDATE note SET text = 'changed' WHERE text = 'b'")
        try expect(replicas, lists: ["two"], items: ["second"], notes: ["changed on second"])
    }

    // MARK: Grandchildren that were deleted here

    /// It comes back, and is a row that nobody wrote to.
    @Test(arguments: ["ON DELETE CASCADE", "ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"], Self.orders)
    func oneThatWasDeletedHereGoesAlong(action: String, tables: [String]) throws {
        let replicas = try replicas(action)
        try run(
            replicas, tables, write: "UPDATE note SET text = 'changed' WHERE text = 'b'",
            deletingHere: "DELETE FROM note WHERE text = 'a'")
        try expect(replicas, lists: ["two"], items: ["second"], notes: ["changed on second"])
    }

    @Test(arguments: Self.actions, Self.orders)
    func oneThatWasDeletedHereAndChangedByPeersKeepsTheRow(action: String, tables: [String]) throws {
        let replicas = try replicas(action)
        try run(
            replicas, tables, write: "UPDATE note SET text = 'changed' WHERE text = 'a'",
            deletingHere: "DELETE FROM note WHERE text = 'a'")
        try expect(
            replicas, lists: ["one", "two"], items: ["first", "second"],
            notes: ["b on second", "changed on first"])
    }
}
