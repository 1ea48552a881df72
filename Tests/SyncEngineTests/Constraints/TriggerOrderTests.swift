import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Triggers that run before those that log, triggers of one connection, and tables that hide others.
@Suite struct TriggerOrderTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func pair(_ schema: String, _ tables: [String]) throws -> (TestReplica, TestReplica) {
        let a = try stores.create(schema: schema, tables: tables)
        return (a, try stores.clone(a, as: "b.db"))
    }

    private func expectEqual(_ a: TestReplica, _ b: TestReplica, _ tables: [String]) throws {
        #expect(try a.dump(tables) == b.dump(tables))
        for replica in [a, b] {
            #expect(try replica.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) } == [])
        }
        let report = try a.sync(b)
        #expect(report.pushed == nil && report.pulled == nil)
    }

    /// Brings a change here, and makes the user's triggers anew as another program may do it: they are the newest ones
    /// then, and run first.
    private func pullSomething(_ a: TestReplica, from b: TestReplica) throws {
        try b.execute("INSERT INTO task (id, status) VALUES (?, 'open')", [key(200)])
        try a.sync(b)
        let texts = try a.queue.read { db in
            try String.fetchAll(
                db,
                sql: "SELECT 'DROP TRIGGER ' || name || '; ' || sql FROM sqlite_master "
                    + "WHERE type = 'trigger' AND name NOT GLOB '_sync_*'")
        }
        for text in texts { try a.changeUnobserved(text) }
    }

    private static let tasks = "CREATE TABLE task (id BLOB PRIMARY KEY, status NOT NULL, gone DEFAULT 0);"

    @Test func aTriggerMayDeleteTheRowThatWasUpdated() throws {
        let (a, b) = try pair(
            Self.tasks + """
                CREATE TRIGGER done AFTER UPDATE OF status ON task WHEN NEW.status = 'done' BEGIN
                    DELETE FROM task WHERE id = NEW.id;
                END;
                """, ["task"])
        try a.execute("INSERT INTO task (id, status) VALUES (?, 'open'), (?, 'open')", [key(1), key(2)])
        try pullSomething(a, from: b)
        try a.execute("UPDATE task SET status = 'done' WHERE id = ?", [key(1)])
        try a.sync(b)
        #expect(try b.value("SELECT count(*) FROM task", as: Int.self) == 2)
        try expectEqual(a, b, ["task"])
    }

    /// The value is kept in the store, and says nothing about the row.
    @Test func aTriggerMayDeleteARowThatHasAValueOfADroppedColumn() throws {
        let (a, b) = try pair(Self.tasks, ["task"])
        try a.execute("INSERT INTO task VALUES (?, 'open', 5), (?, 'open', 5)", [key(1), key(2)])
        try a.sync(b)
        try a.migrate("drop") { db in try db.alter(table: "task") { $0.drop(column: "gone") } }
        // The newest trigger runs first.
        try a.changeUnobserved(
            """
            CREATE TRIGGER done AFTER UPDATE OF status ON task WHEN NEW.status = 'done' BEGIN
                DELETE FROM task WHERE id = NEW.id;
            END
            """)
        try a.execute("UPDATE task SET status = 'done' WHERE id = ?", [key(1)])
        try a.sync(b)
        for replica in [a, b] {
            #expect(try replica.value("SELECT count(*) FROM task", as: Int.self) == 1)
            #expect(try replica.problems() == [])
        }
        #expect(try b.value("SELECT status || gone FROM task") == "open5")
        let report = try a.sync(b)
        #expect(report.pushed == nil && report.pulled == nil)
    }

    @Test func aTriggerMayInsertTheRowThatWasDeleted() throws {
        let (a, b) = try pair(
            Self.tasks + """
                CREATE TRIGGER keep AFTER DELETE ON task WHEN NOT OLD.gone BEGIN
                    INSERT INTO task VALUES (OLD.id, OLD.status, 1);
                END;
                """, ["task"])
        try a.execute("INSERT INTO task (id, status) VALUES (?, 'open')", [key(1)])
        try pullSomething(a, from: b)
        try a.execute("DELETE FROM task WHERE id = ?", [key(1)])
        try a.sync(b)
        #expect(try b.value("SELECT gone FROM task WHERE status = 'open' AND gone", as: Int.self) == 1)
        try expectEqual(a, b, ["task"])
        try a.execute("DELETE FROM task WHERE gone")
        try a.sync(b)
        #expect(try b.value("SELECT count(*) FROM task", as: Int.self) == 1)
        try expectEqual(a, b, ["task"])
    }

    @Test func aTriggerMayDeleteTheRowThatWasInserted() throws {
        let (a, b) = try pair(
            Self.tasks + """
                CREATE TRIGGER never AFTER INSERT ON task WHEN NEW.status = 'bad' BEGIN
                    DELETE FROM task WHERE id = NEW.id;
                END;
                """, ["task"])
        try pullSomething(a, from: b)
        try a.execute("INSERT INTO task (id, status) VALUES (?, 'bad')", [key(1)])
        try a.sync(b)
        #expect(try b.value("SELECT count(*) FROM task", as: Int.self) == 1)
        try expectEqual(a, b, ["task"])
    }

    // MARK: Triggers of a connection

    @Test func aTemporaryTriggerDoesNotRunForWhatPeersWrote() throws {
        let (a, b) = try pair("CREATE TABLE note (id BLOB PRIMARY KEY, title, at)", ["note"])
        try a.execute("INSERT INTO note VALUES (?, 'x', 1)", [key(1)])
        try a.sync(b)
        let touch = """
            CREATE TEMP TRIGGER touch AFTER UPDATE OF title ON note BEGIN
                UPDATE note SET at = 99 WHERE id = NEW.id;
            END
            """
        try b.queue.writeWithoutTransaction { try $0.execute(sql: touch) }
        try a.execute("UPDATE note SET title = 'y', at = 5")
        // The temporary trigger is that of the connection of b.
        try b.sync(a)
        #expect(try b.value("SELECT at FROM note", as: Int.self) == 5)
        // It is there again for what is written here.
        try b.execute("UPDATE note SET title = 'z'")
        #expect(try b.value("SELECT at FROM note", as: Int.self) == 99)
        try b.sync(a)
        try expectEqual(a, b, ["note"])
    }

    @Test func aRowThatATemporaryTriggerIgnoresWaits() throws {
        let (a, b) = try pair("CREATE TABLE note (id BLOB PRIMARY KEY, title)", ["note"])
        try b.queue.writeWithoutTransaction {
            try $0.execute(
                sql: """
                    CREATE TEMP TRIGGER refuse BEFORE INSERT ON note WHEN NEW.title = 'bad' BEGIN
                        SELECT RAISE(IGNORE);
                    END
                    """)
        }
        try a.execute("INSERT INTO note VALUES (?, 'bad'), (?, 'good')", [key(1), key(2)])
        try b.sync(a)
        #expect(try b.dump(["note"]).count == 1)
        #expect(try b.synchronizer.parkedRows().map(\.reason) == [.trigger])
    }

    /// Its columns are not those of the table that is tracked.
    @Test func aTemporaryTableDoesNotStandForTheTrackedOne() throws {
        let (a, b) = try pair("CREATE TABLE note (id BLOB PRIMARY KEY, title, body)", ["note"])
        try a.execute("INSERT INTO note VALUES (?, 'x', 'y')", [key(1)])
        try a.sync(b)
        try b.queue.writeWithoutTransaction {
            try $0.execute(
                sql:
                    "CREATE TEMP TABLE note AS SELECT id, title FROM main.note; CREATE INDEX main.i ON note (title)"
            )
        }
        try a.execute("UPDATE note SET body = 'z'")
        try b.sync(a)
        #expect(try b.value("SELECT body FROM main.note", as: String.self) == "z")
        try b.queue.writeWithoutTransaction { try $0.execute(sql: "DROP TABLE temp.note") }
        try b.execute("UPDATE note SET body = 'zz'")
        try b.sync(a)
        #expect(try a.value("SELECT body FROM note", as: String.self) == "zz")
        try expectEqual(a, b, ["note"])
    }

    // MARK: What no program of ours did

    @Test(arguments: [
        "INSERT OR REPLACE INTO note (id, title) SELECT id, 'other' FROM note",
        "INSERT INTO note (id, title) VALUES (x'09090909090909090909090909090909', 'new')",
    ]) func rowsOfATableThatIsGoneDoNotEmptyThoseOfPeers(_ sql: String) throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title, body) VALUES (?, 'title', 'body')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        let before = try b.dump(["note"])
        try a.changeUnobserved(sql + "; DROP TABLE note")
        try a.sync(b)
        #expect(try b.dump(["note"]) == before)
        try b.execute("INSERT INTO tag (id, name) VALUES (?, 'n')", [key(7)])
        try a.sync(b)
        #expect(try a.value("SELECT count(*) FROM tag", as: Int.self) == 1)
    }

    /// What migrations write into rows is an operation of its own in the log.
    @Test func whatAMigrationWroteIsNoDamage() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'title')", [key(1)])
        var migrator = DatabaseMigrator()
        migrator.registerMigration("titles") { try $0.execute(sql: "UPDATE note SET title = upper(title)") }
        try migrator.migrate(a.queue)
        let b = try stores.clone(a, as: "b.db")
        try a.sync(b)
        #expect(
            try a.value("SELECT count(*) FROM _sync_log WHERE op & 15 = 4", as: Int.self).map { $0 > 0 }
                == true)
        #expect(try a.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) } == [])
    }
}
