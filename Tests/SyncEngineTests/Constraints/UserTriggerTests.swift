import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Triggers of the app while a peer's changes are written.
@Suite struct UserTriggerTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func pair(_ schema: String, _ tables: [String]) throws -> (TestReplica, TestReplica) {
        let a = try stores.create(schema: schema, tables: tables)
        return (a, try stores.clone(a, as: "b.db"))
    }

    /// The triggers that the app has.
    private func triggers(_ replica: TestReplica) throws -> [String] {
        try replica.queue.read { db in
            try String.fetchAll(
                db,
                sql:
                    "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name NOT GLOB '_sync_*' ORDER BY name"
            )
        }
    }

    @Test func whatATriggerWroteToATrackedTableIsNotWrittenTwice() throws {
        let (a, b) = try pair(
            """
            CREATE TABLE item (id BLOB PRIMARY KEY, list);
            CREATE TABLE list (id BLOB PRIMARY KEY, n INTEGER DEFAULT 0);
            CREATE TRIGGER "count items" AFTER INSERT ON item BEGIN
                UPDATE "List" SET n = n + 1 WHERE id = NEW.list;
            END;
            """, ["item", "list"])
        let before = try triggers(b)
        try a.execute("INSERT INTO list (id) VALUES (?)", [key(1)])
        try a.execute("INSERT INTO item VALUES (?, ?)", [key(2), key(1)])
        try a.sync(b)
        #expect(try b.value("SELECT n FROM list", as: Int.self) == 1)
        #expect(try triggers(b) == before)
        // It runs for what is written here.
        try b.execute("INSERT INTO item VALUES (?, ?)", [key(3), key(1)])
        try a.sync(b)
        for replica in [a, b] {
            #expect(try replica.value("SELECT n FROM list", as: Int.self) == 2)
            #expect(try replica.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) }.isEmpty)
        }
        #expect(try a.sync(b).pushed == nil)
    }

    @Test func triggersOfOtherTablesRun() throws {
        let (a, b) = try pair(
            """
            CREATE TABLE note (id BLOB PRIMARY KEY, title UNIQUE);
            CREATE TABLE seen (title);
            CREATE TRIGGER i AFTER INSERT ON note BEGIN INSERT INTO seen VALUES (NEW.title); END;
            CREATE TRIGGER d AFTER DELETE ON note BEGIN DELETE FROM seen WHERE title IS OLD.title; END;
            CREATE TRIGGER guarded AFTER INSERT ON note WHEN (SELECT applying FROM _sync_state) = 0
            BEGIN INSERT INTO seen VALUES ('written here'); END;
            """, ["note"])
        try a.execute("INSERT INTO note VALUES (?, 'x')", [key(1)])
        try b.execute("INSERT INTO note VALUES (?, 'x')", [key(2)])
        try a.sync(b)
        try a.sync(b)
        for replica in [a, b] {
            let seen = try replica.queue.read { try String.fetchAll($0, sql: "SELECT title FROM seen") }
            #expect(seen.sorted() == ["written here", "x"])
        }
    }

    @Test func aTriggerThatDeletesChildrenDoesNotRunForARowThatIsHidden() throws {
        let (a, b) = try pair(
            """
            CREATE TABLE p (id BLOB PRIMARY KEY, name UNIQUE);
            CREATE TABLE c (id BLOB PRIMARY KEY, p);
            CREATE TRIGGER cascade AFTER DELETE ON p BEGIN DELETE FROM c WHERE p = OLD.id; END;
            """, ["p", "c"])
        try a.execute("INSERT INTO p VALUES (?, 'x')", [key(1)])
        try b.execute("INSERT INTO p VALUES (?, 'x')", [key(2)])
        try b.execute("INSERT INTO c VALUES (?, ?)", [key(3), key(2)])
        try a.sync(b)
        #expect(try b.dump(["p", "c"]).count == 2)
        #expect(try a.dump(["p", "c"]) == b.dump(["p", "c"]))
        try a.execute("DELETE FROM p")
        try a.sync(b)
        try b.execute("DELETE FROM p")
        try a.sync(b)
        #expect(try a.dump(["p", "c"]).isEmpty)
        #expect(try b.dump(["p", "c"]).isEmpty)
    }

    @Test(arguments: ["ABORT, 'no'", "FAIL, 'no'", "IGNORE"])
    func aRowThatATriggerRefusesWaits(_ raise: String) throws {
        let (a, b) = try pair("CREATE TABLE note (id BLOB PRIMARY KEY, title, n)", ["note"])
        try b.execute(
            """
            CREATE TRIGGER i BEFORE INSERT ON note WHEN NEW.title = 'bad' BEGIN SELECT RAISE(\(raise)); END;
            CREATE TRIGGER u BEFORE UPDATE ON note WHEN NEW.title = 'bad' BEGIN SELECT RAISE(\(raise)); END;
            """)
        try a.execute("INSERT INTO note VALUES (?, 'bad', 1), (?, 'good', 2)", [key(1), key(2)])
        try a.sync(b)
        #expect(try b.dump(["note"]).count == 1)
        #expect(try b.synchronizer.parkedRows().map(\.reason) == [.trigger])
        try a.execute("UPDATE note SET title = 'bad', n = 3 WHERE id = ?", [key(2)])
        try a.sync(b)
        // Hidden, and not shown as it was.
        #expect(try b.dump(["note"]).isEmpty)
        try a.execute("UPDATE note SET title = 'good'")
        try a.sync(b)
        #expect(try b.dump(["note"]) == a.dump(["note"]))
        #expect(try b.synchronizer.status().parkedCount == 0)
    }

    /// By then the row is in its table, and `RAISE(FAIL)` leaves it there.
    @Test(arguments: ["ABORT", "FAIL"])
    func aRowThatATriggerRefusesAfterwardsWaits(_ raise: String) throws {
        let (a, b) = try pair("CREATE TABLE note (id BLOB PRIMARY KEY, title, n)", ["note"])
        try b.execute(
            """
            CREATE TRIGGER i AFTER INSERT ON note WHEN NEW.title = 'bad' BEGIN SELECT RAISE(\(raise), 'no'); END;
            CREATE TRIGGER u AFTER UPDATE ON note WHEN NEW.title = 'bad' BEGIN SELECT RAISE(\(raise), 'no'); END;
            """)
        try a.execute("INSERT INTO note VALUES (?, 'bad', 1), (?, 'good', 2)", [key(1), key(2)])
        try a.sync(b)
        // Rows that wait are tried again each time.
        try a.execute("INSERT INTO note VALUES (?, 'good', 3)", [key(3)])
        try a.sync(b)
        #expect(try b.value("SELECT group_concat(n) FROM (SELECT n FROM note ORDER BY n)") == "2,3")
        #expect(try b.synchronizer.parkedRows().map(\.reason) == [.trigger])
        try a.execute("UPDATE note SET title = 'bad', n = 4 WHERE id = ?", [key(2)])
        try a.sync(b)
        #expect(try b.value("SELECT group_concat(n) FROM note") == "3")
        #expect(try b.problems() == [])
        try a.execute("UPDATE note SET title = 'good'")
        try a.sync(b)
        #expect(try b.dump(["note"]) == a.dump(["note"]))
        #expect(try b.synchronizer.status().parkedCount == 0)
    }

    @Test(arguments: ["ABORT", "FAIL"])
    func nobodyGivesWayToARowThatATriggerRefuses(_ raise: String) throws {
        let (a, b) = try pair("CREATE TABLE note (id BLOB PRIMARY KEY, title, n UNIQUE)", ["note"])
        try b.execute(
            """
            CREATE TRIGGER i AFTER INSERT ON note WHEN NEW.title = 'bad' BEGIN SELECT RAISE(\(raise), 'no'); END
            """)
        try a.execute("INSERT INTO note VALUES (?, 'bad', 1)", [key(1)])
        try b.execute("INSERT INTO note VALUES (?, 'younger', 1)", [key(2)])
        for number in 3...5 {
            try a.execute("INSERT INTO note VALUES (?, 'good', \(number))", [key(UInt8(number))])
            try a.sync(b)
            #expect(try b.value("SELECT title FROM note WHERE n = 1") == "younger")
            #expect(try b.synchronizer.parkedRows().map(\.reason) == [.trigger])
        }
        #expect(try a.value("SELECT title FROM note WHERE n = 1") == "bad")
        #expect(try b.problems() == [])
    }

    @Test(arguments: ["ABORT, 'no'", "FAIL, 'no'", "IGNORE"])
    func aTriggerThatForbidsDeletesDoesNotStopThoseOfPeers(_ raise: String) throws {
        let (a, b) = try pair("CREATE TABLE note (id BLOB PRIMARY KEY, title)", ["note"])
        try a.execute("INSERT INTO note VALUES (?, 'x')", [key(1)])
        try a.sync(b)
        try b.execute("CREATE TRIGGER d BEFORE DELETE ON note BEGIN SELECT RAISE(\(raise)); END")
        try a.execute("DELETE FROM note")
        try a.sync(b)
        #expect(try b.dump(["note"]).isEmpty)
        #expect(try triggers(b).count == 1)
        #expect(try b.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) }.isEmpty)
    }

    @Test func triggersThatStampRowsAndThatRecurseEndInTheSameRows() throws {
        let (a, b) = try pair(
            """
            CREATE TABLE note (id BLOB PRIMARY KEY, title, at);
            CREATE TABLE n (id BLOB PRIMARY KEY, up, depth INTEGER DEFAULT 0);
            CREATE TRIGGER stamp AFTER UPDATE ON note WHEN NEW.at IS OLD.at BEGIN
                UPDATE note SET at = coalesce(OLD.at, 0) + 1 WHERE id = NEW.id;
            END;
            CREATE TRIGGER deep AFTER UPDATE OF depth ON n WHEN NEW.depth < 5 BEGIN
                UPDATE n SET depth = NEW.depth + 1 WHERE up = NEW.id;
            END;
            CREATE VIEW v AS SELECT id, title FROM note;
            CREATE TRIGGER vi INSTEAD OF INSERT ON v BEGIN INSERT INTO note (id, title) VALUES (NEW.id, NEW.title); END;
            """, ["note", "n"])
        try a.execute("INSERT INTO v VALUES (?, 'x')", [key(1)])
        try a.execute("INSERT INTO n (id, up) VALUES (?, NULL), (?, ?)", [key(1), key(2), key(1)])
        try a.sync(b)
        try a.execute("UPDATE note SET title = 'a'")
        try b.execute("UPDATE n SET depth = 1 WHERE up IS NULL")
        try a.sync(b)
        try b.execute("UPDATE note SET title = 'b'")
        try a.sync(b)
        #expect(try a.dump(["note", "n"]) == b.dump(["note", "n"]))
        #expect(try a.value("SELECT at FROM note", as: Int.self) == 2)
        #expect(try a.value("SELECT max(depth) FROM n", as: Int.self) == 2)
        let report = try a.sync(b)
        #expect(report.pushed == nil && report.pulled == nil)
    }

    @Test func aTriggerThatWritesThroughViewsToATrackedTableDoesNotStopItsTable() throws {
        let (a, b) = try pair(
            """
            CREATE TABLE n (id BLOB PRIMARY KEY, title);
            CREATE TABLE note (id BLOB PRIMARY KEY, title);
            CREATE VIEW v AS SELECT id, title FROM note;
            CREATE TRIGGER vi INSTEAD OF INSERT ON v BEGIN INSERT INTO note VALUES (NEW.id, NEW.title); END;
            CREATE VIEW w AS SELECT id FROM v;
            CREATE TRIGGER wi INSTEAD OF INSERT ON w BEGIN INSERT INTO "V" VALUES (NEW.id, 'by w'); END;
            CREATE TRIGGER ni AFTER INSERT ON n BEGIN INSERT INTO w VALUES (NEW.id); END;
            CREATE TRIGGER nu AFTER UPDATE ON n WHEN (SELECT applying FROM _sync_state) = 0
            BEGIN INSERT INTO v VALUES (randomblob(16), 'by v'); END;
            """, ["n", "note"])
        let before = try triggers(b)
        try a.execute("INSERT INTO n VALUES (?, 'x')", [key(1)])
        try a.sync(b)
        #expect(try b.value("SELECT title FROM note", as: String.self) == "by w")
        try a.execute("UPDATE n SET title = 'y'")
        try a.sync(b)
        for replica in [a, b] {
            #expect(try replica.value("SELECT count(*) FROM note", as: Int.self) == 2)
            #expect(try replica.synchronizer.status().parkedCount == 0)
        }
        #expect(try a.dump(["n", "note"]) == b.dump(["n", "note"]))
        #expect(try triggers(b) == before)
        #expect(try a.sync(b).pushed == nil)
    }

    @Test(arguments: [
        ("BEGIN UPDATE t SET a = 1; END", true),
        ("BEGIN UPDATE OR IGNORE \"T\" SET a = 1; END", true),
        ("BEGIN INSERT INTO other SELECT * FROM t; END", false),
        ("BEGIN INSERT OR REPLACE INTO [t] VALUES (1); END", true),
        ("BEGIN REPLACE INTO t VALUES (1); END", true),
        ("BEGIN DELETE FROM t; END", true),
        ("BEGIN SELECT 'delete from t'; /* update t */ END", false),
        ("WHEN (SELECT applying FROM _sync_state) = 0 BEGIN DELETE FROM t; END", false),
        ("BEGIN SELECT RAISE(ABORT, 'x'); END", false),
    ])
    func itIsFoundOutWhereATriggerWrites(_ body: String, _ writes: Bool) {
        let sql = "CREATE TRIGGER x AFTER UPDATE OF a ON t \(body)"
        #expect(UserTriggers.writes(sql, toOneOf: ["t"]) == writes)
    }
}
