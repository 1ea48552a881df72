import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// What a settlement leaves of a connection, and settlements while SQLite enforces foreign keys.
@Suite struct SettlementTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    @Test(arguments: [false, true])
    func foreignKeysAreEnforcedAfterASynchronizationAsBefore(isEnforced: Bool) throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        try a.insert(1, "one")
        let enforced = "PRAGMA foreign_keys"
        try b.queue.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA foreign_keys = \(isEnforced ? 1 : 0)")
        }
        try b.sync(a)
        try b.synchronizer.compact()
        #expect(try b.queue.writeWithoutTransaction { try Bool.fetchOne($0, sql: enforced) } == isEnforced)
        #expect(try b.titles() == ["one"])
    }

    /// A store may keep little history, and a fold drops entries before anybody looks for rows that waited for them.
    @Test func aRowThatGotRoomIsShownThoughTheHistoryDoesNotSayWhy() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        try a.execute("INSERT INTO tag VALUES ('0190f5fe-7c00-7a00-8000-00000000000a', 'same')")
        try b.execute("INSERT INTO tag VALUES ('0190f5fe-7c00-7a00-8000-00000000000b', 'same')")
        try a.sync(b)
        #expect(try a.synchronizer.status().parkedCount == 1)
        var options = CompactionOptions()
        options.historyCount = 100
        try a.synchronizer.compact(options)
        try a.execute("DELETE FROM tag")
        try a.execute(
            """
            INSERT INTO note (id) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
            SELECT CAST(printf('%016d', i) AS BLOB) FROM n
            """)
        try a.sync(b)
        #expect(try a.logCount() ?? .max < 200)
        #expect(try a.synchronizer.status().parkedCount == 0)
        #expect(try a.dump(["tag"]).count == 1)
        #expect(try a.dump() == b.dump())
    }

    /// A row that has nothing but its key waits for its table as any other, and comes back with a table that was dropped.
    @Test func aRowOfAKeyAloneWaitsForItsTable() throws {
        let a = try stores.create(schema: "CREATE TABLE other (id BLOB PRIMARY KEY)", tables: [])
        let b = try stores.clone(a, as: "b.db")
        let c = try stores.clone(a, as: "c.db")
        let schema = """
            CREATE TABLE child (id BLOB PRIMARY KEY, parent BLOB REFERENCES parent (id));
            CREATE TABLE parent (id BLOB PRIMARY KEY);
            """
        try a.queue.write { try $0.execute(sql: schema) }
        try a.synchronizer.track(["child", "parent"])
        try a.execute("INSERT INTO parent VALUES (?)", [key(1)])
        try a.execute("INSERT INTO child VALUES (?, ?)", [key(2), key(1)])
        try b.sync(a)
        #expect(try b.synchronizer.status().parkedCount == 2)
        #expect(try b.synchronizer.parkedRows().map(\.table).sorted() == ["child", "parent"])
        #expect(try b.problems() == [])
        // It is passed on meanwhile.
        try c.sync(b)
        try c.queue.write { try $0.execute(sql: schema) }
        try c.synchronizer.track(["child", "parent"])
        try b.queue.write { try $0.execute(sql: schema) }
        try b.synchronizer.track(["child", "parent"])
        for replica in [b, c] {
            #expect(try replica.synchronizer.status().parkedCount == 0)
            #expect(try replica.dump(["child", "parent"]) == a.dump(["child", "parent"]))
            #expect(try replica.problems() == [])
        }
        try b.migrate("drop") { try $0.execute(sql: "DROP TABLE child; DROP TABLE parent") }
        try a.execute("INSERT INTO parent VALUES (?)", [key(3)])
        try b.sync(a)
        try b.migrate("create") { try $0.execute(sql: schema) }
        try b.synchronizer.track(["child", "parent"])
        #expect(try b.dump(["child", "parent"]) == a.dump(["child", "parent"]))
        #expect(try b.problems() == [])
        #expect(try b.meet(a).divergence == nil)
    }

    /// The table of children comes first, and there is one parent.
    @Test func childrenFollowAParentThatIsShownAfterThem() throws {
        let a = try stores.create(schema: "CREATE TABLE other (id BLOB PRIMARY KEY)", tables: [])
        let b = try stores.clone(a, as: "b.db")
        let schema = """
            CREATE TABLE child (id BLOB PRIMARY KEY, parent BLOB REFERENCES parent (id));
            CREATE TABLE parent (id BLOB PRIMARY KEY, name TEXT);
            """
        try a.queue.write { try $0.execute(sql: schema) }
        try a.synchronizer.track(["child", "parent"])
        try a.execute("INSERT INTO parent VALUES (?, 'one')", [key(1)])
        for number: UInt8 in 2...3 {
            try a.execute("INSERT INTO child VALUES (?, ?)", [key(number), key(1)])
        }
        try b.sync(a)
        #expect(try b.synchronizer.status().parkedCount == 3)
        try b.queue.write { try $0.execute(sql: schema) }
        try b.synchronizer.track(["child", "parent"])
        #expect(try b.value("SELECT count(*) FROM child", as: Int.self) == 2)
        #expect(try b.synchronizer.status().parkedCount == 0)
    }
}
