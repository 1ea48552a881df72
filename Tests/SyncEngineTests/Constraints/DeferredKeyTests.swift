import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Deferred foreign keys: SQLite lets an orphan in, and refuses the commit.
@Suite struct DeferredKeyTests {
    private static let comment = """
        CREATE TABLE comment (id BLOB PRIMARY KEY, note REFERENCES note DEFERRABLE INITIALLY DEFERRED, text)
        """

    /// `a` hides a comment whose note was deleted; `b` has the comment, and no table for it.
    private func pair() throws -> (TestReplica, TestReplica) {
        let stores = try TestStores()
        let a = try stores.create()
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        try a.execute(Self.comment)
        try a.synchronizer.track(["comment"])
        try a.execute("INSERT INTO comment VALUES (?, ?, 'x')", [key(2), key(1)])
        try b.execute("DELETE FROM note")
        try a.sync(b)
        #expect(try a.synchronizer.parkedRows().map(\.reason) == [.missingParent])
        return (a, b)
    }

    private func expectShown(_ replicas: [TestReplica]) throws {
        for replica in replicas {
            #expect(try replica.value("SELECT text FROM comment", as: String.self) == "x")
            #expect(try replica.synchronizer.status().parkedCount == 0)
            #expect(try replica.problems() == [])
        }
    }

    @Test func aTableIsTrackedWhileARowOfItWaitsForItsParent() throws {
        let (a, b) = try pair()
        try b.execute(Self.comment)
        try b.synchronizer.track(["comment"])
        #expect(try b.dump(["comment"]).isEmpty)
        #expect(try b.synchronizer.parkedRows().map(\.reason) == [.missingParent])
        try a.insert(1, "again")
        try a.sync(b)
        try expectShown([a, b])
    }

    @Test func schemaChangesGoOnWhileARowWaits() throws {
        let (a, b) = try pair()
        try a.synchronizer.untrack(["tag"])
        try a.queue.write { db in try db.alter(table: "note") { $0.add(column: "extra") } }
        #expect(try a.synchronizer.parkedRows().map(\.reason) == [.missingParent])
        try b.execute(Self.comment)
        try b.synchronizer.track(["comment"])
        try b.insert(1, "again")
        try a.sync(b)
        try expectShown([a, b])
    }

    @Test func parentsComeBeforeTheirChildren() throws {
        let stores = try TestStores()
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        let tables = """
            CREATE TABLE child (id BLOB PRIMARY KEY, parent REFERENCES parent DEFERRABLE INITIALLY DEFERRED,
                up REFERENCES child DEFERRABLE INITIALLY DEFERRED);
            CREATE TABLE parent (id BLOB PRIMARY KEY, name);
            """
        try a.execute(tables)
        try a.synchronizer.track(["child", "parent"])
        try a.execute(
            """
            INSERT INTO child VALUES (\(k(1)), \(k(4)), \(k(2))), (\(k(2)), \(k(4)), \(k(3))), (\(k(3)), NULL, \(k(3)));
            INSERT INTO parent VALUES (\(k(4)), 'p');
            """)
        try a.sync(b)
        try b.execute(tables)
        try b.synchronizer.track(["child", "parent"])
        #expect(try b.dump(["child", "parent"]) == a.dump(["child", "parent"]))
        #expect(try b.synchronizer.status().parkedCount == 0)
    }
}
