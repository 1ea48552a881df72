import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Triggers of the app that end a statement early, and keep what it wrote.
@Suite struct EarlyEndTests {
    /// A trigger, and a statement that it ends.
    struct Example: Sendable {
        let trigger: String
        let statement: String
    }

    /// When the trigger is made.
    enum Time: CaseIterable {
        case beforeTracking, afterwards, inAMigration, byAnotherProgram
    }

    static let examples = [
        Example(
            trigger: """
                CREATE TRIGGER early AFTER UPDATE OF title ON note BEGIN
                    SELECT RAISE(IGNORE) WHERE NEW.title = ''; INSERT INTO mine VALUES (NEW.title);
                END
                """, statement: "UPDATE note SET title = ''"),
        Example(
            trigger: """
                CREATE TRIGGER IF NOT EXISTS main.early AFTER DELETE ON [Note] BEGIN
                    SELECT RAISE(IGNORE) WHERE OLD.title = 'draft'; INSERT INTO mine VALUES (OLD.title);
                END
                """, statement: "DELETE FROM note"),
        Example(
            trigger: "CREATE TRIGGER early AFTER UPDATE ON note BEGIN SELECT RAISE(FAIL, 'no'); END",
            statement: "UPDATE note SET title = 'new'"),
        Example(
            trigger:
                "CREATE TRIGGER early AFTER INSERT ON note BEGIN INSERT INTO mine VALUES (NEW.title); END",
            statement: "INSERT OR FAIL INTO note VALUES (x'09090909090909090909090909090909', 'taken')"),
        Example(
            trigger:
                "CREATE TRIGGER early AFTER UPDATE ON note BEGIN INSERT INTO mine VALUES (NEW.title); END",
            statement: "UPDATE OR FAIL note SET title = 'taken'"),
    ]

    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func pair(_ schema: String, _ tables: [String]) throws -> (TestReplica, TestReplica) {
        let a = try stores.create(schema: schema, tables: tables)
        try a.execute("INSERT INTO note VALUES (?, 'draft')", [key(1)])
        return (a, try stores.clone(a, as: "b.db"))
    }

    /// Runs a statement that may fail and leave what it did, and sees to it that the other replica gets that.
    private func expectToBeSent(_ statement: String, from b: TestReplica, to a: TestReplica) throws {
        let before = try b.dump(["note"])
        try b.queue.write { db in
            do { try db.execute(sql: statement) } catch is DatabaseError {}
        }
        let after = try b.dump(["note"])
        #expect(after != before)
        try b.sync(a)
        #expect(try a.dump(["note"]) == after)
        #expect(try b.dump(["note"]) == after)
        for replica in [a, b] {
            #expect(try replica.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) } == [])
        }
    }

    @Test(arguments: examples, Time.allCases)
    func whatAStatementWroteThatEndsEarlyIsSent(_ example: Example, _ time: Time) throws {
        let schema = """
            CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT);
            CREATE TABLE mine (title UNIQUE);
            INSERT INTO mine VALUES ('taken');
            """
        let (a, b) = try pair(schema + (time == .beforeTracking ? example.trigger : ""), ["note"])
        // There it would refuse what comes.
        try a.execute("DROP TRIGGER IF EXISTS early")
        switch time {
        case .beforeTracking: break
        case .afterwards: try b.queue.write { try $0.execute(sql: example.trigger) }
        case .inAMigration: try b.migrate("trigger") { try $0.execute(sql: example.trigger) }
        case .byAnotherProgram:
            try b.changeUnobserved(example.trigger)
            try b.sync(a)
        }
        try expectToBeSent(example.statement, from: b, to: a)
    }

    private static let twoTables = """
        CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT);
        CREATE TABLE tag (id BLOB PRIMARY KEY, name TEXT);
        CREATE TRIGGER early AFTER UPDATE OF title ON note BEGIN
            SELECT RAISE(IGNORE) WHERE NEW.title = ''; UPDATE tag SET name = NEW.title;
        END;
        """

    /// It is out of the way for that, and made anew.
    @Test func aTriggerThatWritesToATrackedTableIsNotTheNewestAfterASynchronization() throws {
        let (a, b) = try pair(Self.twoTables, ["note", "tag"])
        try a.execute("INSERT INTO tag VALUES (?, 'red')", [key(2)])
        try b.sync(a)
        #expect(try b.value("SELECT name FROM tag", as: String.self) == "red")
        try expectToBeSent("UPDATE note SET title = ''", from: b, to: a)
    }

    /// All triggers of the table are out of the way for a row whose deletion is refused.
    @Test func aTriggerIsNotTheNewestAfterADeletionThatAnotherOneRefused() throws {
        let (a, b) = try pair(
            """
            CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT);
            CREATE TRIGGER early AFTER UPDATE OF title ON note WHEN NEW.title = '' BEGIN SELECT RAISE(IGNORE); END;
            """, ["note"])
        try a.execute("INSERT INTO note VALUES (?, 'goes')", [key(2)])
        try b.sync(a)
        try b.execute("CREATE TRIGGER keep BEFORE DELETE ON note BEGIN SELECT RAISE(ABORT, 'no'); END")
        try a.execute("DELETE FROM note WHERE id = ?", [key(2)])
        try b.sync(a)
        #expect(try b.dump(["note"]).count == 1)
        try expectToBeSent("UPDATE note SET title = ''", from: b, to: a)
    }

    @Test func triggersThatAreTheNewestStayAsTheyAre() throws {
        let (a, b) = try pair(
            "CREATE TABLE note (id BLOB PRIMARY KEY, title); CREATE TABLE tag (id BLOB PRIMARY KEY)",
            ["note", "tag"])
        let numbers = "SELECT group_concat(rowid) FROM sqlite_master WHERE name GLOB '_sync_[iudk]*_[12]'"
        let before = try b.value(numbers, as: String.self)
        try b.execute("CREATE TRIGGER first BEFORE UPDATE ON note BEGIN SELECT 1; END")
        try b.execute("CREATE INDEX by_title ON note (title)")
        try b.sync(a)
        #expect(try b.value(numbers, as: String.self) == before)
        // Those of other tables stay, too.
        let ofTag = numbers.replacing("[12]", with: "2")
        let beforeTrigger = try b.value(ofTag, as: String.self)
        try b.execute("CREATE TRIGGER last AFTER UPDATE ON note BEGIN SELECT 1; END")
        #expect(try b.value(ofTag, as: String.self) == beforeTrigger)
        #expect(try b.value(numbers, as: String.self) != before)
        #expect(try b.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) } == [])
    }
}
