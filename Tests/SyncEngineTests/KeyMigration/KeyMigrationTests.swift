import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Integer keys and others that become UUIDs: the tables, and what is around them.
@Suite struct KeyMigrationTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private static let folders = """
        CREATE TABLE folder (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, parent INTEGER REFERENCES folder(id) ON DELETE CASCADE);
        CREATE TABLE note (
            id INTEGER PRIMARY KEY, -- the key
            title TEXT COLLATE NOCASE NOT NULL DEFAULT 'none', folder INT NOT NULL DEFAULT 2 REFERENCES folder ON UPDATE CASCADE ON DELETE SET DEFAULT,
            CHECK (title <> ''));
        CREATE UNIQUE INDEX note_title ON note (folder, title);
        CREATE INDEX note_some ON note (title) WHERE folder IS NOT NULL;
        CREATE INDEX note_lower ON note (lower(title));
        CREATE VIEW listed AS SELECT n.title, f.name FROM note AS n JOIN folder AS f ON f.id = n.folder;
        CREATE TABLE audit (at INTEGER PRIMARY KEY, note INTEGER);
        CREATE TRIGGER noted AFTER INSERT ON note BEGIN INSERT INTO audit (note) VALUES (NEW.id); END;
        INSERT INTO folder VALUES (1, 'root', NULL), (2, 'home', 1), (7, 'work', 1);
        INSERT INTO note VALUES (10, 'a', 1), (11, 'b', 2), (12, 'c', 7);
        """

    private func make(_ schema: String, _ name: String = "a.db") throws -> TestReplica {
        try stores.create(name, schema: schema, tables: [])
    }

    private func strings(_ a: TestReplica, _ sql: String) throws -> [String] {
        try a.queue.read {
            try Row.fetchAll($0, sql: sql).map { $0.databaseValues.map(\.description).joined(separator: "|") }
        }
    }

    private func definition(_ a: TestReplica, _ table: String) throws -> String {
        try a.value("SELECT sql FROM sqlite_master WHERE name = '\(table)'") ?? ""
    }

    private func refusal(_ a: TestReplica, _ migration: UUIDKeyMigration) throws -> String {
        let before = try a.everything()
        let error = #expect(throws: SyncError.self) { try a.synchronizer.convertKeys(migration) }
        let after = try a.everything()
        #expect(before == after)
        #expect(error?.code == .keysNotConvertible)
        return error?.message ?? ""
    }

    // MARK: What is converted

    @Test func integerKeysBecomeUUIDsAndReferencesFollow() throws {
        let a = try make(Self.folders)
        let listed = try strings(a, "SELECT * FROM listed ORDER BY 1")
        let plan = try a.synchronizer.convertKeys(UUIDKeyMigration(tables: ["folder", "note"]))
        #expect(plan.tables.map(\.name) == ["folder", "note"])
        #expect(plan.tables.map(\.origin) == [.column, .column])
        #expect(plan.tables.map(\.references) == [["parent"], ["folder"]])
        #expect(plan.tables.map(\.lastOldKey) == [7, 12])
        #expect(try strings(a, "SELECT * FROM listed ORDER BY 1") == listed)
        #expect(
            try strings(a, "SELECT DISTINCT typeof(id), length(id), typeof(folder), length(folder) FROM note")
                == ["\"blob\"|16|\"blob\"|16"])
        #expect(
            try strings(
                a,
                "SELECT c.name FROM folder c JOIN folder p ON p.id = c.parent WHERE p.name = 'root' ORDER BY 1"
            ) == ["\"home\"", "\"work\""])
        #expect(
            try definition(a, "note") == """
                CREATE TABLE note (
                    id BLOB PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (randomblob(16)), -- the key
                    title TEXT COLLATE NOCASE NOT NULL DEFAULT 'none', folder BLOB NOT NULL DEFAULT \(try literal(a, 2)) REFERENCES folder ON UPDATE CASCADE ON DELETE SET DEFAULT,
                    CHECK (title <> ''))
                """)
        #expect(
            try definition(a, "folder") == """
                CREATE TABLE folder (id BLOB PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (randomblob(16)), name TEXT, parent BLOB REFERENCES folder(id) ON DELETE CASCADE)
                """)
        let objects = try strings(
            a,
            "SELECT name FROM sqlite_master WHERE type IN ('index', 'trigger') AND substr(name, 1, 1) <> '_' AND sql NOT NULL ORDER BY 1"
        )
        #expect(objects == ["\"note_lower\"", "\"note_some\"", "\"note_title\"", "\"noted\""])
        // Tracked, and an app's statements that leave the key to SQLite go on.
        #expect(try a.synchronizer.status().tables.map(\.name).sorted() == ["folder", "note"])
        try a.execute("INSERT INTO note (title) VALUES ('d')")
        try a.execute("INSERT INTO note (id, title) VALUES (NULL, 'e')")
        #expect(
            try strings(
                a,
                "SELECT n.title, f.name FROM note n JOIN folder f ON f.id = n.folder WHERE n.title > 'c' ORDER BY 1"
            ) == ["\"d\"|\"home\"", "\"e\"|\"home\""])
        #expect(
            try a.value("SELECT count(*) FROM note WHERE id IN (SELECT note FROM audit)", as: Int.self) == 2)
        // The actions of the foreign keys are those of before.
        try a.execute("DELETE FROM folder WHERE name = 'work'")
        #expect(
            try a.value("SELECT f.name FROM note n JOIN folder f ON f.id = n.folder WHERE title = 'c'")
                == "home")
        let problems = try a.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) }
        #expect(problems.isEmpty)
    }

    private func literal(_ a: TestReplica, _ key: Int64) throws -> String {
        let store = try a.queue.read { try StoreMetadata.require($0).store }
        return "x'\(DerivedKey(namespace: store, table: "folder").key(of: [.integer(key)]).description)'"
    }

    @Test func copiesAgreeOnTheirKeysAndMerge() throws {
        let a = try make(Self.folders)
        let b = try stores.clone(a, as: "b.db")
        try a.execute("UPDATE note SET title = 'edited' WHERE id = 10")
        for replica in [a, b] {
            try replica.synchronizer.convertKeys(UUIDKeyMigration(tables: ["NOTE", "folder"]))
        }
        #expect(
            try strings(a, "SELECT hex(id) FROM note ORDER BY 1")
                == strings(b, "SELECT hex(id) FROM note ORDER BY 1"))
        try a.sync(b)
        try a.sync(b)
        #expect(try a.state(["folder", "note"]) == b.state(["folder", "note"]))
        #expect(try a.value("SELECT count(*) FROM note", as: Int.self) == 3)
    }

    /// What both copies numbered alike becomes one row unless a device says which rows are its own.
    @Test func rowsThatOneDeviceAddedAreItsOwnIfItSaysSo() throws {
        for isSaid in [false, true] {
            let a = try make(Self.folders, "a\(isSaid).db")
            let b = try stores.clone(a, as: "b\(isSaid).db")
            try a.execute("INSERT INTO note VALUES (13, 'of a', 1)")
            try b.execute("INSERT INTO folder VALUES (8, 'of b', 1); INSERT INTO note VALUES (13, 'of b', 8)")
            var migration = UUIDKeyMigration(tables: ["folder", "note"])
            if isSaid { migration.rowsOfThisDevice = ["note": 12, "Folder": 7] }
            for replica in [a, b] { try replica.synchronizer.convertKeys(migration) }
            try a.sync(b)
            let titles = try strings(a, "SELECT title FROM note WHERE title LIKE 'of%' ORDER BY 1")
            #expect(isSaid ? titles == ["\"of a\"", "\"of b\""] : titles.count == 1)
            let folder: String? = try a.value(
                "SELECT f.name FROM note n JOIN folder f ON f.id = n.folder WHERE title = 'of b'")
            if isSaid { #expect(folder == "of b") }
            // The one that lost is in the journal.
            if !isSaid { #expect(try !a.conflicts().isEmpty || !b.conflicts().isEmpty) }
        }
    }

    @Test func keysOfTextCanBeAskedFor() throws {
        let a = try make(Self.folders)
        var migration = UUIDKeyMigration()
        migration.keyForm = .text
        try a.synchronizer.convertKeys(migration)
        let isUUID = TableDefinition.isUUID("id")
        #expect(try a.value("SELECT count(*) FROM note WHERE \(isUUID)", as: Int.self) == 3)
        try a.execute("INSERT INTO note (title, folder) SELECT 'x' || id, id FROM folder")
        #expect(
            try a.value(
                "SELECT count(*) FROM note WHERE \(isUUID) AND id = lower(id) AND substr(id, 15, 1) = '4' AND substr(id, 20, 1) IN ('8', '9', 'a', 'b')",
                as: Int.self) == 3)
    }

    @Test func aJoinTableGetsAKeyOfItsPairAndASharedKeyStaysShared() throws {
        let a = try make(
            Self.folders + """
                CREATE TABLE tag (name TEXT PRIMARY KEY COLLATE NOCASE, colour) WITHOUT ROWID;
                CREATE TABLE note_tag (note INTEGER REFERENCES note ON DELETE CASCADE, tag TEXT REFERENCES tag, CONSTRAINT pair PRIMARY KEY (note, tag)) WITHOUT ROWID;
                CREATE TABLE remark (id INTEGER PRIMARY KEY, note INTEGER, tag TEXT, FOREIGN KEY (note, tag) REFERENCES note_tag);
                CREATE TABLE detail (note INTEGER PRIMARY KEY REFERENCES note, text);
                CREATE TABLE loose (a, b);
                INSERT INTO tag VALUES ('red', 1), ('Green', 2);
                INSERT INTO note_tag VALUES (10, 'RED'), (10, 'green'), (11, 'red');
                INSERT INTO remark VALUES (1, 10, 'RED'), (2, NULL, NULL);
                INSERT INTO detail VALUES (12, 'long');
                INSERT INTO loose VALUES (1, 2), (1, 2);
                """)
        let relation = """
            SELECT n.title, t.name, r.id IS NOT NULL, d.text FROM note n LEFT JOIN note_tag x ON x.note = n.id
            LEFT JOIN tag t ON t.name = x.tag OR t.colour = 0
            LEFT JOIN remark r ON r.note = x.note AND r.tag = x.tag LEFT JOIN detail d ON d.note = n.id ORDER BY 1, 3
            """
        let counted =
            "SELECT n.title, count(t.colour), sum(t.colour), count(r.tag), count(d.text) FROM note n LEFT JOIN note_tag x ON x.note = n.id LEFT JOIN tag t ON t.name = x.tag LEFT JOIN remark r ON r.note = x.note AND r.tag = x.tag LEFT JOIN detail d ON d.note = n.id GROUP BY n.title ORDER BY 1"
        #expect(try !strings(a, relation).isEmpty)
        let before = try strings(a, counted)
        let plan = try a.synchronizer.convertKeys(UUIDKeyMigration())
        #expect(try strings(a, counted) == before)
        let origins = Dictionary(uniqueKeysWithValues: plan.tables.map { ($0.name, $0.origin) })
        #expect(
            origins == [
                "folder": .column, "note": .column, "audit": .column, "tag": .column, "note_tag": .columns,
                "remark": .column, "detail": .shared, "loose": .rowid,
            ])
        #expect(try definition(a, "note_tag").hasSuffix("CONSTRAINT pair UNIQUE (note, tag)) WITHOUT ROWID"))
        #expect(
            try definition(a, "note_tag").contains(
                "tag BLOB REFERENCES tag NOT NULL, \"id\" BLOB PRIMARY KEY NOT NULL ON CONFLICT REPLACE"))
        #expect(try definition(a, "remark").contains("REFERENCES note_tag (\"note\", \"tag\")"))
        #expect(try a.value("SELECT count(DISTINCT id) FROM loose", as: Int.self) == 2)
        #expect(try a.value("SELECT typeof(name) FROM tag LIMIT 1") == "blob")
        // A text may mean something, and stays.
        #expect(
            try a.value("SELECT group_concat(old_name) FROM (SELECT old_name FROM tag ORDER BY colour)")
                == "red,Green")
        #expect(try a.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) }.isEmpty)
    }

    @Test func oldKeysAreKeptOnRequest() throws {
        let a = try make(
            Self.folders + "CREATE TABLE loose (a); INSERT INTO loose (rowid, a) VALUES (5, 'x');")
        var migration = UUIDKeyMigration(tables: ["note", "folder", "loose"])
        migration.keepsOldKeys = true
        try a.synchronizer.convertKeys(migration)
        #expect(
            try strings(a, "SELECT old_id, title FROM note ORDER BY old_id") == [
                "10|\"a\"", "11|\"b\"", "12|\"c\"",
            ])
        #expect(try strings(a, "SELECT old_rowid, a FROM loose") == ["5|\"x\""])
    }

    /// A column declared as integers holds texts and fractions, too, unless it is the rowid.
    @Test(arguments: [
        "k INT PRIMARY KEY, v", "k BIGINT PRIMARY KEY, v", "k INTEGER PRIMARY KEY DESC, v",
        "k INT, v, PRIMARY KEY (k)",
    ]) func textsInKeysDeclaredAsIntegersAreKept(_ columns: String) throws {
        let a = try make(
            "CREATE TABLE c (\(columns)); INSERT INTO c VALUES ('A1', 1), (2.5, 2), (7, 3), (x'00', 4);")
        let plan = try a.queue.read { try UUIDKeyMigration().plan($0) }
        #expect(plan.tables.map(\.oldKeyColumn) == ["old_k"])
        try a.synchronizer.convertKeys(UUIDKeyMigration())
        let kept = try strings(a, "SELECT old_k FROM c ORDER BY v")
        #expect(kept == ["\"A1\"", "2.5", "7", "Data(1 bytes)"])
    }

    @Test func integersInAKeyThatIsNotTheRowidAreNotKept() throws {
        let a = try make("CREATE TABLE c (k INT PRIMARY KEY, v); INSERT INTO c VALUES (1, 1), (NULL, 2);")
        let plan = try a.synchronizer.convertKeys(UUIDKeyMigration())
        #expect(plan.tables.map(\.oldKeyColumn) == [nil])
    }

    @Test func tablesThatKeepTheirKeysFollow() throws {
        let a = try make(Self.folders)
        let plan = try a.synchronizer.convertKeys(UUIDKeyMigration(tables: ["folder"]))
        #expect(plan.tables.map(\.origin) == [.column, .kept])
        #expect(plan.trackableTables == ["folder"])
        #expect(
            try strings(a, "SELECT n.id, f.name FROM note n JOIN folder f ON f.id = n.folder ORDER BY 1") == [
                "10|\"root\"", "11|\"home\"", "12|\"work\"",
            ])
        // The rest can follow later.
        let later = try a.synchronizer.convertKeys(UUIDKeyMigration(tables: ["folder", "note"]))
        #expect(later.unchangedTables == ["folder"])
        #expect(later.tables.map(\.origin) == [.column])
        #expect(
            try a.value("SELECT f.name FROM note n JOIN folder f ON f.id = n.folder WHERE title = 'c'")
                == "work")
    }

    @Test func aTrackedTableThatRefersToAConvertedOneFollows() throws {
        let schema = """
            CREATE TABLE folder (id INTEGER PRIMARY KEY, name);
            CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT, folder INTEGER REFERENCES folder);
            INSERT INTO folder VALUES (1, 'one'), (2, 'two');
            INSERT INTO note VALUES (x'01010101010101010101010101010101', 'n', 1);
            """
        let a = try stores.create(schema: schema, tables: ["note"])
        let b = try stores.clone(a, as: "b.db")
        for replica in [a, b] { try replica.synchronizer.convertKeys(UUIDKeyMigration(tables: ["folder"])) }
        try b.execute("UPDATE note SET folder = (SELECT id FROM folder WHERE name = 'two')")
        try a.sync(b)
        try a.sync(b)
        #expect(try a.value("SELECT f.name FROM note n JOIN folder f ON f.id = n.folder") == "two")
        #expect(try a.state(["folder", "note"]) == b.state(["folder", "note"]))
    }

    @Test func danglingRowsStayAndMatchWhatComesLater() throws {
        let a = try make(
            """
            CREATE TABLE folder (id INTEGER PRIMARY KEY, name);
            CREATE TABLE note (id INTEGER PRIMARY KEY, folder TEXT REFERENCES folder);
            """)
        try a.queue.writeWithoutTransaction { db in
            try db.execute(
                sql:
                    "PRAGMA foreign_keys = OFF; INSERT INTO folder VALUES (1, 'one'); INSERT INTO note VALUES (1, '1'), (2, '99'), (3, 'x'), (4, 99), (5, NULL); PRAGMA foreign_keys = ON"
            )
        }
        let b = try stores.clone(a, as: "b.db")
        try b.execute("INSERT INTO folder VALUES (99, 'late')")
        let plan = try a.queue.read { try UUIDKeyMigration().plan($0) }
        #expect(plan.dangling == [.init(table: "note", parent: "folder", rowCount: 3)])
        for replica in [a, b] { try replica.synchronizer.convertKeys(UUIDKeyMigration()) }
        let late: String? = try b.value("SELECT hex(id) FROM folder WHERE name = 'late'")
        #expect(try strings(a, "SELECT count(*) FROM note WHERE hex(folder) = '\(late ?? "")'") == ["2"])
    }
}
