import CipherStore
import Foundation
import Synchronization
import Testing

@testable import SyncEngine

/// The triggers of deletions, which open no statement journal, and the table that they keep rows in.
@Suite struct DeletionTriggerTests {
    private func pair(rowCount: Int = 1) throws -> (TestReplica, TestReplica) {
        let stores = try TestStores()
        let a = try stores.create(
            schema: "CREATE TABLE item (id BLOB PRIMARY KEY, name TEXT, n INTEGER NOT NULL)", tables: ["item"]
        )
        for number in 0..<rowCount {
            try a.execute("INSERT INTO item VALUES (?, 'x', 1)", [key(UInt8(number + 1))])
        }
        return (a, try stores.clone(a, as: "b.db"))
    }

    /// The store as programs left it that kept rows in a table without rowids.
    private func makeFormer(_ replica: TestReplica) throws {
        let trigger = try #require(
            try replica.value("SELECT sql FROM sqlite_master WHERE name = '_sync_d_1'", as: String.self))
        try replica.changeUnobserved(
            """
            DROP TRIGGER _sync_d_1;
            \(trigger.replacing("INSERT OR ROLLBACK", with: "INSERT"));
            CREATE TABLE moved AS SELECT * FROM _sync_last;
            DROP TABLE _sync_last;
            \(LastRows.formerSchema)
            INSERT INTO _sync_last SELECT * FROM moved;
            DROP TABLE moved;
            """)
    }

    @Test func aFormerStoreIsBroughtUpToDateAndKeepsWhatItHas() throws {
        let (a, b) = try pair(rowCount: 2)
        try a.execute("DELETE FROM item WHERE id = ?", [key(1)])
        try makeFormer(a)
        #expect(try a.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) } == [])
        try b.execute("UPDATE item SET n = 2")
        for _ in 0..<2 { try a.sync(b) }
        let definitions = try a.queue.read { db in
            try String.fetchAll(
                db,
                sql: "SELECT sql FROM sqlite_master WHERE name IN ('_sync_last', '_sync_d_1') ORDER BY name")
        }
        #expect(definitions.first?.contains("INSERT OR ROLLBACK INTO _sync_last") == true)
        #expect(definitions.last?.contains("WITHOUT ROWID") == false)
        #expect(try a.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) } == [])
        _ = try a.synchronizer.resolve(.open, by: .restoreLost)
        #expect(
            try a.value(
                "SELECT name || n FROM item WHERE id = x'\(String(repeating: "01", count: 16))'",
                as: String.self) == "x2")
    }

    /// The table of last values has rowids, which have nothing to do with the numbers of the log.
    @Test(arguments: [false, true])
    func allPartsOfARowAreKeptWhateverOthersDeleted(hasFormerTrigger: Bool) throws {
        let stores = try TestStores()
        let names = (0..<70).map { "c\($0)" }
        let a = try stores.create(
            schema: "CREATE TABLE wide (id BLOB PRIMARY KEY, \(names.joined(separator: ", ")))",
            tables: ["wide"])
        try a.execute("INSERT INTO wide (id, c0, c69) VALUES (?, 'first', 'last')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        if hasFormerTrigger {
            let trigger = try #require(
                try a.value("SELECT sql FROM sqlite_master WHERE name = '_sync_d_1'", as: String.self))
            try a.changeUnobserved("DROP TRIGGER _sync_d_1; \(LastRows.formerTrigger(trigger))")
            #expect(try a.queue.read { try MetadataCheck.problems(of: $0, isDeep: false) } == [])
            try a.sync(b)
        }
        try a.changeUnobserved(
            """
            INSERT INTO _sync_last (rowid, r, life, part, at, size, vals) VALUES (90000, 900, 1, 0, 1, 1, '0=NULL')
            """)
        try a.execute("DELETE FROM wide")
        let parts = try a.value(
            "SELECT group_concat(part) FROM (SELECT part FROM _sync_last WHERE r < 900 ORDER BY part)",
            as: String.self)
        #expect(parts == "0,1")
    }

    @Test func aDeletionThatFailsHalfwayDeletesNothing() throws {
        let (a, _) = try pair(rowCount: 5)
        let entries = try a.logCount()
        let calls = CallCount()
        let fail = DatabaseFunction("fails", argumentCount: 1) { _ in
            if calls.next() == 3 { throw DatabaseError(message: "the third call fails") }
            return true
        }
        try a.queue.write { db in
            db.add(function: fail)
            #expect(throws: DatabaseError.self) { try db.execute(sql: "DELETE FROM item WHERE fails(id)") }
            #expect(db.isInsideTransaction)
        }
        #expect(try a.value("SELECT count(*) FROM item", as: Int.self) == 5)
        #expect(try a.logCount() == entries)
    }

    @Test func whatIsTooLongByItsBytesIsNotKept() throws {
        let (a, _) = try pair()
        // SQLite's length() ends at the NUL.
        let text = "\0" + String(repeating: "x", count: Int(LastRows.partSizeMax))
        try a.execute("UPDATE item SET name = ?", [text])
        try a.execute("DELETE FROM item")
        #expect(try a.value("SELECT count(*) FROM _sync_last", as: Int.self) == 0)
    }

    private final class CallCount: Sendable {
        private let count = Mutex(0)

        func next() -> Int {
            count.withLock {
                $0 += 1
                return $0
            }
        }
    }
}
