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

    // MARK: Parents and children that are tracked again together

    private static let refusing = ["ON DELETE RESTRICT", "", "DEFERRABLE INITIALLY DEFERRED"]

    private func lists(_ action: String) throws -> (a: TestReplica, b: TestReplica) {
        let a = try stores.create(
            schema: """
                CREATE TABLE list (id BLOB PRIMARY KEY, name TEXT);
                CREATE TABLE item (id BLOB PRIMARY KEY, list BLOB REFERENCES list \(action), text TEXT);
                """, tables: ["list", "item"])
        try a.execute("INSERT INTO list VALUES (?, 'one'), (?, 'two')", [key(1), key(2)])
        try a.execute(
            "INSERT INTO item VALUES (?, ?, 'first'), (?, ?, 'second')", [key(11), key(1), key(12), key(2)])
        let b = try stores.clone(a, as: "b.db")
        try b.synchronizer.untrack(["list", "item"])
        try a.execute("DELETE FROM item")
        try a.execute("DELETE FROM list")
        try b.sync(a)
        #expect(try count(b, "list") == 2 && count(b, "item") == 2)
        return (a, b)
    }

    private func problems(_ replica: TestReplica) throws -> [String] {
        try replica.queue.read { try MetadataCheck.problems(of: $0, isDeep: true).map(\.message) }
    }

    /// A row that refers to one that peers deleted stands not against that when it was deleted as well, whichever of the two
    /// tables is named first.
    @Test(
        arguments: Self.refusing + ["ON DELETE CASCADE", "ON DELETE SET NULL"],
        [["list", "item"], ["item", "list"]])
    func theyGoTogether(action: String, tables: [String]) throws {
        let (a, b) = try lists(action)
        try b.synchronizer.track(tables)
        try b.sync(a)
        for replica in [a, b] {
            #expect(try count(replica, "list") == 0 && count(replica, "item") == 0)
            #expect(try problems(replica).isEmpty)
        }
    }

    @Test(arguments: Self.refusing, [["list", "item"], ["item", "list"]])
    func aChildThatWasWrittenHereKeepsItsParentAndNoOther(action: String, tables: [String]) throws {
        let (a, b) = try lists(action)
        try b.execute("UPDATE item SET text = 'written here' WHERE text = 'second'")
        try b.synchronizer.track(tables)
        try b.sync(a)
        for replica in [a, b] {
            #expect(try replica.value("SELECT group_concat(name) FROM list") == "two")
            #expect(try replica.value("SELECT group_concat(text) FROM item") == "written here")
            #expect(try problems(replica).isEmpty)
        }
    }

    /// Each attempt is a savepoint of its own, and in the wrong order a chain would take as many as the square of its length.
    @Test(arguments: Self.refusing, [true, false])
    func aLongChainTakesFewAttempts(action: String, parentsAreFirst: Bool) throws {
        let count: UInt8 = 60
        let a = try stores.create(
            schema: "CREATE TABLE node (id BLOB PRIMARY KEY, parent BLOB REFERENCES node \(action))",
            tables: ["node"])
        for number in parentsAreFirst ? Array(1...count) : (1...count).reversed() {
            try a.execute("INSERT INTO node (id) VALUES (?)", [key(number)])
        }
        for number in 2...count {
            try a.execute("UPDATE node SET parent = ? WHERE id = ?", [key(number - 1), key(number)])
        }
        let b = try stores.clone(a, as: "b.db")
        try b.synchronizer.untrack(["node"])
        for number in (1...count).reversed() {
            try a.execute("DELETE FROM node WHERE id = ?", [key(number)])
        }
        try b.sync(a)
        var attemptCount = 0
        b.queue.inDatabase { db in
            db.trace { event in
                if "\(event)".hasPrefix("DELETE FROM main.\"node\"") { attemptCount += 1 }
            }
        }
        try b.synchronizer.track(["node"])
        b.queue.inDatabase { $0.trace(options: []) }
        try b.sync(a)
        // SQLite may tell of one attempt twice. The square would be 1,830.
        #expect((Int(count)...5 * Int(count)).contains(attemptCount), "\(attemptCount)")
        for replica in [a, b] { #expect(try self.count(replica, "node") == 0) }
    }

    /// Parents come before their children by their keys.
    @Test(arguments: Self.refusing)
    func aTreeGoesBesideARowThatStays(action: String) throws {
        let a = try stores.create(
            schema: """
                CREATE TABLE node (id BLOB PRIMARY KEY, parent BLOB REFERENCES node \(action));
                CREATE TABLE pin (id INTEGER PRIMARY KEY, node BLOB REFERENCES node \(action));
                """, tables: ["node"])
        for (number, parent) in [(1, nil), (2, 1), (3, 2), (9, nil)] as [(UInt8, UInt8?)] {
            try a.execute("INSERT INTO node VALUES (?, ?)", [key(number), parent.map { key($0) }])
        }
        let b = try stores.clone(a, as: "b.db")
        try b.execute("INSERT INTO pin (node) VALUES (?)", [key(9)])
        try b.synchronizer.untrack(["node"])
        for number in [3, 2, 1, 9] as [UInt8] {
            try a.execute("DELETE FROM node WHERE id = ?", [key(number)])
        }
        try b.sync(a)
        try b.synchronizer.track(["node"])
        try b.sync(a)
        for replica in [a, b] {
            #expect(
                try count(replica, "node") == 1
                    && replica.value("SELECT id FROM node", as: Data.self) == key(9))
            #expect(try problems(replica).isEmpty)
        }
    }
}
