import CipherStore
import Foundation
import Testing

/// The choice of tables, with the binary.
@Suite struct ScopeCommandTests {
    let place: Workplace

    init() throws { place = try Workplace() }

    private func own(_ name: String) -> [String] { ["--passphrase-file", place.secret(name)] }
    private func remote(_ store: String, _ name: String) -> [String] {
        ["--remote", place.path(store), "--remote-passphrase-file", place.secret(name)]
    }

    private func execute(_ store: String, _ name: String, _ sql: String) throws {
        let queue = try place.open(store, name)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }

    private func count(_ store: String, _ name: String, _ table: String) throws -> Int? {
        let queue = try place.open(store, name)
        defer { try? queue.close() }
        return try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") }
    }

    private func makePair() throws {
        try place.succeed(["init", place.path("a.db")] + own("a"))
        try execute(
            "a.db", "a",
            """
            CREATE TABLE note (id BLOB PRIMARY KEY, list BLOB REFERENCES list(id));
            CREATE TABLE list (id BLOB PRIMARY KEY);
            CREATE TABLE plain (id INTEGER PRIMARY KEY);
            """)
        try place.succeed(["track", place.path("a.db"), "note", "list"] + own("a"))
        try place.succeed(
            [
                "init", place.path("b.db"), "--clone", place.path("a.db"), "--clone-passphrase-file",
                place.secret("a"),
            ] + own("b"))
        try execute("a.db", "a", "INSERT INTO note VALUES (randomblob(16), NULL), (randomblob(16), NULL)")
        try execute("a.db", "a", "INSERT INTO list VALUES (randomblob(16))")
    }

    @Test func aChoiceStaysUntilItIsTakenBack() throws {
        try makePair()
        let sync = ["sync", place.path("b.db")] + remote("a.db", "a") + own("b")
        let first = try place.succeed(sync + ["--tables", " Note,note", "--json"])
        #expect(try first.document()["pulled"] as? Int == 2)
        #expect(try first.document()["tables"] as? [String] == ["note"])
        let again = try place.succeed(sync + ["--tables", "note"])
        #expect(again.errors.contains("list"))
        try execute("a.db", "a", "INSERT INTO note VALUES (randomblob(16), NULL)")
        #expect(try place.succeed(sync + ["--json"]).document()["pulled"] as? Int == 1)
        #expect(try count("b.db", "b", "list") == 0)
        let status = try place.succeed(["status", place.path("b.db")] + own("b"))
        #expect(status.output.contains("only note"))
        let compared = try place.succeed(["verify", place.path("b.db")] + remote("a.db", "a") + own("b"))
        #expect(compared.output.contains("hold the same in note"))
        let all = try place.succeed(sync + ["--all-tables", "--json"])
        #expect(try all.document()["pulled"] as? Int == 1)
        #expect(try all.document()["tables"] == nil)
        #expect(try count("b.db", "b", "list") == 1)
        try place.succeed(["verify", place.path("b.db"), "--deep"] + own("b"))
        try place.succeed(["verify", place.path("a.db"), "--deep"] + own("a"))
    }

    @Test func whatAStoreThatOnlyReadsPulledIsToldThoughItAddsNoSnapshot() throws {
        try makePair()
        try place.succeed(
            [
                "init", place.path("c.db"), "--clone", place.path("b.db"), "--clone-passphrase-file",
                place.secret("b"),
            ] + own("c"))
        try execute("c.db", "c", "INSERT INTO note VALUES (randomblob(16), NULL)")
        let shared = [
            "--remote", "dir:\(place.path("shared"))", "--remote-passphrase-file", place.secret("c"),
        ]
        try place.succeed(["sync", place.path("c.db"), "--create", "--cost", "14"] + shared + own("c"))
        // Of what a.db wrote, the list is nowhere else.
        try place.succeed(
            ["sync", place.path("b.db"), "--tables", "note"] + remote("a.db", "a") + own("b"))
        let sync = ["sync", place.path("b.db"), "--snapshot", "--cost", "14"]
        let result = try place.run(sync + shared + own("b"))
        #expect(result.status == 3, "\(result.errors)")
        #expect(result.output.contains("pulled 1 row"), "\(result.output)")
        #expect(result.errors.contains("no snapshot was added"), "\(result.errors)")
        #expect(try count("b.db", "b", "note") == 3)
        let files = FileManager.default.enumerator(atPath: place.path("shared"))?.allObjects as? [String]
        let hasSnapshot = (files ?? []).contains { $0.hasSuffix(".csa") }
        #expect(!hasSnapshot)
    }

    @Test func wrongChoicesAreRefusedAndNothingIsExchanged() throws {
        try makePair()
        let base = ["sync", place.path("b.db")] + remote("a.db", "a") + own("b")
        for (arguments, status, word) in [
            (["--tables", "nothing"], 1, "nothing"), (["--tables", "note,plain"], 1, "not tracked"),
            (["--tables", ""], 64, "tables"), (["--tables", "note,,list"], 64, "tables"),
            (["--tables", "note", "--all-tables"], 64, "exclude"),
        ] {
            let result = try place.run(base + arguments)
            #expect(result.status == Int32(status), "\(arguments): \(result.errors)")
            #expect(result.errors.contains(word), "\(arguments): \(result.errors)")
        }
        let folder = try place.run(
            ["sync", place.path("b.db"), "--remote", "dir:\(place.path("folder"))", "--tables", "note"]
                + own("b"))
        #expect(folder.status == 64 && folder.errors.contains("folder"))
        #expect(try count("b.db", "b", "note") == 0)
    }
}
