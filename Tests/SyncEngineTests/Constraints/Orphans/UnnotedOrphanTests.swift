import CipherStore
import Testing

@testable import SyncEngine

/// Rows whose foreign key refers to other columns than the parent's key, so that nobody can note which parent they wait for.
@Suite struct UnnotedOrphanTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private static let tables = ["region", "orders", "line"]

    private static let schema = """
        CREATE TABLE region (id BLOB PRIMARY KEY, name);
        CREATE TABLE orders (id BLOB PRIMARY KEY, region REFERENCES region, no, year, UNIQUE (no, year));
        CREATE TABLE line (id BLOB PRIMARY KEY, no, year, FOREIGN KEY (no, year) REFERENCES orders (no, year));
        CREATE TABLE seen (what);
        CREATE TRIGGER comes AFTER INSERT ON line BEGIN INSERT INTO seen VALUES ('comes'); END;
        CREATE TRIGGER goes AFTER DELETE ON line BEGIN INSERT INTO seen VALUES ('goes'); END;
        """

    private func pair() throws -> (TestReplica, TestReplica) {
        let a = try stores.create(schema: Self.schema, tables: Self.tables)
        try a.execute("INSERT INTO region VALUES (?, 'north')", [key(1)])
        try a.execute(
            "INSERT INTO orders VALUES (?, ?, 1, 2026), (?, NULL, 2, 2026)", [key(2), key(1), key(3)])
        return (a, try stores.clone(a, as: "b.db"))
    }

    private func expect(lines count: Int, hidden: Int64, in replicas: [TestReplica]) throws {
        for replica in replicas {
            #expect(try replica.dump(["line"]).count == count, "\(replica.name)")
            #expect(try replica.synchronizer.status().parkedCount == hidden, "\(replica.name)")
            #expect(try replica.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) } == [])
        }
    }

    @Test func anOrphanIsNotTriedUntilSomethingHappensToTheTableOfItsParent() throws {
        let (a, b) = try pair()
        try a.execute("DELETE FROM orders WHERE no = 1")
        try b.execute("INSERT INTO line VALUES (?, 1, 2026)", [key(4)])
        try a.sync(b)
        try expect(lines: 0, hidden: 1, in: [a, b])
        try a.execute("DELETE FROM seen")
        // Rows of its own table, and of the one above that of its parent.
        try b.execute("INSERT INTO line VALUES (?, 2, 2026)", [key(5)])
        try a.sync(b)
        try b.execute("UPDATE region SET name = 'south'")
        try a.execute("UPDATE line SET id = ?", [key(6)])
        try a.sync(b)
        #expect(try a.value("SELECT group_concat(what) FROM seen", as: String.self) == "comes")
        try expect(lines: 1, hidden: 1, in: [a, b])
        // Another parent, and one that gets the values.
        try b.execute("INSERT INTO orders VALUES (?, NULL, 3, 2026)", [key(7)])
        try a.sync(b)
        try expect(lines: 1, hidden: 1, in: [a, b])
        try b.execute("UPDATE orders SET no = 1 WHERE no = 3")
        try a.sync(b)
        try expect(lines: 2, hidden: 0, in: [a, b])
    }

    @Test func anOrphanComesBackWithAParentThatWaitedItself() throws {
        let (a, b) = try pair()
        try a.execute("DELETE FROM orders WHERE no = 1")
        try a.sync(b)
        try a.execute("DELETE FROM region")
        try b.execute("INSERT INTO orders VALUES (?, ?, 1, 2026)", [key(4), key(1)])
        try b.execute("INSERT INTO line VALUES (?, 1, 2026)", [key(5)])
        try a.sync(b)
        try expect(lines: 0, hidden: 2, in: [a, b])
        try b.execute("INSERT INTO region VALUES (?, 'north')", [key(1)])
        try a.sync(b)
        try expect(lines: 1, hidden: 0, in: [a, b])
        #expect(try a.dump(Self.tables) == b.dump(Self.tables))
    }

    @Test func anOrphanThatGetsAnotherParentWaitsNoMore() throws {
        let (a, b) = try pair()
        let c = try stores.clone(a, as: "c.db")
        try b.execute("INSERT INTO line VALUES (?, 1, 2026)", [key(4)])
        try b.sync(c)
        try c.execute("UPDATE line SET no = 2")
        try a.execute("DELETE FROM orders WHERE no = 1")
        try a.sync(b)
        try expect(lines: 0, hidden: 1, in: [a, b])
        try a.sync(c)
        try expect(lines: 1, hidden: 0, in: [a])
        try b.sync(a)
        try expect(lines: 1, hidden: 0, in: [a, b, c])
    }
}
