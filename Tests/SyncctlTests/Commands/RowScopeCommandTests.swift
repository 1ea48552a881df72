import CipherStore
import Foundation
import Testing

/// The choice of rows, with the binary.
@Suite struct RowScopeCommandTests {
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

    private func owners(_ store: String, _ name: String) throws -> [String] {
        let queue = try place.open(store, name)
        defer { try? queue.close() }
        return try queue.read {
            try String.fetchAll($0, sql: "SELECT coalesce(owner, 'nobody') FROM \"my.note\" ORDER BY 1")
        }
    }

    private func makePair() throws {
        try place.succeed(["init", place.path("a.db")] + own("a"))
        try execute("a.db", "a", "CREATE TABLE \"my.note\" (id BLOB PRIMARY KEY, owner, text TEXT)")
        try place.succeed(["track", place.path("a.db"), "my.note"] + own("a"))
        for (store, name) in [("b.db", "b"), ("c.db", "c")] {
            try place.succeed(
                [
                    "init", place.path(store), "--clone", place.path("a.db"), "--clone-passphrase-file",
                    place.secret("a"),
                ] + own(name))
        }
        for value in ["'ann'", "'bob, jr'", "7", "'7'", "x'00ff'", "NULL"] {
            try execute("a.db", "a", "INSERT INTO \"my.note\" VALUES (randomblob(16), \(value), 't')")
        }
    }

    @Test func rowsAreChosenShownAndTakenBack() throws {
        try makePair()
        let sync = ["sync", place.path("b.db")] + remote("a.db", "a") + own("b")
        let choice = "\"my.note\".owner='bob, jr',int:7,null:"
        let first = try place.succeed(sync + ["--rows", choice, "--json"]).document()
        #expect(first["pulled"] as? Int == 3 && first["waiting"] == nil)
        #expect(first["rows"] as? [String] == ["\"my.note\".owner=null:,int:7,'bob, jr'"])
        #expect(try owners("b.db", "b") == ["7", "bob, jr", "nobody"])
        let status = try place.succeed(["status", place.path("b.db")] + own("b"))
        #expect(status.output.contains("only \"my.note\".owner=null:,int:7,'bob, jr'"))
        // What status says can be said again.
        try place.succeed(sync + ["--rows", "\"my.note\".owner=null:,int:7,'bob, jr'"])
        try execute("b.db", "b", "UPDATE \"my.note\" SET owner = 'eve' WHERE owner = 7")
        try place.succeed(sync + ["--rows", "\"my.note\".owner=hex:00ff,text:7,null:"])
        #expect(try owners("b.db", "b").count == 3)
        #expect(try owners("a.db", "a").contains("eve"))
        // A third store that has not met the first one has to.
        try execute("c.db", "c", "INSERT INTO \"my.note\" VALUES (randomblob(16), NULL, 't')")
        let other = ["sync", place.path("b.db")] + remote("c.db", "c") + own("b")
        let waiting = try place.run(other + ["--json"])
        #expect(waiting.status == 3)
        #expect(
            (try waiting.document()["waiting"] as? [[String: Any]])?.first?["table"] as? String == "my.note")
        let again = try place.run(other)
        #expect(again.status == 3 && again.errors.contains("my.note waits"))
        let refused = try place.run(other + ["--rows", "\"my.note\".owner=zoe"])
        #expect(refused.status == 1 && refused.errors.contains("a.db"))
        try place.succeed(["sync", place.path("c.db")] + remote("a.db", "a") + own("c"))
        try place.succeed(other)
        #expect(try owners("b.db", "b").filter { $0 == "nobody" }.count == 2)
        try place.succeed(sync + ["--all-rows"])
        #expect(try owners("b.db", "b") == owners("a.db", "a"))
        for (store, name) in [("a.db", "a"), ("b.db", "b"), ("c.db", "c")] {
            try place.succeed(["verify", place.path(store), "--deep"] + own(name))
        }
        try place.succeed(["verify", place.path("b.db")] + remote("a.db", "a") + own("b"))
    }

    @Test func wrongChoicesAreRefused() throws {
        try makePair()
        let base = ["sync", place.path("b.db")] + remote("a.db", "a") + own("b")
        for (arguments, status, word) in [
            (["--rows", "note"], 64, "rows"), (["--rows", "note.owner"], 64, "rows"),
            (["--rows", "note.owner="], 64, "rows"), (["--rows", "note.owner=a,"], 64, "rows"),
            (["--rows", "note.owner=int:x"], 64, "rows"), (["--rows", "note.owner=hex:0"], 64, "rows"),
            (["--rows", "note.owner=uuid:00"], 64, "rows"), (["--rows", "note.owner='a"], 64, "rows"),
            (["--rows", "\"my.note\".owner=a", "--all-rows"], 64, "exclude"),
            (["--rows", "\"my.note\".owner=a", "--rows", "\"my.note\".text=a"], 64, "twice"),
            (["--rows", "nothing.owner=a"], 1, "nothing"),
            (["--rows", "\"my.note\".id=a"], 1, "key"), (["--rows", "\"my.note\".who=a"], 1, "no column"),
            (["--rows", "\"my.note\".owner=a", "--remote", "dir:x"], 64, "folder"),
        ] {
            let result = try place.run(base + arguments)
            #expect(result.status == Int32(status), "\(arguments): \(result.errors)")
            #expect(result.errors.contains(word), "\(arguments): \(result.errors)")
        }
        #expect(try owners("b.db", "b") == [])
    }
}
