import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Conversions of keys that are refused, cut short, or made in other ways.
@Suite struct KeyMigrationRefusalTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private static let note =
        "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT); INSERT INTO note VALUES (1, 'one'), (2, 'two');"

    private func make(_ schema: String, _ name: String = "a.db") throws -> TestReplica {
        try stores.create(name, schema: schema, tables: [])
    }

    private func refusal(
        _ schema: String, tables: [String]? = nil, _ change: (inout UUIDKeyMigration) -> Void = { _ in }
    ) throws -> String {
        let a = try make(schema, UUID().uuidString)
        var migration = UUIDKeyMigration(tables: tables)
        change(&migration)
        let before = try a.everything()
        let error = #expect(throws: SyncError.self) { try a.synchronizer.convertKeys(migration) }
        #expect(try a.everything() == before)
        #expect(error?.code == .keysNotConvertible)
        // The connection is as it was.
        #expect(try a.value("PRAGMA foreign_keys", as: Bool.self) == true)
        return error?.message ?? ""
    }

    /// What seems to depend on keys being integers is listed, and left to the user.
    @Test(arguments: [
        (
            "CREATE TRIGGER t AFTER INSERT ON note BEGIN UPDATE note SET title = last_insert_rowid() WHERE 0; END",
            "trigger t uses last_insert_rowid"
        ),
        ("CREATE VIEW v AS SELECT title FROM note ORDER BY note.id DESC", "view v is ordered by id"),
        ("CREATE VIEW v AS SELECT title FROM note WHERE id > 5", "view v compares or computes with id"),
        ("CREATE VIEW v AS SELECT title FROM note WHERE 5 <= id", "view v compares or computes with id"),
        ("CREATE VIEW v AS SELECT title FROM note WHERE id = 1", "view v compares id with a number"),
        ("CREATE VIEW v AS SELECT title FROM note WHERE id IN (1, 2)", "view v compares id with a number"),
        ("CREATE VIEW v AS SELECT 'note ' || id FROM note", "view v compares or computes with id"),
        ("CREATE VIEW v AS SELECT max(note.id) FROM note", "view v calls max(id)"),
        ("CREATE VIEW v AS SELECT rowid, title FROM note", "view v uses rowid"),
        ("CREATE VIEW v AS SELECT title FROM note WHERE id BETWEEN 1 AND 3", "view v compares id by BETWEEN"),
        ("CREATE INDEX i ON note (title) WHERE id % 2", "index i compares or computes with id"),
        (
            "CREATE TABLE other (note INT REFERENCES note CHECK (note < 100))",
            "check other compares or computes with note"
        ),
        (
            "CREATE TABLE other (note INT DEFAULT (1 + 1) REFERENCES note)",
            "default other computes a key for column note"
        ),
    ]) func whatDependsOnIntegersIsListed(_ sql: String, _ reason: String) throws {
        let message = try refusal(Self.note + sql)
        #expect(message.contains(reason), "\(message)")
    }

    @Test(arguments: [
        "CREATE VIEW v AS SELECT n.id, n.title FROM note n JOIN note m ON m.id = n.id AND n.id <> m.id WHERE n.id IS NOT NULL AND n.id IN (SELECT id FROM note) GROUP BY n.id ORDER BY n.title",
        "CREATE VIEW v AS SELECT count(id), coalesce(id, title) FROM note WHERE title > 5 AND id != title",
        "CREATE TABLE other (note INT REFERENCES note CHECK (note IS NOT NULL)); CREATE UNIQUE INDEX i ON other (note) WHERE note IS NOT NULL",
        "CREATE TRIGGER t AFTER UPDATE OF title ON note WHEN NEW.id = OLD.id BEGIN INSERT INTO note (title) SELECT 'x' WHERE NEW.id IS NULL; END",
    ]) func whatDoesNotDependOnThemIsNot(_ sql: String) throws {
        let a = try make(Self.note + sql)
        let plan = try a.queue.read { try UUIDKeyMigration().plan($0) }
        #expect(plan.dependents == [])
        try a.synchronizer.convertKeys(UUIDKeyMigration())
        let same = try a.value("SELECT sql FROM sqlite_master WHERE name IN ('v', 't')", as: String.self)
        #expect(same == nil || sql.contains(same ?? ""))
    }

    @Test func dependentsStayAsTheyAreIfTheUserSaysSo() throws {
        let a = try make(Self.note + "CREATE VIEW v AS SELECT title FROM note ORDER BY id;")
        var migration = UUIDKeyMigration()
        migration.acceptsDependents = true
        let plan = try a.synchronizer.convertKeys(migration)
        #expect(plan.dependents.map(\.name) == ["v"])
        #expect(try a.value("SELECT count(*) FROM v", as: Int.self) == 2)
    }

    @Test func fullTextTablesOfRowidsAreRefused() throws {
        let message = try refusal(
            Self.note + "CREATE VIRTUAL TABLE search USING fts4(content=\"note\", title);")
        #expect(message.contains("full-text table search is an index of table note"))
        // One with a copy of its own is none of the tables, and what feeds it has integers.
        let fed =
            Self.note + """
                CREATE VIRTUAL TABLE search USING fts4(title);
                CREATE TRIGGER feed AFTER INSERT ON note BEGIN INSERT INTO search (docid, title) VALUES (NEW.id, NEW.title); END;
                """
        #expect(try refusal(fed).contains("trigger feed uses the keys in virtual table search"))
    }

    @Test func whatCannotBeConvertedIsListed() throws {
        let shared = Self.note + "CREATE TABLE detail (note INTEGER PRIMARY KEY REFERENCES note, text);"
        #expect(
            try refusal(shared, tables: ["detail"]).contains(
                "the key of table detail refers to note: convert that, too"))
        let two =
            Self.note
            + "CREATE TABLE tag (id INTEGER PRIMARY KEY); CREATE TABLE x (a INT REFERENCES note REFERENCES tag);"
        #expect(try refusal(two).contains("column x.a holds keys of note and tag"))
        #expect(
            try refusal(Self.note + "CREATE TABLE t (id, uuid);").contains(
                "table t has columns id and uuid already"))
        #expect(
            try refusal(Self.note + "CREATE TABLE t (rowid, oid, _rowid_);").contains("the rowids of table t")
        )
        #expect(try refusal(Self.note + "CREATE VIEW v AS SELECT 1;", tables: ["v"]).contains("v is a view"))
        #expect(try refusal(Self.note, tables: ["_sync_log"]).contains("belongs to the library"))
        #expect(
            try refusal("CREATE TABLE t (id INTEGER PRIMARY KEY, old_id)") { $0.keepsOldKeys = true }
                .contains("has a column old_id already"))
        #expect(
            try refusal(Self.note) { $0.rowsOfThisDevice = ["tag": 1] }.contains(
                "rows of this device are given for table tag"))
        #expect(
            try refusal(Self.note) { $0.references = [.init(table: "note", column: "x", parent: "note")] }
                .contains("there is no column note.x"))
        #expect(
            try refusal(Self.note + "CREATE TABLE x (a REFERENCES note (title));").contains(
                "the foreign keys of table x can't be checked"))
        let checked =
            "CREATE TABLE t (id INTEGER PRIMARY KEY CHECK (typeof(id) = 'integer')); INSERT INTO t VALUES (1);"
        #expect(try refusal(checked).contains("check t calls typeof(id)"))
        let a = try make(checked)
        var migration = UUIDKeyMigration()
        migration.acceptsDependents = true
        let before = try a.everything()
        #expect(throws: DatabaseError.self) { try a.synchronizer.convertKeys(migration) }
        #expect(try a.everything() == before)
        #expect(throws: SyncError.self) {
            try a.synchronizer.convertKeys(UUIDKeyMigration(tables: ["nowhere"]))
        }
    }

    /// Both would keep the UUID that they are.
    @Test(arguments: ["'A3B1C2D4-0000-4000-8000-0123456789AB'", "x'a3b1c2d40000400080000123456789ab'"])
    func keysThatAreTheSameUUIDAreNamed(_ other: String) throws {
        let text = "'a3b1c2d4-0000-4000-8000-0123456789ab'"
        let schema =
            "CREATE TABLE n (k PRIMARY KEY, v); INSERT INTO n VALUES (\(text), 1), (\(other), 2), ('x', 3);"
        let message = try refusal(schema)
        #expect(message.contains("of table n are the same UUID"))
        #expect(message.contains(text))
        let a = try make(schema)
        #expect(throws: SyncError.self) { try a.queue.read { try UUIDKeyMigration().plan($0) } }
    }

    @Test func aDryRunChangesNothingAndSaysTheSame() throws {
        let a = try make(
            Self.note + "CREATE TABLE tag (note INT REFERENCES note, name, PRIMARY KEY (note, name));")
        let before = try a.everything()
        let plan = try a.queue.read { try UUIDKeyMigration().plan($0) }
        #expect(try a.everything() == before)
        #expect(try a.synchronizer.convertKeys(UUIDKeyMigration()) == plan)
    }

    private struct Stop: Error {}

    @Test func aConversionThatIsCancelledLeavesNothing() throws {
        let a = try make("CREATE TABLE note (id INTEGER PRIMARY KEY)")
        try a.queue.write { db in
            for id in 1...10_000 { try db.execute(sql: "INSERT INTO note VALUES (?)", arguments: [id]) }
        }
        let before = try a.everything().count
        var calls: [Int64] = []
        #expect(throws: Stop.self) {
            try a.synchronizer.convertKeys(UUIDKeyMigration()) { completed, total in
                calls.append(completed)
                #expect(total == 10_000)
                if completed > 5000 { throw Stop() }
            }
        }
        #expect(calls == [4096, 8192])
        #expect(try a.everything().count == before)
        #expect(try a.value("SELECT max(id) FROM note", as: Int.self) == 10_000)
        let plan = try a.synchronizer.convertKeys(UUIDKeyMigration())
        #expect(plan.tables.map(\.rowCount) == [10_000])
        // The second time there is nothing to do.
        #expect(try a.synchronizer.convertKeys(UUIDKeyMigration()).tables == [])
    }

    // MARK: Apps

    /// Two devices of a user that have copies of an app's file, which is no store yet.
    @Test func copiesOfAFileThatIsNoStoreBecomeReplicas() throws {
        let path = stores.path("app.db")
        let first = try DatabaseQueue(path: path, configuration: TestStores.configuration("app.db"))
        try first.write { try $0.execute(sql: Self.note) }
        #expect(throws: SyncError.self) { try UUIDKeyMigration().migrate(first) }
        try first.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try FileManager.default.copyItem(atPath: path, toPath: stores.path("copy.db"))
        var configuration = TestStores.configuration("app.db")
        configuration.journalMode = .wal
        let second = try DatabaseQueue(path: stores.path("copy.db"), configuration: configuration)
        var migration = UUIDKeyMigration()
        migration.namespace = StoreID(high: 1, low: 2)
        for queue in [first, second] {
            // In a migration of the app.
            var migrator = DatabaseMigrator()
            let environment = stores.clock.environment
            migrator.registerMigration("keys") { [migration] db in
                try migration.convert(db, environment: environment)
            }
            try migrator.migrate(queue)
        }
        let a = try Synchronizer(first, tables: ["note"], environment: stores.clock.environment)
        let b = try Synchronizer(second, tables: ["note"], environment: stores.clock.environment)
        try first.write { try $0.execute(sql: "UPDATE note SET title = 'edited' WHERE title = 'one'") }
        let transport = StoreTransport(path: stores.path("copy.db"), configuration: configuration)
        _ = try a.run(.both, transport)
        let ids = try [first, second].map { queue in
            try queue.read {
                try Row.fetchAll($0, sql: "SELECT hex(id), title FROM note ORDER BY title").map(\.description)
            }
        }
        #expect(ids[0] == ids[1])
        #expect(ids[0].count == 2)
        #expect(try a.status().store == b.status().store)
    }

    @Test func convertingNeedsATransactionWithoutForeignKeys() throws {
        let a = try make(Self.note)
        let error = #expect(throws: SyncError.self) {
            try a.queue.write { _ = try UUIDKeyMigration().convert($0) }
        }
        #expect(error?.message.contains("foreign keys off") == true)
    }

    @Test func parkedRowsWithOldKeysAreToBeResolvedFirst() throws {
        let schema = """
            CREATE TABLE folder (id INTEGER PRIMARY KEY, name);
            CREATE TABLE note (id BLOB PRIMARY KEY, slug UNIQUE, folder INTEGER REFERENCES folder);
            INSERT INTO folder VALUES (1, 'one'), (2, 'two');
            """
        let a = try stores.create(schema: schema, tables: ["note"])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("INSERT INTO note VALUES (?, 'x', 1)", [key(1)])
        try b.execute("INSERT INTO note VALUES (?, 'x', 2)", [key(2)])
        try a.sync(b)
        let migration = UUIDKeyMigration(tables: ["folder"])
        for replica in [a, b] {
            let before = try replica.everything()
            let error = #expect(throws: SyncError.self) { try replica.synchronizer.convertKeys(migration) }
            #expect(error?.code == .keysNotConvertible)
            #expect(error?.message.contains("1 parked row with old keys in folder") == true)
            #expect(try replica.everything() == before)
        }
        try a.execute("DELETE FROM note WHERE id = ?", [key(1)])
        for _ in 0..<2 { try a.sync(b) }
        for replica in [a, b] { try replica.synchronizer.convertKeys(migration) }
        for _ in 0..<2 { try a.sync(b) }
        for replica in [a, b] {
            #expect(
                try replica.value("SELECT f.name FROM note n JOIN folder f ON f.id = n.folder") == "two")
        }
        #expect(try a.state(["folder", "note"]) == b.state(["folder", "note"]))
    }

    @Test func undeclaredReferencesFollowIfTheyAreNamed() throws {
        let a = try make(
            Self.note
                + "CREATE TABLE remark (id INTEGER PRIMARY KEY, about INTEGER); INSERT INTO remark VALUES (1, 2);"
        )
        var migration = UUIDKeyMigration()
        migration.references = [.init(table: "remark", column: "about", parent: "note")]
        try a.synchronizer.convertKeys(migration)
        #expect(try a.value("SELECT title FROM note n JOIN remark r ON r.about = n.id") == "two")
    }

    // MARK: Newer libraries

    @Test(.enabled(if: EngineFeatures.current.supportsGeneratedColumns))
    func strictTablesAndGeneratedColumnsAreKept() throws {
        let a = try make(
            """
            CREATE TABLE folder (id INTEGER PRIMARY KEY, name TEXT, shouted TEXT AS (upper(name)) STORED) STRICT;
            CREATE TABLE note (id INTEGER PRIMARY KEY, folder INTEGER REFERENCES folder, size ANY, double INT GENERATED ALWAYS AS (size * 2)) STRICT;
            INSERT INTO folder (id, name) VALUES (1, 'home');
            INSERT INTO note (id, folder, size) VALUES (3, 1, 21);
            """)
        var migration = UUIDKeyMigration()
        migration.keepsOldKeys = true
        try a.synchronizer.convertKeys(migration)
        #expect(
            try a.value(
                "SELECT f.shouted || n.double || n.old_id FROM note n JOIN folder f ON f.id = n.folder")
                == "HOME423")
    }
}
