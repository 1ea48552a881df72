import Foundation
import Testing

@testable import CipherStore

/// What a wrong table, CSV file or command line gives. Nothing of it reaches the store.
@Suite struct BadInputTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeStore("a.db", "a")
    }

    private var store: [String] { [place.path("a.db"), "--passphrase-file", place.secret("a")] }

    private func expectFailure(
        _ status: Int32, _ words: [String], running arguments: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let text = try place.run(arguments, sourceLocation: sourceLocation)
        #expect(text.status == status, "\(text.errors)", sourceLocation: sourceLocation)
        for word in words {
            #expect(text.errors.contains(word), "\(text.errors)", sourceLocation: sourceLocation)
        }
        let json = try place.run(arguments + ["--json"], sourceLocation: sourceLocation)
        #expect(json.status == status, sourceLocation: sourceLocation)
        #expect(try json.errorDocument()["code"] as? Int32 == status, sourceLocation: sourceLocation)
        #expect(text.output.isEmpty && json.output.isEmpty, sourceLocation: sourceLocation)
        try examine(sourceLocation)
    }

    /// The store has its one table, and nothing else was left beside it.
    private func examine(_ sourceLocation: SourceLocation) throws {
        let queue = try place.open("a.db", "a")
        defer { try? queue.close() }
        #expect(try StoreProbe.rows(queue).count == 20, sourceLocation: sourceLocation)
        let names = try queue.read {
            try String.fetchAll($0, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        }
        let own = names.filter {
            !$0.hasPrefix("_sync_") && !$0.hasPrefix("sqlite_") && !$0.hasPrefix("no_key")
        }
        #expect(own == ["person"], sourceLocation: sourceLocation)
        try queue.close()
        #expect(
            try place.contents().filter { !$0.hasSuffix(".csv") } == ["a.db"], sourceLocation: sourceLocation)
    }

    // MARK: CSV

    private static let files: [(text: Data, words: [String])] = [
        (Data("name,age\nAda,36\nGrace\n".utf8), ["pet.csv:3", "expected 2 fields, found 1"]),
        (Data("name,age\nAda,36,x\n".utf8), ["pet.csv:2", "expected 2 fields, found 3", "quotes"]),
        (Data("name,age\n".utf8) + Data([0x4D, 0xFC, 0x6C]) + Data(",3\n".utf8), ["UTF-8", "iconv"]),
        (Data("name,Name\nAda,36\n".utf8), ["same name"]),
        (Data("name,\nAda,36\n".utf8), ["column 2 has no name"]),
        (Data("name,age\n\"Ada,36\n".utf8), ["pet.csv:2", "unclosed quote"]),
        (Data(), ["empty"]),
    ]

    @Test(arguments: files.indices) func aWrongFileIsNamedWithItsLine(index: Int) throws {
        let (content, words) = Self.files[index]
        try content.write(to: URL(fileURLWithPath: place.path("pet.csv")))
        try expectFailure(1, words, running: ["import"] + store + [place.path("pet.csv"), "--track"])
    }

    @Test func anErrorInTheLastOfManyRowsUndoesThemAll() throws {
        let rows = (0..<9000).map { "pet \($0),\($0)\n" }.joined()
        try place.folder.write("name,age\n" + rows + "last\n", to: "pet.csv")
        try expectFailure(1, ["pet.csv:9002"], running: ["import"] + store + [place.path("pet.csv")])
        let key = "018f3a52-7c00-7000-8000-000000000001"
        try place.folder.write("id,name\n\(key),Ada\n\(key),Grace\n", to: "pet.csv")
        try expectFailure(1, ["pet.csv:3", "UNIQUE"], running: ["import"] + store + [place.path("pet.csv")])
    }

    @Test func aMissingFileOrAKeyThatIsNone() throws {
        try expectFailure(1, ["no.csv"], running: ["import"] + store + [place.path("no.csv")])
        try place.folder.write("code,name\n1,Ada\n", to: "pet.csv")
        let arguments = ["import"] + store + [place.path("pet.csv")]
        try expectFailure(1, ["code", "UUID"], running: arguments + ["--key", "code"])
        try expectFailure(64, ["no column size", "code, name"], running: arguments + ["--key", "size"])
        try expectFailure(1, ["no column code"], running: arguments + ["--table", "person"])
        try expectFailure(
            64, ["can't be the name of a table"], running: arguments + ["--table", "_sync_row"])
    }

    // MARK: Tables

    @Test func aTableWithoutAUUIDKeyIsNotTracked() throws {
        let queue = try place.open("a.db", "a")
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE no_key (a);
                    CREATE TABLE no_key_integer (id INTEGER PRIMARY KEY, a);
                    CREATE TABLE no_key_pair (a TEXT, b TEXT, PRIMARY KEY (a, b));
                    CREATE TABLE no_key_text (id TEXT PRIMARY KEY, a);
                    INSERT INTO no_key_text VALUES ('not a UUID', 1);
                    CREATE VIEW no_key_view AS SELECT 1;
                    """)
        }
        try queue.close()
        let names = [
            ("no_key", "no primary key"), ("no_key_integer", "integer"), ("no_key_pair", "2 columns"),
            ("no_key_text", "no UUID"), ("no_key_view", "view"),
        ]
        for (table, words) in names {
            try expectFailure(1, [table, words], running: ["track"] + store + ["person", table])
        }
    }

    @Test func anUnknownTable() throws {
        try expectFailure(1, ["no table nothing"], running: ["track"] + store + ["nothing"])
        try expectFailure(
            1, ["no table nothing", "person"],
            running: ["export"] + store + ["--format", "csv", "--table", "nothing"])
        let target = ["--format", "csv", "--table", "nothing", "--to", place.path("out.txt")]
        try expectFailure(1, ["no table nothing"], running: ["export"] + store + target)
    }

    // MARK: Usage

    @Test func aWrongCommandLine() throws {
        let file = place.path("a.db")
        let lines: [(arguments: [String], words: [String])] = [
            (["frobnicate"], ["frobnicate"]), (["status"], ["store"]),
            (["status", file, "--frob"], ["--frob"]),
            (["push"] + store, ["--remote"]), (["track"] + store, ["tables"]),
            (["export"] + store, ["--to"]), (["export"] + store + ["--format", "csv"], ["--table"]),
            (["export"] + store + ["--plaintext", "--format", "csv"], ["exclude each other"]),
            (["export"] + store + ["--to", place.path("c.db")], ["--to-passphrase-file"]),
            (["init", place.path("c.db"), "--clone", file, "--from", file], ["exclude each other"]),
            (["import"] + store + ["x.csv", "--delimiter", ";;"], ["--delimiter"]),
            (["import"] + store + ["x.csv", "--delimiter", "\""], ["--delimiter"]),
            (["import"] + store + ["x.csv", "--delimiter", "\n"], ["--delimiter"]),
            (["log"] + store + ["--limit", "0"], ["--limit"]),
            (["status"] + store + ["--passphrase-fd", "3"], ["exclude each other"]),
            (["rekey"] + store + ["--new-passphrase-file", place.secret("a")], ["is the old one"]),
        ]
        for line in lines { try expectFailure(64, line.words, running: line.arguments) }
    }

    @Test func aPassphraseThatCannotBeHad() throws {
        let file = place.path("a.db")
        try expectFailure(
            1, ["nowhere"], running: ["status", file, "--passphrase-file", place.path("nowhere")])
        let open = try place.folder.write("kestrel-4711-a\n", to: "open.csv")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: open)
        try expectFailure(
            1, ["other users", "chmod 600"], running: ["status", file, "--passphrase-file", open])
        // Without a terminal nobody can be asked, and the flags are named.
        try expectFailure(64, ["--passphrase-file"], running: ["status", file])
    }
}
