import CipherStore
import Testing

@testable import SyncEngine

/// Rows that exist and are not in their table: hidden ones, and those that went while nobody looked.
@Suite struct MissingRowTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    /// A store, and one that has a column more, with three rows in both.
    private func words() throws -> (TestReplica, TestReplica) {
        let a = try stores.create(
            schema: "CREATE TABLE word (id BLOB PRIMARY KEY, name TEXT, body TEXT DEFAULT 'none')",
            tables: ["word"])
        let b = try stores.clone(a, as: "b.db")
        try b.execute("ALTER TABLE word ADD COLUMN tag TEXT")
        for number in UInt8(1)...3 {
            try b.execute("INSERT INTO word VALUES (?, 'name', 'body', 'red')", [key(number)])
        }
        try a.sync(b)
        return (a, b)
    }

    private func id(_ number: UInt8) -> String { "x'" + String(repeating: "0\(number)", count: 16) + "'" }

    private func problems(_ replica: TestReplica) throws -> [String] {
        try replica.queue.read { try MetadataCheck.problems(of: $0, isDeep: true).map(\.message) }
    }

    private func texts(_ replica: TestReplica) throws -> String? {
        try replica.value(
            "SELECT group_concat(hex(substr(id, 1, 1)) || name || body) FROM (SELECT * FROM word ORDER BY id)"
        )
    }

    /// When another program takes a row away.
    enum Deletion: CaseIterable {
        case byTheRebuild, afterTheRebuild, byARebuildWithTheColumn
    }

    /// A value that waits for a column hides no row, so the row was in the table with all its other values.
    @Test(arguments: Deletion.allCases)
    func aRowThatAnotherProgramTookAwayIsDeletedThoughAValueOfItWaits(_ deletion: Deletion) throws {
        let (a, b) = try words()
        let tag = deletion == .byARebuildWithTheColumn ? ", tag TEXT" : ""
        let condition = deletion == .afterTheRebuild ? "" : " WHERE id <> \(id(2))"
        try a.changeUnobserved(
            """
            CREATE TABLE new_word (id BLOB PRIMARY KEY, name TEXT, body TEXT DEFAULT 'none'\(tag));
            INSERT INTO new_word (id, name, body) SELECT id, name, body FROM word\(condition);
            DROP TABLE word;
            ALTER TABLE new_word RENAME TO word;
            """)
        if deletion == .afterTheRebuild { try a.changeUnobserved("DELETE FROM word WHERE id = \(id(2))") }
        try a.sync(b)
        for replica in [a, b] {
            #expect(try texts(replica) == "01namebody,03namebody")
            #expect(try problems(replica).isEmpty)
        }
    }

    @Test func aHiddenRowOutlivesARebuildByAnotherProgram() throws {
        let (a, b) = try words()
        try a.migrate("title") { db in
            try db.execute(
                sql: """
                    CREATE TABLE new_word (id BLOB PRIMARY KEY, title TEXT NOT NULL);
                    INSERT INTO new_word SELECT id, 'title' FROM word;
                    DROP TABLE word;
                    ALTER TABLE new_word RENAME TO word;
                    """)
        }
        try b.execute("INSERT INTO word VALUES (?, 'name', 'body', 'red')", [key(4)])
        try a.sync(b)
        #expect(try a.synchronizer.parkedRows().map(\.reason).contains(.notNull))
        try a.changeUnobserved(
            """
            CREATE TABLE new_word (id BLOB PRIMARY KEY, title TEXT NOT NULL);
            INSERT INTO new_word SELECT id, title FROM word;
            DROP TABLE word;
            ALTER TABLE new_word RENAME TO word;
            """)
        try a.sync(b)
        #expect(try a.value("SELECT count(*) FROM word", as: Int.self) == 3)
        #expect(try a.value("SELECT count(*) FROM _sync_hidden", as: Int.self) == 1)
        #expect(try b.value("SELECT count(*) FROM word", as: Int.self) == 4)
        #expect(try problems(a).isEmpty)
    }

    @Test func aRowThatWentUnseenIsNamedAndNotMadeUp() throws {
        let (a, _) = try words()
        try a.changeUnobserved(
            """
            UPDATE _sync_state SET applying = 1;
            DELETE FROM word WHERE id = \(id(2));
            UPDATE _sync_state SET applying = 0;
            """)
        #expect(try problems(a) == ["1 rows of table word went without being tracked"])
        try a.synchronizer.retryParkedRows()
        #expect(try a.value("SELECT count(*) FROM word", as: Int.self) == 2)
    }

    /// Programs from before 29 November 2026 left out rows of which no value had a column here. The first synchronization may
    /// find their table without triggers.
    @Test(arguments: [false, true]) func aRowThatAnEarlierProgramLeftOutComesBack(isRebuilt: Bool) throws {
        let a = try stores.create(
            schema: "CREATE TABLE word (id BLOB PRIMARY KEY, name TEXT)", tables: ["word"])
        let b = try stores.clone(a, as: "b.db")
        let rebuild = """
            CREATE TABLE new_word (id BLOB PRIMARY KEY, title TEXT DEFAULT 'untitled');
            INSERT INTO new_word (id) SELECT id FROM word;
            DROP TABLE word;
            ALTER TABLE new_word RENAME TO word;
            """
        try b.migrate("title") { try $0.execute(sql: rebuild) }
        for number in UInt8(1)...3 { try a.execute("INSERT INTO word VALUES (?, 'name')", [key(number)]) }
        try b.sync(a)
        try b.changeUnobserved(
            """
            UPDATE _sync_state SET applying = 1;
            DELETE FROM word WHERE id = \(id(1));
            UPDATE _sync_state SET applying = 0;
            DELETE FROM _sync_setting WHERE name = 'hidden.complete';
            """)
        #expect(try problems(b).isEmpty)
        // A row that was deleted here does not come back.
        try b.execute("DELETE FROM word WHERE id = ?", [key(2)])
        if isRebuilt { try b.changeUnobserved(rebuild) }
        let environment = stores.clock.environment
        try b.queue.write { db throws in
            let tracking = TableTracking(db: db, environment: environment)
            try tracking.refresh()
            try tracking.unpark()
        }
        try b.sync(a)
        let ids = "SELECT group_concat(hex(substr(id, 1, 1))) FROM (SELECT id FROM word ORDER BY id)"
        for replica in [a, b] {
            #expect(try replica.value(ids) == "01,03")
            #expect(try problems(replica).isEmpty)
        }
    }
}
