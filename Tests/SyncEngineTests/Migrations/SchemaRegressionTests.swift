import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Changes of the schema that once lost data.
@Suite struct SchemaRegressionTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    // 1: the twelve-step ALTER TABLE of SQLite's manual drops the triggers.
    @Test func aRebuiltTableIsStillTracked() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'one')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE new_note (id BLOB PRIMARY KEY, title TEXT COLLATE NOCASE NOT NULL DEFAULT '', body TEXT, stars INTEGER DEFAULT 0);
                    INSERT INTO new_note SELECT * FROM note;
                    DROP TABLE note;
                    ALTER TABLE new_note RENAME TO note;
                    """)
        }
        let again = try Synchronizer(a.queue, tables: ["note", "tag"], environment: stores.clock.environment)
        _ = again
        try a.execute("UPDATE note SET title = 'two'")
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'new')", [key(2)])
        try a.execute("DELETE FROM note WHERE id = ?", [key(1)])
        try a.sync(b)
        #expect(try b.dump() == a.dump())
    }

    // 2: ADD COLUMN ... DEFAULT on the second replica beats a real edit.
    @Test func theDefaultOfANewColumnDoesNotBeatAnEdit() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'one')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("ALTER TABLE note ADD COLUMN colour TEXT DEFAULT 'white'")
        try a.sync(b)
        try a.execute("UPDATE note SET colour = 'green'")
        try a.sync(b)  // parked at b
        stores.clock.advance(milliseconds: 5000)
        try b.execute("ALTER TABLE note ADD COLUMN colour TEXT DEFAULT 'white'")
        try a.sync(b)
        try a.execute("INSERT INTO tag VALUES ('\("0190f5fe-7c00-7a00-8000-00000000000a")', 'nudge')")
        try a.sync(b)
        #expect(try a.value("SELECT colour FROM note") == "green")
        #expect(try b.value("SELECT colour FROM note") == "green")
        print("t02 conflicts a:", try a.conflicts(), "b:", try b.conflicts())
    }

    // 3: the second replica that begins to track a table overrides the first one's edits.
    @Test func trackingATableLaterDoesNotOverrideEdits() throws {
        let schema = TestStores.schema + "CREATE TABLE page (id BLOB PRIMARY KEY, text TEXT);"
        let a = try stores.create(schema: schema)
        try a.execute("INSERT INTO page VALUES (?, 'seed')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.synchronizer.track(["page"])
        stores.clock.advance(milliseconds: 1000)
        try a.execute("UPDATE page SET text = 'edited by a'")
        try a.sync(b)
        stores.clock.advance(milliseconds: 1000)
        try b.synchronizer.track(["page"])
        try a.sync(b)
        try a.execute("INSERT INTO tag VALUES ('\("0190f5fe-7c00-7a00-8000-00000000000a")', 'nudge')")
        try a.sync(b)
        #expect(try a.value("SELECT text FROM page") == "edited by a")
        #expect(try b.value("SELECT text FROM page") == "edited by a")
        print(
            "t03 conflicts a:", try a.conflicts(), "b:", try b.conflicts(),
            try a.value(
                "SELECT cl FROM _sync_row WHERE pk = x'01010101010101010101010101010101'", as: Int.self)
                as Any)
    }

    // 11: a table that is dropped here blanks the values of the peers.
    @Test(arguments: ["DROP TABLE note", "ALTER TABLE note RENAME TO memo"])
    func aDroppedTableLeavesPeersAlone(_ sql: String) throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title, body) VALUES (?, 'title', 'body')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("UPDATE note SET title = 'edited'")
        try a.queue.write { try $0.execute(sql: sql) }
        try a.sync(b)
        print("t11", try b.dump(), try b.conflicts())
        #expect(try b.value("SELECT title FROM note WHERE title IS NOT NULL", as: String.self) != nil)
    }

    @Test func aDroppedColumnLeavesPeersAlone() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title, body) VALUES (?, 'title', 'body')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("UPDATE note SET body = 'edited'")
        try a.queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE new_note (id BLOB PRIMARY KEY, title TEXT);
                    INSERT INTO new_note SELECT id, title FROM note; DROP TABLE note; ALTER TABLE new_note RENAME TO note;
                    """)
        }
        try a.sync(b)
        print("t11b", try b.dump(), try b.conflicts())
        #expect(try b.value("SELECT body FROM note WHERE body IS NOT NULL", as: String.self) != nil)
    }

    // 17: a temp table of the same name.
    @Test func aTemporaryTableOfTheSameNameIsNotWrittenTo() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        try b.queue.write {
            try $0.execute(
                sql: "CREATE TEMP TABLE note (id BLOB PRIMARY KEY, title TEXT, body TEXT, stars INTEGER)")
        }
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'x')", [key(1)])
        _ = try b.synchronizer.run(.both, a.transport)
        #expect(try b.value("SELECT count(*) FROM main.note", as: Int.self) == 1)
    }

    // 31: a row without a key, which SQLite allows in a table with rowids.
    @Test func aRowWithoutAKeyIsStillAllowed() throws {
        let a = try stores.create()
        #expect(throws: Never.self) { try a.execute("INSERT INTO tag VALUES (NULL, 'x')") }
    }

    @Test func whatWasWrittenWhileATableWasNotTrackedIsSent() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'old'), (?, 'stays')", [key(1), key(2)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("DROP TABLE note")
        try a.sync(b)
        try a.execute(
            "CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT COLLATE NOCASE, body TEXT, stars INTEGER DEFAULT 0)"
        )
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'new'), (?, 'stays')", [key(1), key(2)])
        try a.synchronizer.track(["note"])
        try a.sync(b)
        #expect(try b.value("SELECT title FROM note WHERE id = x'01010101010101010101010101010101'") == "new")
        #expect(try a.dump(["note"]) == b.dump(["note"]))
    }
}
