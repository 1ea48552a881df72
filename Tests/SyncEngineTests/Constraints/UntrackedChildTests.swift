import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Rows of tables that are not tracked, which refer to rows that peers delete and change: SQLite does not run the actions of
/// such keys, and nothing waits for them.
@Suite struct UntrackedChildTests {
    private let stores: TestStores

    init() throws { stores = try TestStores() }

    private func pair(_ action: String) throws -> (a: TestReplica, b: TestReplica) {
        let a = try stores.create(
            schema: """
                CREATE TABLE parent (id BLOB PRIMARY KEY, code TEXT UNIQUE);
                CREATE TABLE child (
                    id INTEGER PRIMARY KEY, parent BLOB REFERENCES parent ON DELETE \(action),
                    code TEXT REFERENCES parent (code) ON UPDATE \(action), text);
                """, tables: ["parent"])
        try a.execute("INSERT INTO parent VALUES (?, 'one'), (?, 'two')", [key(1), key(2)])
        return (a, try stores.clone(a, as: "b.db"))
    }

    private func count(_ replica: TestReplica, _ sql: String) throws -> Int? {
        try replica.value("SELECT count(*) FROM \(sql)", as: Int.self)
    }

    @Test(arguments: ["CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT", "NO ACTION"])
    func theyStayAsTheyAreAndStopNothing(action: String) throws {
        let (a, b) = try pair(action)
        try b.execute("INSERT INTO child (parent, code) VALUES (?, 'two')", [key(1)])
        try a.execute("DELETE FROM parent WHERE code = 'one'")
        try a.execute("UPDATE parent SET code = 'changed'")
        try a.sync(b)
        #expect(try b.dump(["parent"]) == a.dump(["parent"]))
        #expect(try count(b, "child WHERE parent IS NOT NULL AND code = 'two'") == 1)
        let status = try b.synchronizer.status()
        #expect(status.parkedCount == 0)
        let violations = try b.queue.read { db in try Array(db.foreignKeyViolations()).count }
        #expect(violations == 2)
        try b.execute("UPDATE child SET text = 'written later'")
        try b.execute("DELETE FROM child")
        let report = try a.sync(b)
        #expect(report.pulled == nil && report.pushed == nil)
    }

    /// Of some rows that peers deleted, those go that nothing refers to.
    @Test func oneRowThatStaysKeepsNoOther() throws {
        let (a, b) = try pair("NO ACTION DEFERRABLE INITIALLY DEFERRED")
        try b.execute("INSERT INTO child (parent) VALUES (?)", [key(2)])
        try b.synchronizer.untrack(["parent"])
        try a.execute("DELETE FROM parent")
        try b.sync(a)
        try b.synchronizer.track(["parent"])
        try b.sync(a)
        for replica in [a, b] {
            #expect(try replica.value("SELECT group_concat(code) FROM parent") == "two")
        }
    }

    /// A row that peers deleted while its table was not tracked is deleted here as by a program. A key that is checked at the
    /// end of a transaction keeps its parent, too, and does not make the transaction fail.
    @Test(arguments: ["CASCADE", "SET NULL", "RESTRICT", "NO ACTION DEFERRABLE INITIALLY DEFERRED"])
    func theActionsRunWhereTheParentsTableIsTrackedAgain(action: String) throws {
        let (a, b) = try pair(action)
        try b.execute("INSERT INTO child (parent) VALUES (?)", [key(1)])
        try b.synchronizer.untrack(["parent"])
        try a.execute("DELETE FROM parent WHERE code = 'one'")
        try b.sync(a)
        #expect(try count(b, "parent") == 2)
        try b.synchronizer.track(["parent"])
        try b.sync(a)
        let isKept = ["CASCADE", "SET NULL"].contains(action) == false
        let parentCount = isKept ? 2 : 1
        #expect(try count(a, "parent") == parentCount && count(b, "parent") == parentCount)
        #expect(try count(b, "child") == (action == "CASCADE" ? 0 : 1))
        #expect(try count(b, "child WHERE parent IS NOT NULL") == (isKept ? 1 : 0))
    }
}
