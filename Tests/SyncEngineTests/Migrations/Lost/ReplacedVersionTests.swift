import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// What was edited after the last fold in a table, or a column, that another program took away: others may have what the
/// edit replaced, and nothing else.
@Suite struct ReplacedVersionTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func waiting(_ report: SyncReport) -> [String] { report.waitingTables.map(\.name) }

    private static let anew = """
        CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT COLLATE NOCASE, body TEXT, stars INTEGER DEFAULT 0)
        """

    private func expectRowsComeBack(to replica: TestReplica) throws {
        try replica.changeUnobserved(Self.anew)
        try replica.synchronizer.track(["note"])
        #expect(try replica.titles() == ["one"])
        #expect(try replica.problems() == [])
    }

    // MARK: Tables

    /// The number of the last fold is that of a row of another table, which goes along with nothing of the lost one.
    @Test func whatWasWrittenToOtherTablesIsNotWaitedFor() throws {
        let a = try stores.create()
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        try a.execute("INSERT INTO tag (id, name) VALUES (?, 'of a')", [key(7)])
        _ = try a.peer.greet()
        try a.execute("UPDATE note SET title = 'ONE'")
        try a.changeUnobserved("DROP TABLE note")
        let report = try a.sync(b)
        #expect(waiting(report) == [])
        #expect(try b.titles() == ["one"])
        #expect(try b.value("SELECT name FROM tag") == "of a")
        try expectRowsComeBack(to: a)
    }

    @Test func aCloneThatWroteNothingBeforeWaitsForNothing() throws {
        let a = try stores.create()
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        try b.execute("UPDATE note SET title = 'ONE'")
        try b.changeUnobserved("DROP TABLE note")
        let report = try b.sync(a)
        #expect(waiting(report) == [])
        #expect(try a.titles() == ["one"])
        try expectRowsComeBack(to: b)
    }

    /// A deletion that was sent to one replica only, of a row that was inserted again just before.
    @Test func aDeletionThatWasReplacedJustBeforeIsWaitedFor() throws {
        let a = try stores.create()
        try a.insert(1, "one")
        let c = try stores.clone(a, as: "c.db")
        let b = try stores.clone(a, as: "b.db")
        try a.execute("DELETE FROM note")
        try a.sync(b)
        try a.insert(1, "again")
        try a.changeUnobserved("DROP TABLE note")
        let report = try a.sync(c)
        #expect(waiting(report) == ["note"])
        #expect(try c.titles() == ["one"])
        let later = try a.sync(b)
        #expect(waiting(later) == [])
        try c.sync(b)
        #expect(try c.titles() == [] && b.titles() == [])
        #expect(try c.state(["note"]) == b.state(["note"]))
    }

    // MARK: Values that wait

    /// A fold lists the parked values that are replaced, while the versions before it are still needed.
    @Test(arguments: ["DROP TABLE note", Self.rebuild])
    func aValueOfAnotherTableThatWaitsStandsNotAgainstIt(change: String) throws {
        let a = try stores.create()
        try a.insert(1, "one")
        try a.execute("INSERT INTO tag (id, name) VALUES (?, 'of a')", [key(7)])
        let b = try stores.clone(a, as: "b.db")
        try b.migrate("more") { try $0.execute(sql: "ALTER TABLE tag ADD COLUMN more TEXT") }
        try b.execute("UPDATE tag SET more = 'waits'")
        try a.sync(b)
        #expect(try a.value("SELECT val FROM _sync_shadow") == "waits")
        try a.execute("UPDATE note SET body = 'gone'")
        try a.changeUnobserved(change)
        try a.sync(b)
        try b.execute("UPDATE tag SET name = 'of b'")
        try a.sync(b)
        #expect(try a.value("SELECT name FROM tag") == "of b")
        let waiting = """
            SELECT val FROM _sync_shadow WHERE tbl = (SELECT tbl FROM _sync_table WHERE name = 'tag')
            """
        #expect(try a.value(waiting) == "waits")
        #expect(try b.titles() == ["one"])
        for replica in [a, b] { #expect(try replica.problems() == []) }
    }

    // MARK: Columns

    private static let rebuild = """
        CREATE TABLE copy (id BLOB PRIMARY KEY, title TEXT COLLATE NOCASE, stars INTEGER DEFAULT 0);
        INSERT INTO copy SELECT id, title, stars FROM note; DROP TABLE note; ALTER TABLE copy RENAME TO note;
        """

    /// One replica has the value that was sent, and the other one would count as knowing it.
    @Test func aValueThatWasSentAndThenReplacedReachesAllOthers() throws {
        let a = try stores.create()
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        let c = try stores.clone(a, as: "c.db")
        try a.execute("UPDATE note SET body = 'sent'")
        try a.sync(b)
        try a.execute("UPDATE note SET body = 'gone with the column'")
        try a.changeUnobserved(Self.rebuild)
        let report = try a.sync(c)
        #expect(waiting(report) == ["note"])
        try c.sync(b)
        #expect(try c.value("SELECT body FROM note") == "sent")
        #expect(try c.state(["note"]) == b.state(["note"]))
        let later = try a.sync(c)
        #expect(waiting(later) == [])
        #expect(try a.value("SELECT val FROM _sync_shadow WHERE why = 'dropped here'") == "sent")
        for replica in [a, b, c] {
            #expect(try replica.problems() == [] && replica.conflicts() == [])
        }
    }

    /// What was sent is not needed any more where the row was inserted anew.
    @Test func aValueOfAFormerLifeIsNotWaitedFor() throws {
        let a = try stores.create()
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        let c = try stores.clone(a, as: "c.db")
        try a.execute("UPDATE note SET body = 'sent'")
        try a.sync(b)
        try a.execute("DELETE FROM note")
        try a.insert(1, "again")
        try a.changeUnobserved(Self.rebuild)
        let report = try a.sync(c)
        #expect(waiting(report) == [])
        try c.sync(b)
        for replica in [a, b, c] { #expect(try replica.titles() == ["again"]) }
        #expect(try c.state(["note"]) == b.state(["note"]))
    }
}
