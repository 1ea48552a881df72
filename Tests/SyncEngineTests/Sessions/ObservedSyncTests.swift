import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// What a synchronization brings is observed like any other change.
@Suite(.timeLimit(.minutes(20))) struct ObservedSyncTests {
    @Test(arguments: ["", "WITHOUT ROWID"])
    func rowsThatComeFromARemoteAreObserved(options: String) async throws {
        let stores = try TestStores()
        let schema = "CREATE TABLE note (id BLOB NOT NULL PRIMARY KEY, title TEXT) \(options)"
        let first = try stores.create(schema: schema, tables: ["note"])
        let second = try stores.clone(first, as: "b.db")
        let configuration = TestStores.configuration("b.db")
        let pool = try DatabasePool(path: stores.path("b.db"), configuration: configuration)
        let synchronizer = try Synchronizer(pool, environment: stores.clock.environment)
        try second.queue.close()
        let titles = ValueObservation.tracking { db in
            try String.fetchAll(db, sql: "SELECT title FROM note ORDER BY id")
        }
        var iterator = titles.removeDuplicates().values(in: pool).makeAsyncIterator()
        var value = try await iterator.next()
        #expect(value == [])
        for (sql, expected) in [
            ("INSERT INTO note VALUES (x'\(String(repeating: "01", count: 16))', 'Milk')", ["Milk"]),
            ("UPDATE note SET title = 'Bread'", ["Bread"]), ("DELETE FROM note", []),
        ] {
            try first.execute(sql)
            _ = try await synchronizer.pull(from: first.transport)
            value = try await iterator.next()
            #expect(value == expected)
        }
    }

    /// SQLite does not report rows of tables without rowids, so the engine does.
    @Test(arguments: ["", "WITHOUT ROWID"])
    func aRowThatFindsItsPlaceIsObserved(options: String) async throws {
        let stores = try TestStores()
        let schema = """
            CREATE TABLE list (id BLOB NOT NULL PRIMARY KEY, name TEXT);
            CREATE TABLE item (id BLOB NOT NULL PRIMARY KEY, list BLOB REFERENCES list (id), title TEXT) \(options);
            """
        let first = try stores.create(schema: schema, tables: ["list", "item"])
        let second = try stores.clone(first, as: "b.db")
        try await first.queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA foreign_keys = OFF") }
        try first.execute("INSERT INTO item VALUES (?, ?, 'Milk')", [itemKey(1), itemKey(9)])
        try second.sync(first, .pull)
        #expect(try second.synchronizer.status().parkedCount == 1)
        let titles = ValueObservation.tracking { db in
            try String.fetchAll(db, sql: "SELECT title FROM item ORDER BY id")
        }
        var iterator = titles.removeDuplicates().values(in: second.queue).makeAsyncIterator()
        #expect(try await iterator.next() == [])
        // The parent comes from a program of its own, and nothing from a remote.
        try second.execute("INSERT INTO list VALUES (?, 'Shop')", [itemKey(9)])
        try second.synchronizer.retryParkedRows()
        #expect(try await iterator.next() == ["Milk"])
    }

    /// One row finds its place, and another loses its own at the same time.
    @Test(arguments: ["", "WITHOUT ROWID"])
    func aRowThatTakesThePlaceOfAnotherIsObserved(options: String) async throws {
        let stores = try TestStores()
        let schema =
            "CREATE TABLE item (id BLOB NOT NULL PRIMARY KEY, place INTEGER UNIQUE, title TEXT) \(options)"
        let first = try stores.create(schema: schema, tables: ["item"])
        let second = try stores.clone(first, as: "b.db")
        try second.execute("INSERT INTO item VALUES (?, 1, 'Milk')", [itemKey(1)])
        stores.clock.advance(milliseconds: 1000)
        try first.execute("INSERT INTO item VALUES (?, 1, 'Bread')", [itemKey(2)])
        try second.sync(first, .pull)
        let titles = ValueObservation.tracking { db in
            try String.fetchAll(db, sql: "SELECT title FROM item ORDER BY id")
        }
        #expect(
            try await second.queue.read { try String.fetchAll($0, sql: "SELECT title FROM item ORDER BY id") }
                == ["Milk"])
        // A third one takes the place before the second one, whose claim is older, is tried again.
        stores.clock.advance(milliseconds: 1000)
        try second.execute("UPDATE item SET place = 2")
        try second.execute("INSERT INTO item VALUES (?, 1, 'Salt')", [itemKey(3)])
        var iterator = titles.removeDuplicates().values(in: second.queue).makeAsyncIterator()
        #expect(try await iterator.next() == ["Milk", "Salt"])
        try second.synchronizer.retryParkedRows()
        try #require(try second.synchronizer.status().parkedCount == 1)
        #expect(try await iterator.next() == ["Milk", "Bread"])
    }
}
