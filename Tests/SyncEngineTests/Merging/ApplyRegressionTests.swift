import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Bundles that once lost data or left replicas different.
@Suite struct ApplyRegressionTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    // 5: an orphan that is parked comes back with the next bundle, whatever it holds.
    @Test func orphansStayParkedWhenSomethingElseArrives() throws {
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
        #expect(try b.dump(["author", "book"]) == [])
        try a.execute("INSERT INTO author VALUES (?, 'unrelated')", [key(9)])
        try a.sync(b)
        #expect(try b.dump(["book"]) == [])
        #expect(try b.queue.read { try Row.fetchAll($0, sql: "PRAGMA foreign_key_check").count } == 0)
        #expect(try a.dump(["author", "book"]) == b.dump(["author", "book"]))
    }

    // 15: foreign keys to something other than the key.
    @Test(arguments: ["code", "ID"]) func orphansOfOtherReferencesAreFound(_ column: String) throws {
        let schema = """
            CREATE TABLE author (id BLOB PRIMARY KEY, code TEXT UNIQUE);
            CREATE TABLE book (id BLOB PRIMARY KEY, author REFERENCES author(\(column)), title TEXT);
            """
        let a = try stores.create(schema: schema, tables: ["book", "author"])
        try a.execute("INSERT INTO author VALUES (?, 'x')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("DELETE FROM author")
        try b.execute("INSERT INTO book SELECT ?, \(column), 'orphan' FROM author", [key(2)])
        try a.sync(b)
        print("t15", try a.dump(["author", "book"]), try b.dump(["author", "book"]))
        #expect(try b.queue.read { try Row.fetchAll($0, sql: "PRAGMA foreign_key_check").count } == 0)
        #expect(try a.dump(["author", "book"]) == b.dump(["author", "book"]))
    }

    // 9: RAISE(ROLLBACK) in a user's trigger while a bundle is applied.
    @Test func aTriggerThatRollsBackUndoesTheWholeBundle() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        try b.execute(
            """
            CREATE TRIGGER strict BEFORE INSERT ON note WHEN NEW.title = 'bad' BEGIN
                SELECT RAISE(ROLLBACK, 'no bad notes');
            END
            """)
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'first')", [key(1)])
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'bad')", [key(2)])
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'third')", [key(3)])
        do { print("t09 report", try a.sync(b)) } catch { print("t09 error", error) }
        print(
            "t09 b:", try b.dump(), "log:",
            try b.value("SELECT count(*) FROM _sync_log", as: Int.self) as Any,
            "rows:", try b.value("SELECT count(*) FROM _sync_row", as: Int.self) as Any,
            "vector:",
            try b.queue.read {
                try Row.fetchAll($0, sql: "SELECT sid, oseq FROM _sync_replica").map(\.description)
            },
            "shadow:", try b.value("SELECT count(*) FROM _sync_shadow", as: Int.self) as Any)
        // All or nothing.
        let n = try b.dump().count
        #expect(n == 0 || n == 2)
        let logged = try b.value("SELECT count(*) FROM _sync_log", as: Int.self)
        #expect(logged == 0)
    }

    // 13: one edit of a value with a stamp from the future pulls our clock along.
    @Test func aBadClockIsNotCaughtByAnEdit() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'x')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        let c = try stores.clone(a, as: "c.db")
        try b.execute("UPDATE note SET title = 'future'")
        let future = stores.clock.environment.milliseconds() + 10 * 365 * 86_400_000
        let bad = SyncEnvironment(milliseconds: { future }, random: stores.clock.environment.random)
        try b.queue.write { db in
            try db.execute(sql: "UPDATE _sync_log SET ms = ?", arguments: [future])
            _ = try FoldedStore.fold(db, bad)
        }
        try a.sync(b)
        let before = try a.value("SELECT clock >> 16 FROM _sync_state", as: Int64.self)!
        try a.execute("UPDATE note SET title = 'a edits it'")
        try a.queue.write { _ = try FoldedStore.fold($0, stores.clock.environment) }
        let after = try a.value("SELECT clock >> 16 FROM _sync_state", as: Int64.self)!
        print("t13 clock before", before, "after", after, "now", stores.clock.environment.milliseconds())
        #expect(after <= stores.clock.environment.milliseconds() + 600_000)
        // and a's later writes beat everybody's
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'row')", [key(5)])
        try a.sync(c)
        try a.execute("UPDATE note SET title = 'early' WHERE id = ?", [key(5)])
        try a.queue.write { _ = try FoldedStore.fold($0, stores.clock.environment) }
        stores.clock.advance(milliseconds: 3_600_000)
        try c.execute("UPDATE note SET title = 'an hour later' WHERE id = ?", [key(5)])
        try a.sync(c)
        #expect(
            try a.value("SELECT title FROM note WHERE id = x'05050505050505050505050505050505'")
                == "an hour later")
    }

    // 14: the bundle is no consistent cut: it holds values that are not folded yet.
    @Test func aBundleHoldsNoValuesWithoutVersions() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'old')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("UPDATE note SET title = 'v1'")
        let environment = stores.clock.environment
        let source = StorePeer(a.queue, environment, closes: false)
        let target = StorePeer(b.queue, environment, closes: false)
        _ = try source.greet()
        let known = try target.greet().vector
        // Another process writes one transaction between greeting and sending.
        try a.execute(
            "UPDATE note SET title = 'v2'; INSERT INTO note (id, title) VALUES (x'02020202020202020202020202020202', 'v2')"
        )
        _ = try target.receive { sink in
            try withoutActuallyEscaping(sink) { _ = try source.send(since: known, progress: nil, to: $0) }
        }
        print("t14", try b.dump())
        let titles = try b.queue.read { try String.fetchAll($0, sql: "SELECT title FROM note ORDER BY id") }
        #expect(titles == ["v1"] || titles == ["v2", "v2"])
    }

    // 22: applying a bundle again journals its losers again.
    @Test func aConflictIsJournaledOnce() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 't')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("UPDATE note SET title = 'early'")
        try b.execute("UPDATE note SET title = 'late'")
        let environment = stores.clock.environment
        let source = StorePeer(a.queue, environment, closes: false)
        let target = StorePeer(b.queue, environment, closes: false)
        _ = try source.greet()
        let known = try target.greet().vector
        var bytes: [UInt8] = []
        _ = try source.send(since: known, progress: nil) { bytes.append(contentsOf: $0) }
        for _ in 0..<2 {
            _ = try target.receive { sink in try bytes.withUnsafeBytes { try Frame.forEach(in: $0, sink) } }
        }
        print("t22", try b.conflicts())
        #expect(try b.conflicts().count == 1)
    }
}
