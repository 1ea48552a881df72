import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Keys, columns and tables that get other names while the log has entries that have no versions yet.
@Suite struct UnfoldedRenameTests {
    /// Who gives the other names.
    enum Way: CaseIterable { case app, migration, otherProgram }

    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func pair(counting: Bool = false) throws -> (TestReplica, TestReplica) {
        let a = try stores.create()
        if counting { try a.synchronizer.setPolicies([.counter("note", "stars")]) }
        try a.insert(1, "one")
        try a.insert(2, "two")
        return (a, try stores.clone(a, as: "b.db"))
    }

    /// Writes, and changes the schema in the same transaction.
    private func write(
        _ sql: String, _ replica: TestReplica, _ way: Way,
        change: @escaping @Sendable (Database) throws -> Void
    ) throws {
        switch way {
        case .app:
            try replica.queue.write { db in
                try db.execute(sql: sql)
                try change(db)
            }
        case .migration:
            try replica.migrate("change") { db in
                try db.execute(sql: sql)
                try change(db)
            }
        case .otherProgram:
            try replica.queue.write { db in
                try db.execute(sql: sql)
                try db.withoutReportingSchemaChanges { try change(db) }
            }
        }
    }

    private static let writes = [
        "INSERT OR REPLACE INTO note (id, title) VALUES (x'01010101010101010101010101010101', 'edited')",
        "UPDATE note SET title = 'edited' WHERE title = 'one'",
    ]

    @Test(arguments: Way.allCases, writes)
    func aRowThatWasWrittenBeforeItsKeyWasRenamedIsSent(way: Way, sql: String) throws {
        let (a, b) = try pair()
        try write(sql, a, way) { db in
            try db.alter(table: "note") { $0.rename(column: "id", to: "uuid") }
        }
        try a.sync(b)
        #expect(try b.titles() == ["edited", "two"])
        #expect(try a.state(["note"]) == b.state(["note"]))
    }

    @Test(arguments: Way.allCases, writes)
    func aRowThatWasWrittenBeforeItsTableAndKeyWereRenamedIsSent(way: Way, sql: String) throws {
        let (a, b) = try pair()
        try write(sql, a, way) { db in
            try db.rename(table: "note", to: "memo")
            try db.alter(table: "memo") { $0.rename(column: "id", to: "uuid") }
        }
        try a.sync(b)
        #expect(try b.titles() == ["edited", "two"])
        #expect(try a.dump(["memo"]).count == 2)
    }

    /// One table gets the name of the other, which gets a new one or the first one's.
    @Test(arguments: [["draft", "note"], ["note", "draft"]], ["archive", "draft"])
    func tablesThatGetEachOthersNamesKeepTheirRows(tracked: [String], name: String) throws {
        let a = try stores.create(
            schema: """
                CREATE TABLE draft (id BLOB PRIMARY KEY, title TEXT);
                CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT, body TEXT);
                """, tables: tracked)
        try a.execute("INSERT INTO draft VALUES (?, 'draft')", [key(1)])
        try a.execute("INSERT INTO note VALUES (?, 'note', 'body')", [key(2)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("UPDATE draft SET title = 'pending'")
        try a.execute("UPDATE note SET body = 'pending too'")
        for replica in [a, b] {
            try replica.changeUnobserved(
                """
                ALTER TABLE note RENAME TO aside; ALTER TABLE draft RENAME TO note;
                ALTER TABLE aside RENAME TO \(name)
                """)
        }
        try a.sync(b)
        #expect(try b.value("SELECT group_concat(title) FROM note") == "pending")
        #expect(try b.value("SELECT group_concat(title || ' ' || body) FROM \(name)") == "note pending too")
        try b.execute("UPDATE note SET title = 'edited'")
        try a.execute("UPDATE \(name) SET title = 'edited too'")
        try a.sync(b)
        #expect(try a.value("SELECT group_concat(title) FROM note") == "edited")
        #expect(try b.value("SELECT group_concat(title) FROM \(name)") == "edited too")
        #expect(try a.state(["note", name]) == b.state(["note", name]))
        #expect(try Set(a.synchronizer.status().tables.map(\.name)) == ["note", name])
    }

    @Test(arguments: [["draft", "note"], ["note", "draft"]])
    func aTableThatGetsTheNameOfADroppedOneIsTracked(tracked: [String]) throws {
        let a = try stores.create(
            schema: """
                CREATE TABLE draft (id BLOB PRIMARY KEY, title TEXT);
                CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT);
                """, tables: tracked)
        try a.execute("INSERT INTO draft VALUES (?, 'draft')", [key(1)])
        try a.execute("INSERT INTO note VALUES (?, 'note')", [key(2)])
        let b = try stores.clone(a, as: "b.db")
        try a.changeUnobserved("DROP TABLE note; ALTER TABLE draft RENAME TO note")
        try a.sync(b)
        try a.execute("UPDATE note SET title = 'edited' WHERE title = 'draft'")
        for _ in 0..<2 { try a.sync(b) }
        #expect(try a.titles() == ["edited", "note"])
        #expect(try b.titles() == ["edited", "note"])
        #expect(try b.value("SELECT group_concat(title) FROM draft") == "draft")
    }

    @Test(arguments: writes) func aFoldGoesByTheNamesOfNow(sql: String) throws {
        let (a, b) = try pair()
        try write(sql, a, .otherProgram) { db in
            try db.rename(table: "note", to: "memo")
            try db.alter(table: "memo") { $0.rename(column: "id", to: "uuid") }
        }
        // Not every fold comes after a look at the schema.
        try a.queue.write { _ = try FoldedStore.fold($0, a.environment) }
        try a.sync(b)
        #expect(try b.titles() == ["edited", "two"])
    }

    @Test(arguments: writes) func aRowThatWasWrittenBeforeARebuildWithAnotherKeyNameIsSent(sql: String) throws
    {
        let (a, b) = try pair()
        try a.execute(sql)
        try a.changeUnobserved(
            """
            CREATE TABLE new_note (uuid BLOB PRIMARY KEY, title TEXT COLLATE NOCASE, body TEXT, stars INTEGER DEFAULT 0);
            INSERT INTO new_note SELECT * FROM note; DROP TABLE note; ALTER TABLE new_note RENAME TO note;
            """)
        try a.sync(b)
        #expect(try b.titles() == ["edited", "two"])
        #expect(try a.state(["note"]) == b.state(["note"]))
    }

    // MARK: Counters

    @Test(arguments: [Way.app, .otherProgram]) func aCounterCountsWhatWasWrittenUnderItsFormerName(
        way: Way
    ) throws {
        let (a, b) = try pair(counting: true)
        try b.execute("UPDATE note SET stars = stars + 10 WHERE title = 'one'")
        let sql = """
            UPDATE note SET stars = stars + 1 WHERE title = 'one';
            INSERT INTO note (id, title, stars) VALUES (x'03030303030303030303030303030303', 'three', 5);
            """
        try write(sql, a, way) { db in
            try db.alter(table: "note") { $0.rename(column: "stars", to: "points") }
        }
        try a.sync(b)
        #expect(
            try a.value("SELECT group_concat(points) FROM (SELECT points FROM note ORDER BY id)") == "11,0,5")
        #expect(
            try b.value("SELECT group_concat(stars) FROM (SELECT stars FROM note ORDER BY id)") == "11,0,5")
    }

    @Test func aCounterThatARebuildLeftOutStaysWithThePeers() throws {
        let (a, b) = try pair(counting: true)
        try a.execute("UPDATE note SET title = 'edited', stars = stars + 1 WHERE title = 'one'")
        try a.changeUnobserved(
            """
            CREATE TABLE new_note (id BLOB PRIMARY KEY, title TEXT COLLATE NOCASE, body TEXT);
            INSERT INTO new_note SELECT id, title, body FROM note; DROP TABLE note;
            ALTER TABLE new_note RENAME TO note;
            """)
        try a.sync(b)
        #expect(try b.titles() == ["edited", "two"])
        #expect(try b.value("SELECT group_concat(stars) FROM note") == "0,0")
    }
}
