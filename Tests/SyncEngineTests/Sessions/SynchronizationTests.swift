import CipherStore
import Foundation
import Testing

@testable import SyncEngine

@Suite struct SynchronizationTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    @Test func rowsTravelBothWays() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'from a')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'second')", [key(2)])
        try b.execute("INSERT INTO tag VALUES ('0190f5fe-7c00-7a00-8000-00000000000a', 'red')")
        let report = try a.sync(b)
        #expect(report.pulled?.rowCount == 1)
        #expect(report.pushed?.rowCount == 1)
        #expect(report.conflictCount == 0)
        #expect(try a.dump() == b.dump())
        #expect(try a.dump().count == 3)
    }

    @Test func synchronizingAgainMovesNothing() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'x')", [key(1)])
        try a.sync(b)
        let again = try a.sync(b)
        #expect(again.pulled == nil)
        #expect(again.pushed == nil)
    }

    @Test func editsOfDifferentColumnsAreBothKept() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title, body) VALUES (?, 't', 'b')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("UPDATE note SET title = 'A'")
        try b.execute("UPDATE note SET body = 'B'")
        let report = try a.sync(b)
        #expect(report.conflictCount == 0)
        #expect(try a.value("SELECT title || body FROM note") == "AB")
        #expect(try a.dump() == b.dump())
    }

    @Test func theLaterEditOfAColumnWinsAndTheOtherIsKeptInTheJournal() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 't')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("UPDATE note SET title = 'early'")
        try b.execute("UPDATE note SET title = 'late'")
        let report = try a.sync(b)
        #expect(report.conflictCount == 1)
        #expect(try a.value("SELECT title FROM note") == "late")
        #expect(try a.dump() == b.dump())
        #expect(try a.conflicts() == ["0 \"early\" \"newer\""])
        #expect(try b.conflicts().isEmpty)
    }

    @Test func aDeleteBeatsAConcurrentEditWhichIsKeptInTheJournal() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 't')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("DELETE FROM note")
        try b.execute("UPDATE note SET title = 'edited'")
        try a.sync(b)
        #expect(try a.dump().isEmpty)
        #expect(try b.dump().isEmpty)
        // By who discarded it, and by who wrote it, who has the rest of the row.
        for replica in [a, b] { #expect(try replica.conflicts() == ["0 \"edited\" \"deleted\""]) }
    }

    @Test func aRowThatIsInsertedAgainBeginsANewLife() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'one')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try b.execute("UPDATE note SET title = 'old life'")
        try a.execute("DELETE FROM note")
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'two')", [key(1)])
        try a.sync(b)
        #expect(try a.value("SELECT title FROM note") == "two")
        #expect(try a.dump() == b.dump())
    }

    @Test func replaceIsCapturedAsADeleteOfTheRowThatGaveWay() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO tag VALUES ('0190f5fe-7c00-7a00-8000-00000000000a', 'red')")
        let b = try stores.clone(a, as: "b.db")
        try a.execute("INSERT OR REPLACE INTO tag VALUES ('0190f5fe-7c00-7a00-8000-00000000000b', 'red')")
        try a.sync(b)
        #expect(try b.dump() == ["tag \"0190f5fe-7c00-7a00-8000-00000000000b\" \"red\""])
    }

    @Test func changesOfCaseAndOfTypeAreCaptured() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title, body) VALUES (?, 'abc', 1)", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("UPDATE note SET title = 'ABC', body = x'31'")
        try a.sync(b)
        #expect(try b.value("SELECT title FROM note") == "ABC")
        #expect(try b.value("SELECT typeof(body) FROM note") == "blob")
    }

    @Test func aChangedKeyIsADeleteAndAnInsert() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'x')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("UPDATE note SET id = ?", [key(2)])
        try a.sync(b)
        #expect(try b.dump() == a.dump())
        #expect(try b.dump().count == 1)
    }

    @Test func threeReplicasConvergeThroughTheMiddle() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        let c = try stores.clone(b, as: "c.db")
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(1)])
        try c.execute("INSERT INTO note (id, title) VALUES (?, 'c')", [key(3)])
        try a.sync(b)
        try b.sync(c)
        try a.sync(b)
        #expect(try a.dump() == c.dump())
        #expect(try a.dump() == b.dump())
        // What came through b is known, wherever it comes from next.
        #expect(try a.sync(c).pulled == nil)
    }

    @Test func aValueOfEachTypeArrivesAsItWas() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        let values: [DatabaseValue] = [
            .null, Int64.min.databaseValue, Int64.max.databaseValue, 0.1.databaseValue, (-0.0).databaseValue,
            Double.infinity.databaseValue, "".databaseValue, "a\0b".databaseValue, "é日本🐟".databaseValue,
            Data().databaseValue, Data([0, 255]).databaseValue,
            Data(repeating: 7, count: 3_000_000).databaseValue,
        ]
        for (index, value) in values.enumerated() {
            try a.execute("INSERT INTO note (id, body) VALUES (?, ?)", [key(UInt8(index)), value])
        }
        try a.sync(b)
        #expect(try a.dump() == b.dump())
        #expect(
            try b.value("SELECT length(body) FROM note WHERE id = x'0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B'")
                == 3_000_000)
    }

    @Test func aRowThatAConstraintRefusesIsParkedAndComesBack() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        try b.execute("INSERT INTO tag VALUES ('0190f5fe-7c00-7a00-8000-00000000000b', 'red')")
        try a.execute("INSERT INTO tag VALUES ('0190f5fe-7c00-7a00-8000-00000000000a', 'red')")
        let report = try a.sync(b, .push)
        #expect(report.parkedCount == 1)
        #expect(try b.synchronizer.status().parkedCount == 1)
        try b.execute("UPDATE tag SET name = 'blue'")
        try a.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        try a.sync(b)
        #expect(try b.synchronizer.status().parkedCount == 0)
        #expect(try a.dump() == b.dump())
    }

    @Test func parkedRowsAreForwarded() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        let c = try stores.clone(a, as: "c.db")
        try b.execute("INSERT INTO tag VALUES ('0190f5fe-7c00-7a00-8000-00000000000b', 'red')")
        try a.execute("INSERT INTO tag VALUES ('0190f5fe-7c00-7a00-8000-00000000000a', 'red')")
        try a.sync(b, .push)
        try b.execute("DELETE FROM tag")
        try b.sync(c, .push)
        #expect(try c.value("SELECT id FROM tag") == "0190f5fe-7c00-7a00-8000-00000000000a")
    }

    @Test func childrenThatLoseTheirParentAreParked() throws {
        let schema = """
            CREATE TABLE author (id BLOB PRIMARY KEY, name TEXT);
            CREATE TABLE book (id BLOB PRIMARY KEY, author BLOB REFERENCES author(id), title TEXT);
            """
        let a = try stores.create(schema: schema, tables: ["book", "author"])
        try a.execute("INSERT INTO author VALUES (?, 'x')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("DELETE FROM author")
        try b.execute("INSERT INTO book VALUES (?, ?, 'orphan')", [key(2), key(1)])
        try a.sync(b)
        #expect(try a.dump(["author", "book"]) == [])
        #expect(try b.dump(["author", "book"]) == [])
        #expect(try a.synchronizer.status().parkedCount == 1)
        #expect(try b.synchronizer.status().parkedCount == 1)
        // The parent returns, and the child with it.
        try a.execute("INSERT INTO author VALUES (?, 'again')", [key(1)])
        try a.sync(b)
        try a.sync(b)
        try b.execute("UPDATE author SET name = 'nudge'")
        try a.sync(b)
        #expect(try b.dump(["author", "book"]).count == 2)
        #expect(try a.dump(["author", "book"]) == b.dump(["author", "book"]))
    }

    @Test func anotherDatabaseIsRefused() throws {
        let a = try stores.create("a.db")
        let b = try stores.create("b.db")
        let error = #expect(throws: SyncError.self) { try a.sync(b) }
        #expect(error?.code == .otherStore)
    }

    @Test func aPlainCopyOfTheFileIsRefused() throws {
        let a = try stores.create("a.db")
        try a.queue.close()
        try FileManager.default.copyItem(atPath: stores.path("a.db"), toPath: stores.path("copy.db"))
        let again = try stores.open("a.db")
        let transport = StoreTransport(
            path: stores.path("copy.db"), configuration: TestStores.configuration("a.db"))
        let error = #expect(throws: SyncError.self) { try again.synchronizer.run(.both, transport) }
        #expect(error?.code == .sameReplica)
    }

    @Test func aRestoredFileGetsANewIdentityAndLosesNothing() throws {
        let a = try stores.create("a.db")
        let b = try stores.clone(a, as: "b.db")
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'kept')", [key(1)])
        try a.sync(b)
        try a.queue.close()
        let backup = stores.path("backup.db")
        try FileManager.default.copyItem(atPath: stores.path("a.db"), toPath: backup)
        let later = try stores.open("a.db")
        try later.execute("INSERT INTO note (id, title) VALUES (?, 'after the backup')", [key(2)])
        try later.sync(b)
        try later.queue.close()
        try FileManager.default.removeItem(atPath: stores.path("a.db"))
        try FileManager.default.moveItem(atPath: backup, toPath: stores.path("a.db"))
        let restored = try stores.open("a.db")
        try restored.execute("INSERT INTO note (id, title) VALUES (?, 'after the restore')", [key(3)])
        let report = try restored.sync(b)
        #expect(report.renewedReplicas.count == 1)
        #expect(try restored.dump().count == 3)
        #expect(try restored.dump() == b.dump())
    }

    @Test func aRowWrittenWhileATransactionIsRolledBackIsNotSent() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        struct Undo: Error {}
        #expect(throws: Undo.self) {
            try a.queue.write { db in
                try db.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(1)])
                throw Undo()
            }
        }
        #expect(try a.sync(b).pushed == nil)
    }

    @Test func aCancelledPushAppliesNothing() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        try a.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try a.synchronizer.run(.push, b.transport) { _ in throw Stop() }
        }
        #expect(try b.dump().isEmpty)
        try a.sync(b)
        #expect(try b.dump().count == 1)
    }

    @Test(arguments: ["INTEGER PRIMARY KEY", "TEXT", "TEXT PRIMARY KEY"]) func unsuitableKeysAreRefused(
        declaration: String
    ) throws {
        let a = try stores.create(schema: "CREATE TABLE t (id \(declaration), x)", tables: [])
        try a.execute("INSERT INTO t VALUES (1, 2)")
        let error = #expect(throws: SyncError.self) { try a.synchronizer.track(["t"]) }
        #expect(error?.code == .unsuitableKey)
    }

    @Test func theLogCannotBeEmptiedAndSoItsNumbersNeverRepeat() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        #expect(throws: DatabaseError.self) { try a.execute("DELETE FROM _sync_log") }
        #expect(try a.value("SELECT count(*) FROM _sync_log", as: Int.self) == 1)
    }

    @Test func aTableOfManyColumnsIsTrackedWhole() throws {
        let columns = (0..<150).map { "c\($0)" }
        let schema = "CREATE TABLE wide (id BLOB PRIMARY KEY, \(columns.joined(separator: ", ")))"
        let a = try stores.create(schema: schema, tables: ["wide"])
        try a.execute("INSERT INTO wide (id) VALUES (?)", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("UPDATE wide SET c0 = 1, c59 = 2, c60 = 3, c149 = 4")
        try a.sync(b)
        #expect(try b.dump(["wide"]) == a.dump(["wide"]))
        #expect(try b.value("SELECT c0 + c59 + c60 + c149 FROM wide") == 10)
    }
}
