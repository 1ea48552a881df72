import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Rows for whose values an expression of a table does not say no, but fails: SQLite reports an error and no constraint.
@Suite struct FailingExpressionTests {
    /// What a store with a later schema says of a column, and values that it fails for, and takes.
    struct Sample: Sendable, CustomTestStringConvertible {
        let constraint: String
        var index = ""
        let bad: String
        let good: String
        let words: String
        var testDescription: String { constraint + index }
    }

    /// The least integer.
    private static let least = "(-9223372036854775807 - 1)"

    static let samples = [
        Sample(
            constraint: ", CHECK (abs(v) < 100)", bad: least, good: "1", words: "integer overflow"),
        Sample(
            constraint: "", index: "CREATE INDEX i ON t (abs(v));", bad: least, good: "1",
            words: "integer overflow"),
        Sample(
            constraint: "", index: "CREATE INDEX i ON t (note) WHERE abs(v) < 100;", bad: least, good: "1",
            words: "integer overflow"),
        Sample(
            constraint: ", CHECK (json_type(v) = 'object')", bad: "'{bad'", good: "'{}'",
            words: "malformed JSON"),
        Sample(
            constraint: ", CHECK (length(zeroblob(v)) >= 0)", bad: "2000000000", good: "1",
            words: "too big"),
    ]

    private static let schema = "CREATE TABLE t (id BLOB PRIMARY KEY, v, note)"

    private func expectSound(_ replica: TestReplica) throws {
        let problems = try replica.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) }
        #expect(problems.isEmpty, "\(problems)")
    }

    @Test(arguments: samples)
    func aRowForWhichItFailsIsHiddenUntilItIsWell(_ sample: Sample) throws {
        let stores = try TestStores()
        let a = try stores.create(schema: Self.schema, tables: ["t"])
        let b = try stores.clone(a, as: "b.db")
        try b.migrate("strict") { db in
            try db.execute(
                sql: """
                    CREATE TABLE new (id BLOB PRIMARY KEY, v, note \(sample.constraint));
                    INSERT INTO new SELECT id, v, note FROM t; DROP TABLE t; ALTER TABLE new RENAME TO t;
                    \(sample.index)
                    """)
        }
        try a.execute(
            "INSERT INTO t VALUES (?, \(sample.bad), 'bad'), (?, \(sample.good), 'good')",
            [key(1), key(2)])
        try a.sync(b)
        #expect(try b.value("SELECT group_concat(note) FROM t", as: String.self) == "good")
        let row = try #require(try b.synchronizer.parkedRows().first)
        #expect(row.reason == .check)
        #expect(row.message.contains(sample.words), "\(row.message)")
        #expect(row.values["note"] == "bad".databaseValue)
        // An update that can't be written hides what was shown, and nothing else waits for it.
        try a.execute("UPDATE t SET v = \(sample.bad), note = 'worse' WHERE id = ?", [key(2)])
        try a.execute("INSERT INTO t VALUES (?, \(sample.good), 'third')", [key(3)])
        try a.sync(b)
        #expect(try b.value("SELECT group_concat(note) FROM t", as: String.self) == "third")
        #expect(try b.synchronizer.status().parkedCount == 2)
        try expectSound(b)
        try a.execute("UPDATE t SET v = \(sample.good)")
        try a.sync(b)
        #expect(try a.dump(["t"]) == b.dump(["t"]))
        #expect(try b.synchronizer.status().parkedCount == 0)
    }

    @Test func aDeviceCannotStopAServerThatHasSuchAnIndex() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        try hub.queue.write { try $0.execute(sql: "CREATE INDEX i ON item (abs(x))") }
        let row = Forgery.Row(
            number: 1, base: WireStamp(timestamp: 1, replica: 0, sequence: 1),
            values: [0: "a", 1: .integer(.min)])
        try hub.take(Forgery(hub, AdmissionTests.replica(1), [row]), within: nil)
        #expect(try hub.value("SELECT count(*) FROM item", as: Int.self) == 0)
        #expect(try hub.synchronizer.parkedRows().map(\.reason) == [.check])
        try expectExchange(hub, stores)
    }

    @Test func aTableThatIsMadeAfterItsRowsHidesThem() throws {
        let stores = try TestStores()
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        try a.migrate("t") { try $0.execute(sql: Self.schema) }
        try a.synchronizer.track(["t"])
        try a.execute("INSERT INTO t VALUES (?, \(Self.least), 'bad'), (?, 1, 'good')", [key(1), key(2)])
        try a.sync(b)
        #expect(try b.synchronizer.status().parkedCount == 2)
        try b.migrate("t") { db in
            try db.execute(sql: "CREATE TABLE t (id BLOB PRIMARY KEY, v CHECK (abs(v) < 100), note)")
        }
        try b.synchronizer.track(["t"])
        #expect(try b.value("SELECT group_concat(note) FROM t", as: String.self) == "good")
        #expect(try b.synchronizer.parkedRows().map(\.reason) == [.check])
        try expectSound(b)
    }

    /// Nobody gives way to it, although it is older.
    @Test func aRowForWhichItFailsClaimsNothing() throws {
        let stores = try TestStores()
        let schema = "CREATE TABLE t (id BLOB PRIMARY KEY, v, note UNIQUE)"
        let a = try stores.create(schema: schema, tables: ["t"])
        let b = try stores.clone(a, as: "b.db")
        try b.queue.write { try $0.execute(sql: "CREATE INDEX i ON t (abs(v))") }
        try a.execute("INSERT INTO t VALUES (?, \(Self.least), 'x')", [key(1)])
        try b.execute("INSERT INTO t VALUES (?, 1, 'x')", [key(2)])
        try a.sync(b)
        #expect(try b.value("SELECT v FROM t", as: Int.self) == 1)
        #expect(try b.synchronizer.parkedRows().map(\.key) == [key(1).databaseValue])
        try expectSound(b)
    }

    // MARK: Triggers

    /// Two replicas, of which the second one keeps a table by triggers that fail for the least integer, after they wrote.
    private func pairWithTriggers(_ stores: TestStores) throws -> (TestReplica, TestReplica) {
        let a = try stores.create(schema: Self.schema, tables: ["t"])
        let b = try stores.clone(a, as: "b.db")
        try b.queue.write { db throws in
            try db.execute(sql: "CREATE TABLE heard (what)")
            for (event, row) in [("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD")] {
                try db.execute(
                    sql: """
                        CREATE TRIGGER "on \(event)" AFTER \(event) ON t BEGIN
                            INSERT INTO heard VALUES ('\(event)'); SELECT abs(\(row).v);
                        END
                        """)
            }
        }
        return (a, b)
    }

    private func heard(_ replica: TestReplica) throws -> [String] {
        try replica.queue.read { try String.fetchAll($0, sql: "SELECT what FROM heard ORDER BY rowid") }
    }

    @Test func whatATriggerDidBeforeItFailedIsUndone() throws {
        let stores = try TestStores()
        let (a, b) = try pairWithTriggers(stores)
        try a.execute("INSERT INTO t VALUES (?, 1, 'good')", [key(1)])
        try a.execute("INSERT INTO t VALUES (?, \(Self.least), 'bad')", [key(2)])
        try a.sync(b)
        #expect(try b.value("SELECT group_concat(note) FROM t", as: String.self) == "good")
        #expect(try b.synchronizer.parkedRows().map(\.reason) == [.other])
        #expect(try heard(b) == ["INSERT"])
        try a.execute("UPDATE t SET v = \(Self.least) WHERE id = ?", [key(1)])
        try a.sync(b)
        #expect(try b.dump(["t"]).isEmpty)
        #expect(try heard(b) == ["INSERT", "DELETE"])
        try a.execute("UPDATE t SET v = 5")
        try a.sync(b)
        #expect(try a.dump(["t"]) == b.dump(["t"]))
        #expect(try heard(b) == ["INSERT", "DELETE", "INSERT", "INSERT"])
        try expectSound(b)
    }

    @Test func aTriggerThatFailsDoesNotStopADelete() throws {
        let stores = try TestStores()
        let (a, b) = try pairWithTriggers(stores)
        try b.queue.write { try $0.execute(sql: "DROP TRIGGER \"on INSERT\"") }
        try a.execute("INSERT INTO t VALUES (?, \(Self.least), 'bad')", [key(1)])
        try a.sync(b)
        #expect(try b.dump(["t"]).count == 1)
        try a.execute("DELETE FROM t")
        try a.sync(b)
        #expect(try b.dump(["t"]).isEmpty)
        #expect(try heard(b).isEmpty)
        let triggers = "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND name GLOB 'on *'"
        #expect(try b.value(triggers, as: Int.self) == 2)
        try expectSound(b)
    }

    // MARK: Errors of a schema

    @Test func aTableThatIsMissingFailsTheWholeAndParksNothing() throws {
        let stores = try TestStores()
        let (a, b) = try pairWithTriggers(stores)
        try b.queue.write { try $0.execute(sql: "DROP TABLE heard") }
        try a.execute("INSERT INTO t VALUES (?, 1, 'good')", [key(1)])
        let error = #expect(throws: DatabaseError.self) { try a.sync(b) }
        #expect(error?.message?.contains("no such table") == true)
        #expect(try b.synchronizer.status().parkedCount == 0)
        try b.queue.write { try $0.execute(sql: "CREATE TABLE heard (what)") }
        try a.sync(b)
        #expect(try a.dump(["t"]) == b.dump(["t"]))
        #expect(try heard(b) == ["INSERT"])
    }

    @Test(arguments: [
        "no such table: main.heard", "no such column: v", "no such function: f",
        "vtable constructor failed: w", nil,
    ])
    func whatASchemaLacksIsNoErrorOfARow(_ message: String?) {
        #expect(!DatabaseError(resultCode: .SQLITE_ERROR, message: message).mayConcernValues)
    }

    @Test func errorsOfTheFileAreNoErrorsOfARow() {
        let codes: [ResultCode] = [
            .SQLITE_IOERR, .SQLITE_FULL, .SQLITE_NOMEM, .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_CORRUPT,
            .SQLITE_NOTADB, .SQLITE_INTERRUPT, .SQLITE_ABORT, .SQLITE_AUTH, .SQLITE_SCHEMA, .SQLITE_READONLY,
            .SQLITE_MISUSE, .SQLITE_IOERR_NOMEM,
        ]
        for code in codes {
            #expect(!DatabaseError(resultCode: code, message: "malformed JSON").mayConcernValues)
        }
        #expect(DatabaseError(resultCode: .SQLITE_ERROR, message: "malformed JSON").mayConcernValues)
        #expect(DatabaseError(resultCode: .SQLITE_TOOBIG).mayConcernValues)
    }
}
