import CipherStore
import Foundation
import Testing

/// `tables` and `schema` tell what a store holds.
@Suite struct TablesCommandTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeStore("a.db", "a", rows: 0..<2)
        let queue = try place.open("a.db", "a")
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE number (n INTEGER PRIMARY KEY);
                    CREATE TABLE pair (a TEXT, b TEXT, PRIMARY KEY (a, b));
                    CREATE TABLE heap (a);
                    CREATE TABLE word (w TEXT PRIMARY KEY);
                    INSERT INTO word VALUES ('hello');
                    CREATE TABLE ready (id BLOB PRIMARY KEY, a DEFAULT 5 NOT NULL);
                    CREATE INDEX ready_a ON ready (a);
                    CREATE VIEW v AS SELECT a FROM ready;
                    """)
        }
        try queue.close()
    }

    private var own: [String] { ["--passphrase-file", place.secret("a")] }

    @Test func eachTableIsTrackedOrTheListSaysWhyItCannotBe() throws {
        let result = try place.succeed(["tables", place.path("a.db"), "--json"] + own)
        let tables = try #require(try result.document()["tables"] as? [[String: Any]])
        let obstacles = Dictionary(
            uniqueKeysWithValues: tables.map { ($0["name"] as? String ?? "", $0["obstacle"] as? String) })
        #expect(obstacles["person"] == .some(nil) && obstacles["ready"] == .some(nil))
        #expect(
            obstacles["number"] == "its key is an integer" && obstacles["pair"] == "its key has 2 columns")
        #expect(obstacles["heap"] == "it has no primary key")
        #expect(obstacles["word"] == "1 row has a key that is no UUID")
        #expect(obstacles["v"] == nil && !obstacles.keys.contains { $0.hasPrefix("_sync_") })
        #expect(tables.filter { $0["tracked"] as? Bool == true }.map { $0["name"] as? String } == ["person"])
        #expect(tables.first { $0["name"] as? String == "person" }?["rows"] as? Int == 2)
        let text = try place.succeed(["tables", place.path("a.db")] + own)
        #expect(text.output.contains("can't be: its key is an integer"))
        #expect(text.errors.contains("syncctl track") && text.errors.contains("ready"))
    }

    @Test func definitionsMakeTheTablesElsewhere() throws {
        let result = try place.succeed(["schema", place.path("a.db")] + own)
        let queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: result.output) }
        let names = try queue.read {
            try String.fetchAll($0, sql: "SELECT name FROM sqlite_master ORDER BY name")
        }
        #expect(Set(["person", "ready", "ready_a", "v"]).isSubset(of: names))
        #expect(!names.contains { $0.hasPrefix("_sync_") })
    }

    /// SQLite folds ASCII letters only, and takes no two texts for one that have other bytes.
    @Test func theTableThatIsNamedIsTrackedAndShown() throws {
        let names = ["\u{C9}", "\u{E9}", "e\u{301}"]
        let queue = try place.open("a.db", "a")
        try queue.write { db in
            for (number, name) in names.enumerated() {
                try db.execute(
                    sql: "CREATE TABLE \(name.quotedDatabaseIdentifier) (id BLOB PRIMARY KEY, n\(number))")
            }
        }
        try queue.close()
        for (number, name) in names.enumerated() {
            let shown = try place.succeed(["schema", place.path("a.db"), name] + own).output
            #expect(shown.contains("n\(number))"), "\(shown)")
        }
        try place.succeed(["track", place.path("a.db"), names[0], names[2]] + own)
        let result = try place.succeed(["tables", place.path("a.db"), "--json"] + own)
        let tables = try #require(try result.document()["tables"] as? [[String: Any]])
        let tracked = tables.filter { $0["tracked"] as? Bool == true }.map { $0["name"] as? String ?? "" }
        #expect(
            tracked.map { Array($0.utf8) } == ["person", names[0], names[2]].map { Array($0.utf8) })
    }

    @Test func aTerminalObeysNoNameOfATable() throws {
        let queue = try place.open("a.db", "a")
        let name = "a\u{1B}[2Jb"
        try queue.write { db in
            try db.execute(
                sql: """
                    DROP VIEW v;
                    DROP TABLE ready;
                    CREATE TABLE \(name.quotedDatabaseIdentifier) (id BLOB PRIMARY KEY, n);
                    """)
        }
        try queue.close()
        for command in ["tables", "schema", "track", "status", "untrack"] {
            let names = command.hasSuffix("track") ? [name] : []
            let result = try place.run([command, place.path("a.db")] + names + own)
            #expect((result.output + result.errors).contains("a\\u{1b}[2Jb"), "\(command)")
            for text in [result.output, result.errors] {
                #expect(text.utf8.allSatisfy { $0 >= 0x20 || $0 == 0x0A }, "\(command): \(text)")
            }
        }
    }

    @Test func aDefinitionIsGivenInParts() throws {
        let result = try place.succeed(["schema", place.path("a.db"), "READY", "--json"] + own)
        let tables = try #require(try result.document()["tables"] as? [[String: Any]])
        #expect(tables.count == 1 && tables[0]["kind"] as? String == "table")
        let columns = tables[0]["columns"] as? [[String: Any]]
        #expect(columns?.last?["default_value"] as? String == "5" && columns?.first?["key"] as? Int == 1)
        #expect((tables[0]["indexes"] as? [[String: Any]])?.first?["name"] as? String == "ready_a")
        let missing = try place.run(["schema", place.path("a.db"), "nope"] + own)
        #expect(missing.status == 1 && missing.errors.contains("there is no table nope"))
    }
}
