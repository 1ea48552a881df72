import CipherStore
import Foundation
import Testing

/// What `syncctl export` writes can be read again and holds the same rows.
@Suite struct CommandExportTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.succeed(["init", place.path("a.db")] + own)
        let people = #"""
            id,name,stars,score
            018f3a52-7c00-7000-8000-000000000001,"Ada, ""the first""",5,0.1
            018f3a52-7c00-7000-8000-000000000002,"",NA,1e+300
            018f3a52-7c00-7000-8000-000000000003,"NA",-9223372036854775808,

            """#
        let pets = "id,name\n018f3a52-7c00-7000-8000-000000000011,\"O'Malley\nthe cat\"\n"
        for (name, text) in [("person", people), ("pet", pets)] {
            let file = try place.folder.write(text, to: "\(name).csv")
            try place.succeed(["import", place.path("a.db"), file, "--track"] + own)
        }
    }

    private var own: [String] { ["--passphrase-file", place.secret("a")] }

    private func export(_ arguments: [String]) throws -> CommandResult {
        try place.succeed(["export", place.path("a.db")] + own + arguments)
    }

    private func importAgain(_ file: String, as table: String) throws {
        if !FileManager.default.fileExists(atPath: place.path("back.db")) {
            try place.succeed(["init", place.path("back.db"), "--passphrase-file", place.secret("b")])
        }
        try place.succeed(
            ["import", place.path("back.db"), file, "--table", table, "--passphrase-file", place.secret("b")])
    }

    @Test func anEncryptedExportIsAReplicaUnderAnotherPassphrase() throws {
        let arguments = ["--to", place.path("copy.db"), "--to-passphrase-file", place.secret("c"), "--json"]
        #expect(try export(arguments).document()["format"] as? String == "store")
        for table in ["person", "pet"] {
            #expect(try place.rows("copy.db", "c", table) == place.rows("a.db", "a", table))
        }
        let sync = try place.succeed(
            ["sync", place.path("copy.db"), "--passphrase-file", place.secret("c"), "-r", place.path("a.db")]
                + ["--remote-passphrase-file", place.secret("a")])
        #expect(sync.output.contains("no conflicts"))
    }

    @Test func whatIsInTheWayIsSaidBeforeAPassphraseIsAskedFor() throws {
        for target in ["a.db", "secrets"] {
            for options in [own, []] {
                let result = try place.run(
                    ["export", place.path("a.db"), "--to", place.path(target)] + options)
                #expect(result.status == 1 && result.errors.contains("already"), "\(result.errors)")
            }
        }
    }

    @Test func anArchiveForARecipientNeedsNoPassphraseToBeRefused() throws {
        let recipient = try ArchiveIdentity.random().recipient.description
        let archive = place.path("r.csa")
        _ = try export(["--to", archive, "--recipient", recipient])
        for words in [
            ["restore", archive, place.path("x.db")], ["init", place.path("x.db"), "--from", archive],
        ] {
            let result = try place.run(words)
            #expect(result.status == 12 && result.errors.contains("for a recipient"), "\(result.errors)")
        }
    }

    @Test func aPlaintextExportIsAnSQLiteFileThatCanBecomeAStoreAgain() throws {
        _ = try export(["--to", place.path("plain.sqlite"), "--plaintext"])
        let plain = try DatabaseQueue(path: place.path("plain.sqlite"))
        #expect(try StoreProbe.rows(plain, "person") == place.rows("a.db", "a"))
        let names = try plain.read {
            try String.fetchAll($0, sql: "SELECT name FROM sqlite_master WHERE sql <> ''")
        }
        #expect(names == ["person", "pet"])
        try plain.close()
        let arguments = ["init", place.path("back.db"), "--from", place.path("plain.sqlite")]
        try place.succeed(arguments + ["--passphrase-file", place.secret("b")])
        for table in ["person", "pet"] {
            #expect(try place.rows("back.db", "b", table) == place.rows("a.db", "a", table))
        }
    }

    @Test func csvOfOneTableOnStandardOutputComesBackAsTheSameRows() throws {
        let file = try place.folder.write(
            export(["--format", "csv", "--table", "Person"]).output, to: "out.csv")
        try importAgain(file, as: "person")
        #expect(try place.rows("back.db", "b") == place.rows("a.db", "a"))
    }

    @Test func aHyphenIsStandardOutput() throws {
        let arguments = ["--format", "csv", "--table", "Person"]
        #expect(try export(arguments + ["--to", "-"]).output == export(arguments).output)
        let refused = try place.run(
            ["export", place.path("a.db"), "--to", "-", "--passphrase-file", place.secret("a")])
        #expect(refused.status == 64 && refused.errors.contains("--format"))
    }

    @Test func csvOfAllTablesIsAFolderWithAFileEach() throws {
        let result = try export(["--format", "csv", "--to", place.path("out"), "--json"])
        #expect(try result.document()["rows"] as? Int == 4)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: place.path("out")).sorted() == [
                "person.csv", "pet.csv",
            ])
        for table in ["person", "pet"] {
            try importAgain(place.path("out/\(table).csv"), as: table)
            #expect(try place.rows("back.db", "b", table) == place.rows("a.db", "a", table))
        }
    }

    /// A mark behind a slash or a dot makes another `Character` of it, and stays what it is to the system.
    @Test func eachTableHasAFileOfItsOwnInTheFolder() throws {
        let names = ["../\u{301}evil", "a/b", "a_b", ".hidden", "\u{E9}", "e\u{301}", "\u{C9}"]
        let queue = try place.open("a.db", "a")
        try queue.write { db in
            for (number, name) in names.enumerated() {
                try db.execute(sql: "CREATE TABLE \(name.quotedDatabaseIdentifier) AS SELECT \(number) AS n")
            }
        }
        try queue.close()
        let before = try place.contents()
        _ = try export(["--format", "csv", "--to", place.path("out")])
        let files = [
            "_._\u{301}evil.csv", "a_b.csv", "a_b-2.csv", "_hidden.csv", "\u{E9}.csv", "e\u{301}-2.csv",
            "\u{C9}-3.csv",
        ]
        let found = try FileManager.default.contentsOfDirectory(atPath: place.path("out"))
        #expect(Set(found) == Set(files + ["person.csv", "pet.csv"]))
        for (number, file) in files.enumerated() {
            let bytes = FileManager.default.contents(atPath: place.path("out/\(file)"))
            #expect(bytes == Data("n\n\(number)\n".utf8), "\(file)")
        }
        #expect(try place.contents().filter { $0 != "out" && !before.contains($0) } == [])
    }

    @Test func jsonLinesHoldEveryValue() throws {
        let lines = try export(["--format", "jsonl", "--table", "person"]).output.split(separator: "\n")
        let objects = try lines.map {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
        #expect(objects.map { $0?["name"] as? String } == ["Ada, \"the first\"", "", "NA"])
        #expect(objects.map { ($0?["stars"] as? NSNumber)?.int64Value } == [5, nil, Int64.min])
        #expect(objects.map { ($0?["score"] as? NSNumber)?.doubleValue } == [0.1, 1e300, nil])
        _ = try export(["--format", "jsonl", "--to", place.path("out")])
        let pet = try place.folder.text("out/pet.jsonl")
        #expect(pet == #"{"id":"018f3a52-7c00-7000-8000-000000000011","name":"O'Malley\nthe cat"}"# + "\n")
    }

    @Test(arguments: [nil, "pet"]) func sqlBuildsTheSameTables(table: String?) throws {
        let choice = table.map { ["--table", $0] } ?? []
        let onStandardOutput = try export(["--format", "sql"] + choice).output
        _ = try export(["--format", "sql", "--to", place.path("out.sql")] + choice)
        #expect(try place.folder.text("out.sql") == onStandardOutput)
        let database = try DatabaseQueue()
        try database.writeWithoutTransaction { try $0.execute(sql: onStandardOutput) }
        #expect(try StoreProbe.rows(database, "pet") == place.rows("a.db", "a", "pet"))
        #expect(try StoreProbe.hasTable(database, "person") == (table == nil))
        if table == nil { #expect(try StoreProbe.rows(database, "person") == place.rows("a.db", "a")) }
    }

    /// These are three names to SQLite, and one to Swift when the case does not count.
    @Test func theTableThatIsNamedIsExported() throws {
        let names = ["\u{C9}", "\u{E9}", "e\u{301}"]
        let queue = try place.open("a.db", "a")
        try queue.write { db in
            for (number, name) in names.enumerated() {
                try db.execute(sql: "CREATE TABLE \(name.quotedDatabaseIdentifier) AS SELECT \(number) AS n")
            }
        }
        try queue.close()
        for (number, name) in names.enumerated() {
            #expect(try export(["--format", "csv", "--table", name]).output == "n\n\(number)\n")
        }
        #expect(try export(["--format", "csv", "--table", "PERSON"]).output.hasPrefix("id,name"))
    }

    @Test func sqlOfViewsTriggersAndVirtualTablesCanBeRun() throws {
        let queue = try place.open("a.db", "a")
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE VIEW names AS SELECT name FROM pet;
                    CREATE TRIGGER names_insert INSTEAD OF INSERT ON names BEGIN
                        INSERT INTO pet VALUES (randomblob(16), NEW.name);
                    END;
                    CREATE INDEX pet_name ON pet (name);
                    CREATE VIRTUAL TABLE words USING fts4(text);
                    INSERT INTO words (docid, text) VALUES (7, 'oat milk');
                    CREATE TABLE outside_content (id INTEGER PRIMARY KEY, text TEXT);
                    INSERT INTO outside_content VALUES (3, 'green tea');
                    CREATE VIRTUAL TABLE outside USING fts4(content="outside_content", text);
                    INSERT INTO outside (docid, text) VALUES (3, 'green tea');
                    CREATE VIRTUAL TABLE bare USING fts4(content='', text);
                    INSERT INTO bare (docid, text) VALUES (1, 'lost');
                    """)
            if EngineFeatures.current.supportsGeneratedColumns {
                try db.execute(
                    sql: """
                        CREATE TABLE sum (a INTEGER, b INTEGER AS (a + 1), c INTEGER);
                        INSERT INTO sum (a, c) VALUES (1, 3);
                        """)
            }
        }
        let names = """
            SELECT name FROM sqlite_master
            WHERE substr(name, 1, 6) <> '_sync_' AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name
            """
        let expected = try queue.read { try String.fetchAll($0, sql: names) }
        try queue.close()
        let script = try export(["--format", "sql"]).output
        let database = try DatabaseQueue()
        try database.writeWithoutTransaction { try $0.execute(sql: script) }
        try database.read { db throws in
            #expect(try String.fetchAll(db, sql: names) == expected)
            for (table, word, id) in [("words", "milk", 7), ("outside", "tea", 3)] {
                let sql = "SELECT docid FROM \(table) WHERE \(table) MATCH '\(word)'"
                #expect(try Int.fetchAll(db, sql: sql) == [id])
            }
        }
        for table in expected
        where ["names", "person", "pet", "sum", "words", "outside_content"].contains(table) {
            #expect(try StoreProbe.rows(database, table) == place.rows("a.db", "a", table), "\(table)")
        }
    }

    @Test func sqlOfDefinitionsThatEndInCommentsCanBeRun() throws {
        let queue = try place.open("a.db", "a")
        try queue.write { db in
            for definition in [
                "CREATE INDEX pet_name ON pet (name) -- by name",
                "CREATE VIEW names AS SELECT name FROM pet -- all",
                "CREATE VIEW dashes AS SELECT '--' AS a /* open",
                "CREATE VIEW closed AS SELECT 1 AS a /* ; */",
                "CREATE TABLE plain (id INTEGER PRIMARY KEY, a) -- no key",
            ] {
                try db.execute(sql: definition)
            }
        }
        let names = """
            SELECT name FROM sqlite_master
            WHERE substr(name, 1, 6) <> '_sync_' AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name
            """
        let expected = try queue.read { try String.fetchAll($0, sql: names) }
        try queue.close()
        let script = try export(["--format", "sql"]).output
        let database = try DatabaseQueue()
        try database.writeWithoutTransaction { try $0.execute(sql: script) }
        try database.read { db throws in
            #expect(try String.fetchAll(db, sql: names) == expected)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM names") == 1)
            #expect(try String.fetchOne(db, sql: "SELECT a FROM dashes") == "--")
        }
    }

    @Test func exportedFilesAreReadableByTheirOwnerOnly() throws {
        _ = try export(["--to", place.path("plain.sqlite"), "--plaintext"])
        _ = try export(["--format", "csv", "--table", "pet", "--to", place.path("pet.txt")])
        for name in ["plain.sqlite", "pet.txt"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: place.path(name))
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }
}
