import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// What the app and its user see of rows that wait.
@Suite struct ParkedRowTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    @Test func aRowSaysWhatItWaitsFor() throws {
        let a = try stores.create(
            schema: """
                CREATE TABLE p (id BLOB PRIMARY KEY, name UNIQUE);
                CREATE TABLE c (id BLOB PRIMARY KEY, p REFERENCES p);
                """, tables: ["p", "c"])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("INSERT INTO p VALUES (?, 'x')", [key(1)])
        try b.execute("INSERT INTO p VALUES (?, 'x')", [key(2)])
        try b.execute("INSERT INTO c VALUES (?, ?)", [key(3), key(2)])
        let hiddenAt = stores.clock.environment.milliseconds()
        try a.sync(b)
        stores.clock.advance(milliseconds: 1000)
        try a.sync(b)
        for replica in [a, b] {
            let rows = try replica.synchronizer.parkedRows()
            #expect(rows.map(\.table) == ["p", "c"])
            #expect(rows.map(\.reason) == [.unique, .missingParent])
            #expect(rows.map(\.message) == ["UNIQUE constraint failed: p.name", "no parent in p"])
            #expect(rows.map(\.key) == [key(2).databaseValue, key(3).databaseValue])
            #expect(rows.map(\.otherKey) == [key(1).databaseValue, key(2).databaseValue])
            #expect(rows.map(\.otherTable) == ["p", "p"])
            #expect(rows.map(\.sinceMilliseconds) == [hiddenAt, hiddenAt])
            #expect(rows[0].values == ["name": "x".databaseValue])
            #expect(rows[0].keyText == "02020202-0202-0202-0202-020202020202")
            #expect(try replica.synchronizer.parkedRows(table: "C").count == 1)
            #expect(try replica.synchronizer.parkedRows(limit: 1).count == 1)
            #expect(try replica.synchronizer.parkedRows(table: "nothing").isEmpty)
            #expect(try replica.synchronizer.status().parkedCount == 2)
        }
        // Nothing helps until the winner goes; then a retry does without a synchronization.
        #expect(try b.synchronizer.retryParkedRows() == 0)
        try b.execute("UPDATE p SET name = 'y'")
        #expect(try b.synchronizer.retryParkedRows() == 2)
        #expect(try b.synchronizer.parkedRows().isEmpty)
        #expect(try b.dump(["p", "c"]).count == 3)
    }

    @Test func rowsThatAreTriedInVainKeepTheTimeAtWhichTheyWereHidden() throws {
        let a = try stores.create(
            schema: """
                CREATE TABLE p (id BLOB PRIMARY KEY);
                CREATE TABLE c (id BLOB PRIMARY KEY, p REFERENCES p);
                """, tables: ["p", "c"])
        try a.execute("INSERT INTO p VALUES (?)", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("DELETE FROM p")
        try b.execute("INSERT INTO c VALUES (?, ?)", [key(2), key(1)])
        let hiddenAt = stores.clock.environment.milliseconds()
        try a.sync(b)
        stores.clock.advance(milliseconds: 1000)
        #expect(try a.synchronizer.retryParkedRows() == 0)
        #expect(try a.synchronizer.parkedRows().map(\.sinceMilliseconds) == [hiddenAt])
        stores.clock.advance(milliseconds: 1000)
        try a.synchronizer.setOrphanPolicy(.hold, for: "c")
        #expect(try a.synchronizer.parkedRows().map(\.sinceMilliseconds) == [hiddenAt])
    }

    @Test func rowsOfOtherTablesAndColumnsSaySo() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        try a.migrate("more") { db in
            try db.execute(
                sql: "ALTER TABLE note ADD COLUMN color; CREATE TABLE extra (id BLOB PRIMARY KEY, x)")
        }
        try a.synchronizer.track(["extra"])
        try a.execute("INSERT INTO note (id, title, color) VALUES (?, 't', 'red')", [key(1)])
        try a.execute("INSERT INTO extra VALUES (?, 5)", [key(2)])
        try a.sync(b)
        let rows = try b.synchronizer.parkedRows()
        #expect(rows.map(\.reason) == [.missingColumn, .missingTable])
        #expect(rows.map(\.values) == [["color": "red".databaseValue], ["x": 5.databaseValue]])
        #expect(rows.map(\.sinceMilliseconds) == [nil, nil])
    }

    @Test func nothingIsWrittenWhereNothingCanHaveChanged() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        for replica in [a, b] {
            try replica.execute("INSERT INTO tag VALUES (?, 'red')", [UUID().uuidString])
        }
        try a.sync(b)
        try a.sync(b)
        let isDue = try a.queue.read { try SettlementMark.isDue($0) }
        #expect(!isDue)
        let before = try a.everything().filter { !$0.hasPrefix("_sync_peer") }
        try a.sync(b)
        let after = try a.everything().filter { !$0.hasPrefix("_sync_peer") }
        #expect(after == before)
        try a.execute("UPDATE tag SET name = 'blue'")
        let isDueAgain = try a.queue.read { try SettlementMark.isDue($0) }
        #expect(isDueAgain)
        try a.sync(b)
        #expect(try a.dump(["tag"]).count == 2)
        #expect(try a.dump(["tag"]) == b.dump(["tag"]))
    }

    @Test func rowsThatAnOlderProgramParkedAreAdopted() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        try a.execute("INSERT INTO tag VALUES ('0190f5fe-7c00-7a00-8000-00000000000a', 'red')")
        try b.execute("INSERT INTO tag VALUES ('0190f5fe-7c00-7a00-8000-00000000000b', 'red')")
        try a.sync(b)
        try a.queue.write { db in
            try db.execute(sql: "DELETE FROM _sync_hidden; DELETE FROM _sync_setting")
            try Parking.adoptParkedRows(db)
        }
        #expect(try a.synchronizer.parkedRows().map(\.reason) == [.other])
        try a.sync(b)
        #expect(try a.synchronizer.parkedRows().map(\.reason) == [.unique])
        try b.execute("DELETE FROM tag")
        try a.sync(b)
        #expect(try a.dump(["tag"]).count == 1)
        #expect(try a.dump(["tag"]) == b.dump(["tag"]))
    }

    /// Nothing of it waits.
    @Test func aRowWithoutValuesIsShownWithDefaults() throws {
        let a = try stores.create(schema: "CREATE TABLE bare (id BLOB PRIMARY KEY)", tables: ["bare"])
        let b = try stores.clone(a, as: "b.db")
        try b.changeUnobserved("ALTER TABLE bare ADD COLUMN x DEFAULT 5")
        try b.synchronizer.track(["bare"])
        try a.execute("INSERT INTO bare VALUES (?)", [key(1)])
        try b.sync(a)
        #expect(try b.value("SELECT x FROM bare", as: Int.self) == 5)
        #expect(try b.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) }.isEmpty)
    }

    /// A row without values that has no place waits as a whole, and comes when it has one.
    @Test func aRowWithoutValuesWaitsToo() throws {
        let a = try stores.create(schema: "CREATE TABLE bare (id BLOB PRIMARY KEY)", tables: ["bare"])
        let b = try stores.clone(a, as: "b.db")
        try b.changeUnobserved("DROP TABLE bare; CREATE TABLE bare (id BLOB PRIMARY KEY, x NOT NULL)")
        try b.synchronizer.track(["bare"])
        try a.execute("INSERT INTO bare VALUES (?)", [key(1)])
        try b.sync(a)
        #expect(try b.synchronizer.parkedRows().map(\.reason) == [.notNull])
        #expect(try b.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) }.isEmpty)
        try b.changeUnobserved(
            "DROP TABLE bare; CREATE TABLE bare (id BLOB PRIMARY KEY, x NOT NULL DEFAULT 1)")
        try b.synchronizer.track(["bare"])
        try b.sync(a)
        #expect(try b.value("SELECT x FROM bare", as: Int.self) == 1)
        #expect(try b.synchronizer.parkedRows().isEmpty)
        #expect(try b.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) }.isEmpty)
    }

    // MARK: Rows of which no value has a column here

    /// Rebuilds a table without the column `name`, and with `title`.
    private func replaceName(_ replica: TestReplica, title declaration: String = "DEFAULT 'untitled'") throws
    {
        try replica.migrate("title") { db in
            try db.execute(
                sql: """
                    CREATE TABLE new_word (id BLOB PRIMARY KEY, title \(declaration));
                    INSERT INTO new_word (id, title) SELECT id, 'old' FROM word;
                    DROP TABLE word;
                    ALTER TABLE new_word RENAME TO word;
                    """)
        }
    }

    private func words() throws -> (TestReplica, TestReplica) {
        let a = try stores.create(
            schema: "CREATE TABLE word (id BLOB PRIMARY KEY, name UNIQUE)", tables: ["word"])
        return (a, try stores.clone(a, as: "b.db"))
    }

    @Test func aRowWithoutAValueForAnyColumnIsShownWithDefaults() throws {
        let (a, b) = try words()
        try a.execute("INSERT INTO word VALUES (?, 'one')", [key(1)])
        try b.sync(a)
        try replaceName(b)
        try a.execute("INSERT INTO word VALUES (?, 'two')", [key(2)])
        try b.sync(a, .pull)
        #expect(try b.value("SELECT group_concat(title) FROM word WHERE id = x'\(hex(2))'") == "untitled")
        // Nor does a row go that is replaced by one without them.
        try a.execute("INSERT OR REPLACE INTO word VALUES (?, 'uno')", [key(1)])
        try a.execute("UPDATE word SET name = 'due' WHERE name = 'two'")
        try b.sync(a, .pull)
        #expect(try b.value("SELECT count(*) FROM word", as: Int.self) == 2)
        #expect(try b.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) }.isEmpty)
        // What is not shown is still there for others.
        let c = try stores.clone(b, as: "c.db")
        try c.migrate("name") { try $0.execute(sql: "ALTER TABLE word ADD COLUMN name") }
        let names: String? = try c.value("SELECT group_concat(name) FROM (SELECT name FROM word ORDER BY id)")
        #expect(names == "uno,due")
    }

    @Test func aRowWithoutAValueForAnyColumnSaysWhatHidesIt() throws {
        let (a, b) = try words()
        try replaceName(b, title: "NOT NULL")
        try a.execute("INSERT INTO word VALUES (?, 'one')", [key(1)])
        try b.sync(a, .pull)
        #expect(try b.synchronizer.parkedRows().map(\.reason) == [.notNull])
        #expect(try b.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) }.isEmpty)
    }

    /// Nothing stands against a row any more when the column went because of which it was hidden.
    @Test(arguments: [false, true]) func aHiddenRowOutlivesItsLastColumn(isRefused: Bool) throws {
        let (a, b) = try words()
        try a.execute("INSERT INTO word VALUES (?, 'x')", [key(1)])
        try b.execute("INSERT INTO word VALUES (?, 'x')", [key(2)])
        try b.sync(a)
        #expect(try b.synchronizer.parkedRows().map(\.reason) == [.unique])
        try replaceName(b, title: isRefused ? "NOT NULL" : "DEFAULT 'untitled'")
        #expect(try b.synchronizer.parkedRows().map(\.reason) == (isRefused ? [.notNull] : []))
        #expect(try b.value("SELECT count(*) FROM word", as: Int.self) == (isRefused ? 1 : 2))
        #expect(try b.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) }.isEmpty)
    }

    private func hex(_ number: UInt8) -> String { String(repeating: "0\(number)", count: 16) }
}
