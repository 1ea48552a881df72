import Foundation
import Synchronization
import Testing

@testable import CipherStore

/// What trace events, errors and the error log show, and what they hide.
@Suite struct TraceTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: [
        ("PRAGMA key = 'MARKER'", "PRAGMA key = '<hidden>'"),
        ("pragma main.\"rekey\"=\"x'MARKER'\"; SELECT 1", "pragma main.\"rekey\" = '<hidden>'; SELECT 1"),
        ("/* a */ PRAGMA hexkey('MARKER')", "/* a */ PRAGMA hexkey = '<hidden>'"),
        ("-- a\nPRAGMA key = MARKER", "-- a\nPRAGMA key = '<hidden>'"),
        ("-- PRAGMA key = 'MARKER'", "-- PRAGMA key = '<hidden>'"),
        ("PRAGMA key 'MARKER'", "PRAGMA key = '<hidden>'"),
        ("PRAGMA [main] . `key` \"MARKER\" 1", "PRAGMA [main] . `key` = '<hidden>'"),
        ("PRAGMA rekey MARKER", "PRAGMA rekey = '<hidden>'"),
        ("PRAGMA key = 'MARKER", "PRAGMA key = '<hidden>'"),
        ("EXPLAIN PRAGMA key = 'a;MARKER'", "EXPLAIN PRAGMA key = '<hidden>'"),
        ("ATTACH 'a.db' AS b KEY 'MAR''KER'", "ATTACH 'a.db' AS b KEY '<hidden>'"),
        ("ATTACH DATABASE ? AS b KEY x'MARKER';DETACH b", "ATTACH DATABASE ? AS b KEY '<hidden>';DETACH b"),
        ("ATTACH 'file:a.db?key=MARKER' AS b", "ATTACH '<hidden>' AS b"),
        ("ATTACH 'file:a?hexkey=MARKER' AS b KEY ''", "ATTACH '<hidden>' AS b KEY '<hidden>'"),
        ("ATTACH 'a' AS [b] KEY 'MARKER", "ATTACH 'a' AS [b] KEY '<hidden>'"),
        ("ATTACH 'a MARKER KEY", "'<hidden>'"),
        ("\u{FEFF}PRAGMA key = 'MARKER'", "\u{FEFF}PRAGMA key = '<hidden>'"),
        ("SELECT 1\0PRAGMA key = 'MARKER'", "SELECT 1\0PRAGMA key = '<hidden>'"),
        (
            "\u{FEFF}SELECT 1;\u{FEFF}ATTACH 'a' AS b KEY 'MARKER'",
            "\u{FEFF}SELECT 1;\u{FEFF}ATTACH 'a' AS b KEY '<hidden>'"
        ),
    ]) func keysAreHidden(sql: String, expected: String) {
        let text = KeyRedaction.redacted(sql)
        #expect(text == expected)
        #expect(text?.contains("MARKER") == false)
    }

    @Test(arguments: [
        "SELECT * FROM attach WHERE key = 1", "PRAGMA foreign_keys = ON", "PRAGMA foreign_key_list(key)",
        "PRAGMA table_info('key')", "PRAGMA foreign_keys; SELECT key FROM t",
        "CREATE TABLE t (id INTEGER PRIMARY KEY)", "PRAGMA key", "ATTACH 'a' AS b", "SELECT 'PRAGMA key = 1'",
    ]) func otherStatementsStayAsTheyAre(sql: String) {
        #expect(KeyRedaction.redacted(sql) == nil)
    }

    /// `sqlcipher_export` of SQLCipher 3 removes the tracer and calls it all the same.
    @Test(arguments: [Database.TracingOptions.statement, .profile])
    func aTracedConnectionExports(options: Database.TracingOptions) throws {
        let queue = try DatabaseQueue(path: folder.file("a.db"))
        let plain = folder.file("plain.db")
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
            try db.execute(sql: "ATTACH ? AS plain KEY ''", arguments: [plain])
            var events: [String] = []
            db.trace(options: options) { event in
                events.append(String("\(event)".drop { $0 != "S" && $0 != "I" }))
            }
            #expect(throws: DatabaseError.self) { try db.execute(sql: "SELECT sqlcipher_export('absent')") }
            try db.execute(sql: "SELECT 1")
            #expect(events.last == "SELECT 1")
            _ = try Row.fetchOne(db, sql: "SELECT SQLCIPHER_EXPORT('plain')")
            try db.execute(sql: "SELECT 2")
            #expect(events.last == "SELECT 2")
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM plain.t") == 2)
            try db.execute(sql: "DELETE FROM plain.t; DROP TABLE plain.t")
            try db.execute(sql: "SELECT sqlcipher_export('plain')")
            db.add(
                function: DatabaseFunction("f", argumentCount: 0) { _ in
                    try queue.unsafeReentrantWrite { try Int.fetchOne($0, sql: "SELECT 4") }
                })
            try db.execute(sql: "DROP TABLE plain.t")
            try db.execute(sql: "SELECT f(), sqlcipher_export('plain')")
            try db.execute(sql: "INSERT INTO t VALUES (3)")
            #expect(events.last == "INSERT INTO t VALUES (3)")
            if options == .statement { #expect(events.contains("SELECT sqlcipher_export('plain')")) }
            db.trace(options: [])
            try db.execute(sql: "SELECT 3")
            #expect(events.last == "INSERT INTO t VALUES (3)")
        }
    }

    /// The text of a statement may not show that it exports, and others may run between its rows.
    @Test(.enabled(if: EngineFeatures.current.exportLosesTracer))
    func aTracedConnectionExportsByViewsAndTriggersAndRowByRow() throws {
        let queue = try DatabaseQueue(path: folder.file("a.db"))
        let names = ["one", "two", "three", "four", "five", "six"]
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1); CREATE TABLE u (a)")
            for name in names {
                try db.execute(sql: "ATTACH ? AS \(name) KEY ''", arguments: [folder.file(name + ".db")])
            }
            try db.execute(
                sql: """
                    CREATE TEMP VIEW v AS SELECT sqlcipher_export('one') AS a;
                    CREATE TEMP VIEW earlier AS SELECT sqlcipher_export('two') AS a;
                    """)
            let earlier = try db.makeStatement(sql: "SELECT * FROM earlier")
            let change = try db.makeStatement(sql: "INSERT INTO main.u VALUES (5)")
            var events: [String] = []
            db.trace { events.append("\($0)") }
            for sql in ["SELECT * FROM v", "SELECT 1"] {
                _ = try Row.fetchAll(db, sql: sql)
                #expect(events.last == sql)
            }
            // It was prepared before anybody traced.
            try earlier.execute()
            try db.execute(sql: "SELECT 2")
            #expect(events.suffix(2) == ["SELECT * FROM earlier", "SELECT 2"])
            // SQLite finds out that the schema is another one after it has told of the start.
            try change.execute()
            try db.execute(
                sql: "CREATE TRIGGER r AFTER INSERT ON u BEGIN SELECT sqlcipher_export('three'); END")
            try change.execute()
            try db.execute(sql: "DROP TRIGGER r; SELECT 3")
            #expect(events.last == "SELECT 3")
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT sqlcipher_export(a) FROM (SELECT 'four' AS a UNION ALL SELECT 'five' UNION ALL SELECT 'six')
                    """)
            while try rows.next() != nil { try db.execute(sql: "SELECT 4") }
            try db.execute(sql: "SELECT 5")
            #expect(events.last == "SELECT 5")
            for name in names {
                let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(name).t")
                #expect(count == 1, "\(name)")
            }
        }
    }

    @Test func noErrorOfARowShowsAKey() throws {
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue().read { db in
                try UUID.fetchOne(db, sql: "EXPLAIN ATTACH 'a' AS b KEY 'MARKER'")
            }
        }
        #expect(error?.description.contains("'<hidden>'") == true)
        #expect(error?.description.contains("MARKER") == false)
    }

    @Test func noErrorShowsAKeyOfAFileNameThatIsAnArgument() throws {
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: folder.file("q.db")).inDatabase { db in
                try db.execute(
                    sql: "ATTACH ? AS b", arguments: ["file:\(folder.path)/none/a.db?key=MARKER"])
            }
        }
        #expect(error?.description.contains("MARKER") == false)
    }

    @Test func noEventShowsAKey() throws {
        let events = Mutex<[String]>([])
        var configuration = Configuration()
        configuration.publicStatementArguments = true
        configuration.prepareDatabase { db in
            db.trace(options: [.statement, .profile]) { event in
                events.withLock { $0 += [event.description, event.expandedDescription] }
            }
            try db.usePassphrase("MARKER one")
        }
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: configuration)
        try queue.inDatabase { db in
            try db.execute(
                sql: "ATTACH DATABASE ? AS other KEY ?", arguments: [folder.file("b.db"), "MARKER two"])
            try db.execute(sql: "ATTACH DATABASE '\(folder.file("c.db"))' AS third KEY 'MARKER three'")
            try db.execute(
                sql: "CREATE TABLE other.t (a); INSERT INTO other.t VALUES (?)", arguments: ["shown"])
            try db.execute(sql: "PRAGMA third.cipher_version; PRAGMA third.key = 'MARKER four'")
            #expect(throws: DatabaseError.self) { try db.execute(sql: "PRAGMA key = 'MARKER five'") }
        }
        let shown = events.withLock { $0 }
        #expect(shown.contains { $0.hasSuffix("KEY '<hidden>'") })
        #expect(shown.contains("INSERT INTO other.t VALUES ('shown')"))
        #expect(!shown.contains { $0.contains("MARKER") })
    }

    @Test func theLibrarysOwnStatementsAreNotTraced() throws {
        let events = Mutex<[String]>([])
        var configuration = Configuration.keyed("secret")
        configuration.prepareDatabase { db in
            db.trace { event in events.withLock { $0.append(event.description) } }
        }
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: configuration)
        #expect(events.withLock { $0 } == [])
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        _ = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        #expect(
            events.withLock { $0 } == [
                "BEGIN IMMEDIATE TRANSACTION", "CREATE TABLE t (a)", "COMMIT TRANSACTION",
                "BEGIN DEFERRED TRANSACTION", "SELECT count(*) FROM t", "COMMIT TRANSACTION",
            ])
    }

    @Test func anEventThatIsKeptShowsNoArguments() throws {
        var kept: [Database.TraceEvent] = []
        try DatabaseQueue().inDatabase { db in
            db.trace { kept.append($0) }
            try db.execute(sql: "SELECT ?", arguments: ["secret"])
            db.trace(options: [])
            try db.execute(sql: "SELECT 2")
        }
        #expect(kept.map(\.expandedDescription) == ["SELECT ?"])
    }

    @Test func errorsShowNoKey() throws {
        let path = folder.file("a.db")
        try DatabaseQueue(path: path, configuration: .keyed("right")).write {
            try $0.execute(sql: "CREATE TABLE t (a)")
        }
        try DatabaseQueue().inDatabase { db in
            for sql in [
                "ATTACH '\(path)' AS a KEY 'MARKER'; SELECT * FROM a.t", "ATTACH '\(path)' AS a KEY MARKER",
                "ATTACH 'x' AS a KEY 'MARKER", "PRAGMA key = 'MARKER' 'MARKER'",
            ] {
                let error = #expect(throws: DatabaseError.self, "\(sql)") { try db.execute(sql: sql) }
                let texts = [error?.expandedDescription, error?.sql, error?.message, error.map { "\($0)" }]
                #expect(!texts.contains { $0?.contains("MARKER") == true }, "\(sql)")
            }
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "ATTACH ? AS a KEY ?", arguments: [path, "MARKER"])
            }
            #expect(error?.arguments == nil)
        }
    }

    @Test(arguments: [
        "EXPLAIN ATTACH 'x' AS y KEY 'MARKER'", "explain query plan ATTACH 'x' AS y KEY MARKER",
        "/* why */ EXPLAIN ATTACH 'file:x?key=MARKER' AS y", "EXPLAIN PRAGMA key = 'MARKER'",
    ]) func aStatementWithAKeyIsNotExplained(sql: String) throws {
        try DatabaseQueue().inDatabase { db in
            let error = #expect(throws: DatabaseError.self) { try Row.fetchAll(db, sql: sql) }
            #expect(error?.resultCode == .SQLITE_AUTH)
            #expect(error.map { "\($0)".contains("MARKER") } == false)
            let rows = try Row.fetchAll(db, sql: "EXPLAIN SELECT 'key'")
            #expect(!rows.isEmpty)
        }
    }

    @Test func theErrorLogIsReceivedWithoutKeys() throws {
        let messages = Mutex<[String]>([])
        Database.logError = { code, message in messages.withLock { $0.append("\(code.rawValue) \(message)") }
        }
        defer { Database.logError = nil }
        try DatabaseQueue().inDatabase { db in
            #expect(throws: DatabaseError.self) { try db.execute(sql: "SELECT Abracadabra_7") }
            #expect(throws: DatabaseError.self) { try db.execute(sql: "PRAGMA key = 'MARKER_7' 'MARKER_7'") }
            for sql in [
                "ATTACH 'x' AS y KEY MARKER_7 z", "ATTACH 'x' AS y KEY MARKER_7(1)",
                "PRAGMA key = MARKER_7 z",
            ] {
                #expect(throws: DatabaseError.self) { try db.execute(sql: sql) }
            }
        }
        let queue = try DatabaseQueue()
        let statement = try queue.inDatabase { try $0.makeStatement(sql: "ATTACH 'a' AS b KEY 'MARKER_7'") }
        #expect(throws: DatabaseError.self) { try queue.close() }
        #expect(statement.sql.contains("MARKER_7"))
        let log = messages.withLock { $0 }
        #expect(log.contains { $0.hasPrefix("1 ") && $0.contains("Abracadabra_7") })
        #expect(log.contains { $0.contains("unfinalized statement: ATTACH 'a' AS b") })
        #expect(!log.contains { $0.contains("MARKER_7") })
    }
}
