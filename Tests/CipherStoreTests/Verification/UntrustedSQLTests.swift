import Foundation
import Testing

@testable import CipherStore

/// SQL from outside can do what is allowed, and nothing else.
@Suite struct UntrustedSQLTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT);
                    CREATE TABLE _sync_log (seq INTEGER PRIMARY KEY, pk);
                    CREATE TRIGGER _sync_i_1 AFTER INSERT ON note BEGIN
                        INSERT INTO _sync_log (pk) VALUES (NEW.id); END;
                    CREATE VIRTUAL TABLE words USING fts4 (text);
                    INSERT INTO note (title) VALUES ('one');
                    """)
        }
    }

    static let denied = [
        "ATTACH DATABASE 'other.db' AS other", "ATTACH DATABASE ':memory:' AS other KEY 'x'",
        "DETACH DATABASE main",
        "PRAGMA key = 'x'", "PRAGMA rekey = 'x'", "PRAGMA cipher_page_size = 1024",
        "PRAGMA cipher_use_hmac = OFF",
        "PRAGMA kdf_iter = 1", "PRAGMA cipher_compatibility = 1", "PRAGMA cipher_default_kdf_iter = 1",
        "PRAGMA cipher_profile = 'profile.txt'", "PRAGMA cipher_log = 'log.txt'", "PRAGMA cipher_migrate",
        "PRAGMA temp_store = FILE", "PRAGMA temp_store_directory = '/tmp'", "PRAGMA writable_schema = ON",
        "PRAGMA journal_mode = OFF", "PRAGMA journal_mode(MEMORY)", "PRAGMA mmap_size = 1000000",
        "PRAGMA page_size = 512",
        "PRAGMA query_only = OFF", "PRAGMA foreign_keys = OFF", "PRAGMA recursive_triggers = OFF",
        "PRAGMA user_version = 7", "PRAGMA schema_version = 7", "PRAGMA wal_checkpoint", "PRAGMA optimize",
        "PRAGMA incremental_vacuum", "PRAGMA locking_mode = EXCLUSIVE", "PRAGMA synchronous = OFF",
        "PRAGMA trusted_schema = ON", "PRAGMA shrink_memory", "PRAGMA hard_heap_limit = 1",
        "SELECT load_extension('x')", "SELECT fts3_tokenizer('simple')",
        "SELECT fts3_tokenizer('simple', x'0000000000000000')", "SELECT sqlcipher_export('main')",
        "SELECT SQLCIPHER_EXPORT('main')",
        "INSERT INTO _sync_log (pk) VALUES (1)", "UPDATE _sync_log SET pk = 1", "DELETE FROM _sync_log",
        "DELETE FROM _SYNC_LOG", "DELETE FROM sqlite_sequence", "UPDATE sqlite_master SET sql = ''",
        "INSERT INTO sqlite_master VALUES ('table', 'x', 'x', 2, '')",
        "CREATE TABLE t (a)", "CREATE TEMP TABLE t (a)", "CREATE TABLE t AS SELECT 1",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TEMP VIEW v AS SELECT 1", "CREATE INDEX i ON note (title)",
        "CREATE TRIGGER tr AFTER INSERT ON note BEGIN SELECT 1; END",
        "CREATE TEMP TRIGGER tr AFTER INSERT ON note BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE t USING fts4 (a)", "DROP TABLE note", "DROP TRIGGER _sync_i_1",
        "DROP TABLE words",
        "ALTER TABLE note RENAME TO other", "ALTER TABLE note ADD COLUMN x", "REINDEX", "ANALYZE", "VACUUM",
        "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT s",
        "WITH t AS (SELECT load_extension('x') AS a) SELECT a FROM t",
    ]

    private func content() throws -> [String] {
        try queue.read { db in
            try String.fetchAll(
                db, sql: "SELECT type || name || coalesce(sql, '') FROM sqlite_master ORDER BY 1")
                + String.fetchAll(db, sql: "SELECT id || title FROM note")
                + String.fetchAll(db, sql: "SELECT seq || pk FROM _sync_log")
                + String.fetchAll(db, sql: "PRAGMA integrity_check")
        }
    }

    @Test(arguments: denied) func whatIsDeniedFailsAndLeavesTheDatabaseAsItIs(sql: String) throws {
        let before = try content()
        let files = try folder.contents()
        for isInTransaction in [false, true] {
            let run = { (db: Database) in
                try db.restrictedToUntrustedSQL(allowsWriting: true) { try db.execute(sql: sql) }
            }
            let error = #expect(throws: DatabaseError.self, "\(sql)") {
                if isInTransaction { try queue.write(run) } else { try queue.writeWithoutTransaction(run) }
            }
            // An authorizer's refusal of a function reads as a general error in old libraries.
            #expect(
                error?.resultCode == .SQLITE_AUTH || error?.resultCode == .SQLITE_ERROR,
                "\(sql): \(error?.description ?? "")")
        }
        #expect(try content() == before)
        #expect(try folder.contents() == files)
        // The key is the same, and so is what the connection can do.
        try queue.write { try $0.execute(sql: "INSERT INTO note (title) VALUES ('after')") }
        let again = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        #expect(try again.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") } == 2)
    }

    @Test func readingIsAllowed() throws {
        try queue.read { db in
            try db.restrictedToUntrustedSQL { () throws -> Void in
                #expect(try String.fetchAll(db, sql: "SELECT upper(title) FROM note") == ["ONE"])
                let numbers =
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT sum(i) FROM n"
                #expect(try Int.fetchOne(db, sql: numbers) == 15)
                #expect(try Row.fetchAll(db, sql: "PRAGMA table_info(note)").count == 2)
                #expect(try String.fetchOne(db, sql: "PRAGMA quick_check") == "ok")
                #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM words WHERE text MATCH 'a'") == 0)
                #expect(try db.columns(in: "note").count == 2)
                #expect(
                    try db.readOnly { try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") ?? 0 }
                        > 0)
            }
        }
    }

    /// The connection is new, so that no table of it is connected when the restriction begins.
    @Test(arguments: [false, true])
    func virtualTablesAreReadOnAConnectionThatHasNotReadThem(allowsWriting: Bool) throws {
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE box USING rtree (id, low, high); INSERT INTO box VALUES (1, 2, 3);
                    INSERT INTO words VALUES ('one two')
                    """)
        }
        let other = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        try other.write { (db: Database) throws -> Void in
            try db.restrictedToUntrustedSQL(allowsWriting: allowsWriting) { () throws -> Void in
                #expect(try Int.fetchAll(db, sql: "SELECT value FROM json_each('[1]')") == [1])
                let texts = "SELECT text FROM words WHERE words MATCH 'one'"
                #expect(try String.fetchAll(db, sql: texts) == ["one two"])
                #expect(try Int.fetchAll(db, sql: "SELECT id FROM box WHERE low < 3") == [1])
                let isWritten = !self.isRefused("INSERT INTO box VALUES (2, 2, 3)", db)
                #expect(isWritten == allowsWriting)
            }
        }
    }

    @Test func aVirtualTableIsReadThatAnotherConnectionMadeMeanwhile() throws {
        let other = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        try queue.inDatabase { (db: Database) throws -> Void in
            try db.restrictedToUntrustedSQL { () throws -> Void in
                try other.write { try $0.execute(sql: "CREATE VIRTUAL TABLE later USING fts4 (text)") }
                #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM later") == 0)
            }
        }
    }

    @Test func theTableOfTheSchemaIsNotUpdatedWhereItCouldBeEither() throws {
        try queue.inDatabase { (db: Database) throws -> Void in
            // Newer libraries don't listen.
            try db.execute(sql: "PRAGMA writable_schema = ON")
            #expect(throws: DatabaseError.self) {
                try db.restrictedToUntrustedSQL(allowsWriting: true) {
                    try db.execute(sql: "UPDATE sqlite_master SET sql = 'x' WHERE name = 'none'")
                }
            }
            try db.execute(sql: "PRAGMA writable_schema = OFF")
        }
    }

    private func isRefused(_ sql: String, _ db: Database) -> Bool {
        do {
            try db.execute(sql: sql)
            return false
        } catch {
            return (error as? DatabaseError)?.resultCode == .SQLITE_AUTH
        }
    }

    @Test func writingIsAllowedWhenItIsSaidAndTriggersOfTheLibraryWork() throws {
        try queue.write { db in
            let refused: Bool = try db.restrictedToUntrustedSQL { self.isRefused("DELETE FROM note", db) }
            #expect(refused)
            try db.restrictedToUntrustedSQL(allowsWriting: true) {
                try db.execute(
                    sql: "INSERT INTO note (title) VALUES ('two'); UPDATE note SET title = 'x' WHERE id = 1")
                try db.execute(sql: "INSERT INTO words VALUES ('a b'); DELETE FROM note WHERE id = 1")
            }
            #expect(try Int.fetchAll(db, sql: "SELECT pk FROM _sync_log") == [1, 2])
        }
    }

    @Test func aRestrictionWithinAnotherOneCannotAllowMoreAndItsEndLiftsOnlyItself() throws {
        try queue.write { db in
            let refused: Bool = try db.restrictedToUntrustedSQL { () throws -> Bool in
                try db.restrictedToUntrustedSQL(allowsWriting: true) { () throws -> Bool in
                    self.isRefused("DELETE FROM note", db)
                }
            }
            #expect(refused)
            let isStillRefused: Bool = try db.restrictedToUntrustedSQL(allowsWriting: true) {
                () throws -> Bool in
                _ = try db.restrictedToUntrustedSQL { try Int.fetchOne(db, sql: "SELECT 1") }
                try db.execute(sql: "UPDATE note SET title = 'y'")
                return self.isRefused("DROP TABLE note", db)
            }
            #expect(isStillRefused)
            try db.execute(sql: "DROP TABLE note")
        }
    }

    @Test func statementsThatWerePreparedBeforeAreRestrictedToo() throws {
        try queue.write { db in
            let statement = try db.cachedStatement(sql: "DELETE FROM _sync_log")
            #expect(throws: DatabaseError.self) {
                try db.restrictedToUntrustedSQL(allowsWriting: true) { try statement.execute() }
            }
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM _sync_log") == 1)
            try statement.execute()
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM _sync_log") == 0)
        }
    }

    @Test func limitsAreLowerWithinAndTheOldOnesAfter() throws {
        try queue.read { (db: Database) throws -> Void in
            let compound = Array(repeating: "SELECT 1", count: 80).joined(separator: " UNION ALL ")
            #expect(throws: DatabaseError.self) {
                try db.restrictedToUntrustedSQL { _ = try Int.fetchAll(db, sql: compound) }
            }
            #expect(try Int.fetchAll(db, sql: compound).count == 80)
        }
    }

    @Test func everyConnectionHasItsSettings() throws {
        try queue.read { (db: Database) throws -> Void in
            #expect(try Int.fetchOne(db, sql: "PRAGMA foreign_keys") == 1)
            #expect(try Int.fetchOne(db, sql: "PRAGMA temp_store") == 2)
            #expect(try Int.fetchOne(db, sql: "PRAGMA cell_size_check") == 1)
            #expect(try Int.fetchOne(db, sql: "PRAGMA secure_delete") == 1)
            #expect(try Int.fetchOne(db, sql: "PRAGMA mmap_size") ?? 0 == 0)
            if EngineFeatures.current.supportsTrustedSchema {
                #expect(try Int.fetchOne(db, sql: "PRAGMA trusted_schema") == 0)
            }
            for sql in ["SELECT load_extension('x')", "SELECT fts3_tokenizer('simple')"] {
                #expect(throws: DatabaseError.self, "\(sql)") { _ = try Row.fetchAll(db, sql: sql) }
            }
        }
        // Newer libraries refuse to damage the file.
        try queue.writeWithoutTransaction { (db: Database) throws -> Void in
            try? db.execute(
                sql: "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'x' WHERE name = 'none'")
            let changed = EngineFeatures.current.supportsDropColumn
            if changed {
                #expect(throws: DatabaseError.self) {
                    try db.execute(sql: "UPDATE sqlite_master SET sql = 'x' WHERE name = 'none'")
                }
            }
        }
    }
}
