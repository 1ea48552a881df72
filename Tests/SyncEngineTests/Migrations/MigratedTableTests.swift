import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Tracked tables that are dropped, renamed, rebuilt and made anew.
@Suite struct MigratedTableTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func pair() throws -> (TestReplica, TestReplica) {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title, body) VALUES (?, 'one', 'first')", [key(1)])
        try a.execute("INSERT INTO note (id, title, body) VALUES (?, 'two', 'second')", [key(2)])
        return (a, try stores.clone(a, as: "b.db"))
    }

    private static let anew = """
        CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT COLLATE NOCASE, body TEXT, stars INTEGER DEFAULT 0)
        """

    // MARK: Dropped tables

    @Test func aDroppedTableStaysWithThePeers() throws {
        let (a, b) = try pair()
        try a.execute("UPDATE note SET title = 'pending' WHERE title = 'one'")
        try a.migrate("drop") { try $0.drop(table: "note") }
        try a.sync(b)
        #expect(try b.value("SELECT group_concat(title) FROM note") == "pending,two")
        // Peers go on, also through the replica that has dropped it.
        try b.execute("UPDATE note SET title = 'TWO' WHERE title = 'two'")
        try b.execute("INSERT INTO note (id, title) VALUES (?, 'three')", [key(3)])
        try b.execute("DELETE FROM note WHERE title = 'pending'")
        try a.sync(b)
        #expect(try a.synchronizer.status().parkedCount == 0)
        #expect(try a.synchronizer.status().tables.map(\.name) == ["tag"])
        let c = try stores.clone(a, as: "c.db")
        try c.execute(Self.anew)
        try c.synchronizer.track(["note"])
        #expect(try c.dump(["note"]) == b.dump(["note"]))
        try c.sync(b)
        #expect(try c.state(["note"]) == b.state(["note"]))
        #expect(try c.conflicts().isEmpty)
    }

    @Test func aTableOfTheSameNameThatIsMadeLaterIsNotTrackedUnasked() throws {
        let (a, b) = try pair()
        try a.migrate("drop") { try $0.drop(table: "note") }
        try a.sync(b)
        try a.migrate("anew") { try $0.execute(sql: Self.anew) }
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'other')", [key(9)])
        try a.sync(b)
        #expect(try b.dump(["note"]).count == 2)
        let remark = try #require(try a.synchronizer.status().schemaRemarks.first)
        #expect(remark.table == "note")
        #expect(remark.text.contains("track it"))
        try a.synchronizer.track(["note"])
        #expect(try a.synchronizer.status().schemaRemarks.isEmpty)
        try a.sync(b)
        #expect(
            try a.value("SELECT group_concat(title) FROM (SELECT title FROM note ORDER BY id)")
                == "one,two,other")
        #expect(try a.state(["note"]) == b.state(["note"]))
        #expect(
            try a.value(
                "SELECT count(*) FROM sqlite_master WHERE name LIKE '\\_sync\\_dropped%' ESCAPE '\\'",
                as: Int.self) == 0)
    }

    @Test func aTableThatIsDroppedAndMadeAnewEmptyDeletesNothing() throws {
        let (a, b) = try pair()
        try a.migrate("anew") { db in
            try db.drop(table: "note")
            try db.execute(sql: Self.anew)
        }
        try a.sync(b)
        #expect(try b.dump(["note"]).count == 2)
        let c = try Synchronizer(a.queue, tables: ["note"], environment: stores.clock.environment)
        _ = c
        #expect(try a.dump(["note"]) == b.dump(["note"]))
    }

    @Test func anotherProgramThatDropsATableAndMakesItAnewDeletesNothing() throws {
        let (a, b) = try pair()
        try a.changeUnobserved("DROP TABLE note; " + Self.anew)
        #expect(try a.synchronizer.status().schemaRemarks.first?.text.contains("made the table anew") == true)
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'other')", [key(9)])
        try a.sync(b)
        #expect(try b.dump(["note"]).count == 2)
        try a.synchronizer.track(["note"])
        try a.sync(b)
        #expect(try b.dump(["note"]).count == 3)
    }

    // MARK: Rebuilt tables

    /// A table with everything that belongs to one.
    private static let furnished = """
        CREATE TABLE folder (id BLOB PRIMARY KEY, name TEXT);
        CREATE TABLE page (id BLOB PRIMARY KEY, folder BLOB REFERENCES folder(id) ON DELETE CASCADE, text TEXT, old TEXT);
        CREATE INDEX page_text ON page (text);
        CREATE VIEW page_view AS SELECT text FROM page;
        CREATE TABLE audit (what TEXT);
        CREATE TRIGGER page_audit AFTER UPDATE ON page BEGIN INSERT INTO audit VALUES (NEW.text); END;
        """

    private func furnishedPair() throws -> (TestReplica, TestReplica) {
        let a = try stores.create(schema: Self.furnished, tables: ["folder", "page"])
        try a.execute("INSERT INTO folder VALUES (?, 'f')", [key(1)])
        try a.execute(
            "INSERT INTO page VALUES (?, ?, 'p', 'o'), (?, ?, 'q', 'o')", [key(2), key(1), key(3), key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("UPDATE page SET text = 'pending' WHERE text = 'p'")
        return (a, b)
    }

    /// The statements of SQLite's manual, as an app writes them with the API or in SQL.
    private static func rebuild(_ db: Database, inSQL: Bool, select: String, columns: String) throws {
        // New versions of SQLite refuse to rename a table while a view has none.
        try db.execute(
            sql: "CREATE TABLE new_page (\(columns)); INSERT INTO new_page \(select); DROP VIEW page_view;")
        if inSQL {
            try db.execute(sql: "DROP TABLE main.page; ALTER TABLE \"new_page\" RENAME TO page;")
        } else {
            try db.drop(table: "page")
            try db.rename(table: "new_page", to: "page")
        }
        try db.execute(
            sql: """
                CREATE VIEW page_view AS SELECT text FROM page;
                CREATE INDEX page_text ON page (text);
                CREATE TRIGGER page_audit AFTER UPDATE ON page BEGIN INSERT INTO audit VALUES (NEW.text); END;
                """)
    }

    @Test(arguments: [false, true]) func theCopyOfARebuildIsNoWrite(_ inSQL: Bool) throws {
        let (a, b) = try furnishedPair()
        let rebuild: @Sendable (Database) throws -> Void = { db in
            try Self.rebuild(
                db, inSQL: inSQL, select: "SELECT * FROM page",
                columns:
                    "id BLOB PRIMARY KEY, folder BLOB REFERENCES folder(id), text TEXT NOT NULL, old TEXT")
        }
        let triggers = "SELECT sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name"
        let before = try a.queue.read { try String.fetchAll($0, sql: triggers) }
        let count = try a.logCount()
        try a.migrate("rebuild", rebuild)
        #expect(try a.logCount() == count)
        #expect(try a.queue.read { try String.fetchAll($0, sql: triggers) } == before)
        try b.execute("UPDATE page SET old = 'of b' WHERE text = 'q'")
        try a.sync(b)
        #expect(try a.dump(["folder", "page"]) == b.dump(["folder", "page"]))
        try b.migrate("rebuild", rebuild)
        try a.execute("UPDATE page SET text = 'tracked' WHERE text = 'q'")
        try a.execute("DELETE FROM page WHERE text = 'pending'")
        try a.sync(b)
        #expect(try a.state(["folder", "page"]) == b.state(["folder", "page"]))
        #expect(try b.dump(["page"]).count == 1)
    }

    @Test(arguments: [false, true]) func aRebuildWritesWhatItChanges(_ inSQL: Bool) throws {
        let (a, b) = try furnishedPair()
        try a.migrate("rebuild") { db in
            try Self.rebuild(
                db, inSQL: inSQL,
                select: "SELECT id, folder, upper(text), length(text) FROM page WHERE text <> 'q'",
                columns: "id BLOB PRIMARY KEY, folder BLOB REFERENCES folder(id), text TEXT, size INTEGER")
        }
        try b.execute("UPDATE page SET text = 'edited by b' WHERE text = 'p'")
        try a.sync(b)
        // The edit is later than what the migration wrote, the row that was left out is deleted.
        #expect(try b.value("SELECT group_concat(text || old) FROM page") == "edited by bo")
        #expect(try a.value("SELECT group_concat(text) FROM page") == "edited by b")
        try b.execute("ALTER TABLE page ADD COLUMN size INTEGER")
        #expect(try b.value("SELECT size FROM page") == 7)
    }

    @Test func theOldTableCanBeRenamedAwayFirst() throws {
        let (a, b) = try pair()
        let count = try a.logCount()
        try a.migrate("rebuild") { db in
            try db.rename(table: "note", to: "old_note")
            try db.execute(sql: Self.anew + "; INSERT INTO note SELECT * FROM old_note")
            try db.drop(table: "old_note")
        }
        #expect(try a.logCount() == count)
        try a.execute("UPDATE note SET title = 'ONE' WHERE title = 'one'")
        try a.sync(b)
        #expect(try a.state(["note"]) == b.state(["note"]))
        #expect(try b.value("SELECT group_concat(title) FROM note") == "ONE,two")
    }

    @Test func aRebuildByAnotherProgramIsFound() throws {
        let (a, b) = try pair()
        try a.execute("UPDATE note SET title = 'pending' WHERE title = 'one'")
        try a.changeUnobserved(
            """
            CREATE TABLE new_note (id BLOB PRIMARY KEY, title TEXT COLLATE NOCASE, stars INTEGER DEFAULT 0, extra TEXT);
            INSERT INTO new_note SELECT id, title, stars, 'x' FROM note; DROP TABLE note;
            ALTER TABLE new_note RENAME TO note;
            """)
        try a.sync(b)
        #expect(try b.value("SELECT group_concat(title || body) FROM note") == "pendingfirst,twosecond")
        try b.execute("ALTER TABLE note ADD COLUMN extra TEXT")
        #expect(try b.value("SELECT group_concat(extra) FROM note") == "x,x")
    }

    @Test func keysOfAnotherTypeAreRefused() throws {
        let (a, b) = try pair()
        let before = try a.everything()
        let error = #expect(throws: SyncError.self) {
            try a.migrate("text keys") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE new_note (id TEXT PRIMARY KEY, title TEXT, body TEXT, stars INTEGER);
                        INSERT INTO new_note SELECT '01010101-0101-0101-0101-0101010101' || substr(hex(id), 31), title, body, stars FROM note;
                        """)
                try db.drop(table: "note")
                try db.rename(table: "new_note", to: "note")
            }
        }
        #expect(error?.code == .unsuitableKey)
        #expect(error?.message.contains("Copy the keys as they are") == true)
        #expect(try a.everything() == before)
        try a.sync(b)
    }

    @Test(arguments: [
        "number INTEGER PRIMARY KEY, id BLOB, title TEXT", "id BLOB, title TEXT",
        "id BLOB, title TEXT, PRIMARY KEY (id, title)",
    ])
    func aKeyThatNoPeerKnowsIsRefused(_ columns: String) throws {
        let (a, _) = try pair()
        let before = try a.everything()
        let error = #expect(throws: SyncError.self) {
            try a.migrate("key") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE new_note (\(columns)); INSERT INTO new_note (id, title) SELECT id, title FROM note;
                        DROP TABLE note; ALTER TABLE new_note RENAME TO note;
                        """)
            }
        }
        #expect(error?.code == .unsuitableKey)
        #expect(try a.everything() == before)
    }

    @Test func aMigrationCanCureWhatAnotherProgramBroke() throws {
        let (a, b) = try pair()
        try a.changeUnobserved(
            """
            CREATE TABLE new_note (number INTEGER PRIMARY KEY, id BLOB, title TEXT, body TEXT, stars INTEGER);
            INSERT INTO new_note (id, title, body) SELECT id, title, body FROM note;
            DROP TABLE note; ALTER TABLE new_note RENAME TO note;
            """)
        let error = #expect(throws: SyncError.self) { try a.sync(b) }
        #expect(error?.code == .unsuitableKey)
        let remark = try #require(try a.synchronizer.status().schemaRemarks.first)
        #expect(remark.text.contains("no synchronization is possible until"))
        // A migration that has nothing to do with it must not make it worse.
        #expect(throws: SyncError.self) {
            try a.migrate("other") { db in try db.alter(table: "tag") { $0.add(column: "x") } }
        }
        try a.migrate("cure") { db in
            try db.execute(sql: "ALTER TABLE note RENAME TO bad_note; " + Self.anew)
            try db.execute(sql: "INSERT INTO note SELECT id, title, body, stars FROM bad_note")
            try db.drop(table: "bad_note")
        }
        try a.synchronizer.track(["note"])
        try a.sync(b)
        #expect(try a.dump(["note"]) == b.dump(["note"]))
        #expect(try b.value("SELECT group_concat(body) FROM note") == "first,second")
    }

    // MARK: The whole file

    @Test func vacuumChangesNothing() throws {
        let (a, b) = try pair()
        try a.migrate("drop") { db in try db.alter(table: "note") { $0.drop(column: "body") } }
        try a.migrate("drop tag") { try $0.drop(table: "tag") }
        let before = try a.everything()
        try a.queue.vacuum()
        #expect(try a.everything() == before)
        try a.execute("UPDATE note SET title = 'ONE' WHERE title = 'one'")
        try a.sync(b)
        #expect(try b.value("SELECT group_concat(title || body) FROM note") == "ONEfirst,twosecond")
    }

    @Test func anErasedStoreIsNoReplicaAnyMore() throws {
        let (a, b) = try pair()
        try a.migrate("drop tag") { try $0.drop(table: "tag") }
        try a.queue.erase()
        #expect(try a.queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") } == 0)
        let error = #expect(throws: SyncError.self) { try a.sync(b) }
        #expect(error?.code == .notSynchronized)
        try a.queue.write { try $0.execute(sql: TestStores.schema) }
        let again = try Synchronizer(a.queue, tables: ["note", "tag"], environment: stores.clock.environment)
        let refusal = #expect(throws: SyncError.self) { _ = try again.run(.both, b.transport) }
        #expect(refusal?.code == .otherStore)
        #expect(try b.dump(["note"]).count == 2)
    }

    /// A row that is hidden on both replicas, and a value that waits on the first one for a column.
    private func pairWithAHiddenRow() throws -> (TestReplica, TestReplica) {
        let a = try stores.create(
            schema: """
                CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT UNIQUE);
                CREATE TABLE tag (id BLOB PRIMARY KEY, name TEXT);
                """)
        try a.execute("INSERT INTO tag VALUES (?, 't')", [key(9)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("INSERT INTO note VALUES (?, 'same')", [key(1)])
        try b.execute("INSERT INTO note VALUES (?, 'same')", [key(2)])
        try b.queue.write { try $0.execute(sql: "ALTER TABLE tag ADD COLUMN colour TEXT") }
        try b.execute("UPDATE tag SET colour = 'red'")
        try a.sync(b)
        for replica in [a, b] {
            let count = try replica.value("SELECT count(*) FROM _sync_hidden", as: Int.self)
            #expect(count == 1)
        }
        return (a, b)
    }

    @Test func aHiddenRowSurvivesAnotherTablesChangeInTheMiddleOfARebuild() throws {
        let (a, b) = try pairWithAHiddenRow()
        try a.queue.write { db in
            for statement in [
                "CREATE TABLE new_note (id BLOB PRIMARY KEY, title TEXT UNIQUE)",
                "INSERT INTO new_note SELECT * FROM note", "DROP TABLE note",
                "ALTER TABLE tag ADD COLUMN colour TEXT", "ALTER TABLE new_note RENAME TO note",
            ] {
                try db.execute(sql: statement)
            }
        }
        #expect(try a.value("SELECT colour FROM tag") == "red")
        #expect(try a.value("SELECT count(*) FROM _sync_hidden", as: Int.self) == 1)
        try a.sync(b)
        try b.execute("UPDATE note SET title = 'other'")
        try a.sync(b)
        #expect(try b.dump(["note"]).count == 2)
        #expect(try a.state(["note", "tag"]) == b.state(["note", "tag"]))
    }

    @Test func aHiddenRowOfATableThatIsDroppedForGoodIsKeptWithTheOthers() throws {
        let (a, b) = try pairWithAHiddenRow()
        try a.queue.write { db in
            try db.execute(sql: "DROP TABLE note")
            try db.execute(sql: "ALTER TABLE tag ADD COLUMN colour TEXT")
        }
        try a.sync(b)
        #expect(try a.synchronizer.status().parkedCount == 0)
        try b.execute("UPDATE note SET title = 'other'")
        try a.sync(b)
        #expect(try b.dump(["note"]).count == 2)
    }

    @Test func eraseDatabaseOnSchemaChangeKnowsTheLibrarysTables() throws {
        let queue = try DatabaseQueue(
            path: stores.path("c.db"), configuration: TestStores.configuration("c.db"))
        var migrator = DatabaseMigrator()
        migrator.eraseDatabaseOnSchemaChange = true
        migrator.registerMigration("1") { try $0.execute(sql: TestStores.schema) }
        try migrator.migrate(queue)
        let synchronizer = try Synchronizer(queue, tables: ["note"], environment: stores.clock.environment)
        try queue.write { try $0.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(1)]) }
        // Triggers and tables of the library are no change of the schema.
        try migrator.migrate(queue)
        #expect(try synchronizer.status().tables.map(\.rowCount) == [1])
        var changed = DatabaseMigrator()
        changed.eraseDatabaseOnSchemaChange = true
        changed.registerMigration("1") { try $0.execute(sql: TestStores.schema + "CREATE TABLE other (a);") }
        try changed.migrate(queue)
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") } == 0)
        #expect(try queue.read { try $0.tableExists("_sync_state") } == false)
    }
}
