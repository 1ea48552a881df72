import ArgumentParser
import CipherStore
import Foundation
import Testing

@testable import SyncctlCommands

/// Dumps hold the same texts for whoever reads them.
@Suite struct ExportDumpTests {
    private static let texts = [
        "a\r\nb", "\r\n", "\r", "a\rb", "\0", "a\0b", "\\r\\0 (\\r0) (\\00)\r\n\0",
        "it's\r\n\u{E9}\u{1F600}\0",
        "\\\r\n", "(\\r0)\r\n\\r", "plain\nlines", "",
    ]

    /// What reads a script.
    enum Reader: CaseIterable {
        /// Gives SQLite all of it.
        case whole
        /// Takes carriage returns before line feeds for line ends, as SQLite's shell does.
        case shell
    }

    private func dump(_ prepare: (Database) throws -> Void) throws -> (
        script: String, remarks: ExportRemarks
    ) {
        let queue = try DatabaseQueue()
        try queue.write(prepare)
        let folder = try TemporaryFolder()
        let path = folder.file("dump.sql")
        let remarks = ExportRemarks()
        try CommandContext.run(GlobalOptions.parse([])) { context in
            try queue.read { db throws in
                let export = TextExport(
                    db: db, terminal: context.terminal, progress: context.progress("exporting"),
                    remarks: remarks)
                _ = try export.writeScript(to: path)
            }
            return .success
        }
        return (try folder.text("dump.sql"), remarks)
    }

    private func load(_ script: String, _ reader: Reader, _ encoding: String) throws -> DatabaseQueue {
        var bytes = Array(script.utf8)
        if reader == .shell {
            bytes = bytes.indices.filter { index in
                bytes[index] != 13 || index + 1 == bytes.count || bytes[index + 1] != 10
            }.map { bytes[$0] }
        }
        let sql = String(decoding: bytes, as: UTF8.self)
        let queue = try DatabaseQueue()
        try queue.writeWithoutTransaction { db throws in
            try db.execute(sql: "PRAGMA encoding = '\(encoding)'")
            try db.execute(sql: sql)
            let found = try String.fetchOne(db, sql: "PRAGMA encoding")
            try #require(found == encoding)
        }
        return queue
    }

    @Test(arguments: Reader.allCases, ["UTF-8", "UTF-16le", "UTF-16be"])
    func textsAreTheSameToEachReader(reader: Reader, encoding: String) throws {
        let script = try dump { db throws in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b)")
            for text in Self.texts {
                try db.execute(sql: "INSERT INTO t (a, b) VALUES (?, ?)", arguments: [text, text])
            }
        }.script
        let database = try load(script, reader, encoding)
        try database.read { db throws in
            for column in ["a", "b"] {
                let found = try String.fetchAll(db, sql: "SELECT \(column) FROM t ORDER BY id")
                #expect(found.map { Array($0.utf8) } == Self.texts.map { Array($0.utf8) })
            }
        }
    }

    @Test(arguments: Reader.allCases) func defaultsKeepTheirLineEnds(reader: Reader) throws {
        let result = try dump { db throws in
            try db.execute(
                sql:
                    "CREATE TABLE t (\r\n  id INTEGER PRIMARY KEY, a TEXT DEFAULT 'x\r\ny', b DEFAULT 'plain')\r\n"
            )
        }
        #expect(result.remarks.changedDefinitions == [])
        let database = try load(result.script, reader, "UTF-8")
        try database.write { db throws in
            try db.execute(sql: "INSERT INTO t (id) VALUES (1)")
            let row = try #require(try Row.fetchOne(db, sql: "SELECT a, b FROM t"))
            let (a, b): (String, String) = (try row.decode(atIndex: 0), try row.decode(atIndex: 1))
            #expect(Array(a.utf8) == Array("x\r\ny".utf8) && b == "plain")
        }
    }

    @Test func definitionsThatTheShellWouldChangeAreNamed() throws {
        let result = try dump { db throws in
            try db.execute(sql: "CREATE TABLE \"a\r\nb\" (id INTEGER PRIMARY KEY)")
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT CHECK (a <> 'x\r\ny'))")
            try db.execute(sql: "CREATE VIEW v AS SELECT 'x\r\ny' AS a")
            try db.execute(sql: "CREATE VIEW w AS\r\nSELECT 'x\ry' AS a -- 'x'\r\n")
        }
        #expect(Set(result.remarks.changedDefinitions) == ["a\r\nb", "t", "v"])
        let text = try #require(result.remarks.texts.first)
        #expect(text.contains("a\\r\\nb") && text.contains("--plaintext"))
        // Who gives SQLite all of it has them as they are.
        let database = try load(result.script, .whole, "UTF-8")
        let view = try database.read { try String.fetchOne($0, sql: "SELECT a FROM v") }
        #expect(view.map { Array($0.utf8) } == Array("x\r\ny".utf8))
    }

    /// The rows of such a table have other numbers in the new database.
    @Test func aSearchFindsTheSameRows() throws {
        let script = try dump { db throws in
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE search USING fts4(content="Note", title);
                    CREATE TABLE note (id TEXT PRIMARY KEY, title TEXT);
                    INSERT INTO note VALUES ('a', 'alpha'), ('b', 'beta'), ('c', 'gamma'), ('d', 'delta');
                    INSERT INTO search(search) VALUES ('rebuild');
                    DELETE FROM search WHERE docid = 1;
                    DELETE FROM note WHERE id = 'a';
                    """)
        }.script
        let database = try load(script, .whole, "UTF-8")
        try database.read { db throws in
            for word in ["beta", "gamma", "delta"] {
                let found = try String.fetchAll(
                    db,
                    sql: """
                        SELECT title FROM note WHERE rowid IN (SELECT docid FROM search WHERE search MATCH ?)
                        """,
                    arguments: [word])
                #expect(found == [word])
            }
        }
    }

    @Test func theNumbersOfTheAppAndOfDeletedRowsAreKept() throws {
        let script = try dump { db throws in
            try db.execute(
                sql: """
                    PRAGMA user_version = 5;
                    PRAGMA application_id = -7;
                    CREATE TABLE "an order" (id INTEGER PRIMARY KEY AUTOINCREMENT, a);
                    INSERT INTO "an order" (a) VALUES ('x'), ('y'), ('z');
                    DELETE FROM "an order" WHERE id = 3;
                    CREATE TABLE gone (id INTEGER PRIMARY KEY AUTOINCREMENT, a);
                    INSERT INTO gone (a) VALUES ('x');
                    DELETE FROM gone;
                    CREATE TABLE unused (id INTEGER PRIMARY KEY AUTOINCREMENT, a);
                    """)
        }.script
        let database = try load(script, .whole, "UTF-8")
        try database.write { db throws in
            for (table, next) in [("an order", 4), ("gone", 2), ("unused", 1)] as [(String, Int64)] {
                try db.execute(sql: "INSERT INTO \(table.quotedDatabaseIdentifier) (a) VALUES ('new')")
                #expect(db.lastInsertedRowID == next)
            }
            let version = try Int.fetchOne(db, sql: "PRAGMA user_version")
            let application = try Int.fetchOne(db, sql: "PRAGMA application_id")
            #expect(version == 5 && application == -7)
        }
    }
}
