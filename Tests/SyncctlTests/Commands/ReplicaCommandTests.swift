import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Making, listing and retiring replicas, and dropping what they need no more, with the binary.
@Suite struct ReplicaCommandTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeStore("a.db", "a")
    }

    private func own(_ name: String) -> [String] { ["--passphrase-file", place.secret(name)] }

    private func clone() throws {
        try place.succeed(
            ["clone", place.path("a.db"), place.path("b.db"), "--to-passphrase-file", place.secret("b")]
                + own("a"))
    }

    @discardableResult
    private func sync(_ from: String, _ name: String, with to: String, _ other: String) throws
        -> CommandResult
    {
        try place.run(
            [
                "sync", place.path(from), "--remote", place.path(to), "--remote-passphrase-file",
                place.secret(other),
            ] + own(name))
    }

    private func replicas() throws -> [[String: Any]] {
        let result = try place.succeed(["replica", "list", place.path("a.db"), "--json"] + own("a"))
        return try #require(result.document()["replicas"] as? [[String: Any]])
    }

    private func execute(_ sql: String, in store: String, _ name: String) throws {
        let queue = try place.open(store, name)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }

    @Test func aCloneSharesItsRowsAndNotItsIdentity() throws {
        try clone()
        let first = try sync("a.db", "a", with: "b.db", "b")
        #expect(first.output.contains("pulled nothing new, pushed nothing new"), "the log was folded before")
        #expect(try place.rows("b.db", "b") == place.rows("a.db", "a"))
        let replicas = try replicas()
        #expect(replicas.count == 2)
        #expect(Set(replicas.compactMap { $0["replica"] as? String }).count == 2)
        #expect(replicas.first?["local"] as? Bool == true)
        let again = try place.run(
            ["clone", place.path("a.db"), place.path("b.db"), "--to-passphrase-file", place.secret("b")]
                + own("a"))
        #expect(again.status == 1 && again.errors.contains("there is a file already"))
    }

    @Test func whatAnotherStoreLeftIsInTheWayOfAClone() throws {
        try place.folder.write("pages", to: "b.db-wal")
        let result = try place.run(["clone", place.path("a.db"), place.path("b.db")] + own("a"))
        #expect(result.status == 1 && result.errors.contains("b.db-wal"), "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: place.path("b.db")))
        try FileManager.default.removeItem(atPath: place.path("b.db-wal"))
        try clone()
    }

    /// What `cp` made, and both files wrote, is in both afterwards.
    @Test func aPlainCopyBecomesAReplicaOfItsOwn() throws {
        try clone()
        try sync("a.db", "a", with: "b.db", "b")
        try FileManager.default.copyItem(atPath: place.path("a.db"), toPath: place.path("copy.db"))
        try execute("UPDATE person SET name = 'of a' WHERE stars = 1", in: "a.db", "a")
        try execute("UPDATE person SET name = 'of the copy' WHERE stars = 2", in: "copy.db", "a")
        let first = try sync("copy.db", "a", with: "b.db", "b")
        #expect(first.status == 0 && first.errors.contains("its file is a copy of another one"))
        #expect(try sync("a.db", "a", with: "b.db", "b").status == 0)
        let second = try sync("copy.db", "a", with: "b.db", "b")
        #expect(second.status == 0 && second.errors.isEmpty)
        let rows = try place.rows("a.db", "a")
        #expect(rows.contains { $0.contains("\"of a\"") } && rows.contains { $0.contains("\"of the copy\"") })
        #expect(try place.rows("b.db", "b") == rows)
        #expect(try place.rows("copy.db", "a") == rows)
        #expect(try replicas().count == 3)
    }

    @Test func anArchiveBecomesAStoreThatCatchesUp() throws {
        let archive = place.path("a.csa")
        try place.succeed(
            ["export", place.path("a.db"), "--to", archive, "--to-passphrase-file", place.secret("c")]
                + own("a") + ["--cost", "14"])
        try execute("DELETE FROM person WHERE stars < 5", in: "a.db", "a")
        let restored = try place.succeed(
            [
                "restore", archive, place.path("b.db"), "--archive-passphrase-file", place.secret("c"),
                "--json",
            ] + own("b")
        ).document()
        #expect(restored["store"] as? String == place.path("b.db"))
        #expect(try place.rows("b.db", "b").count == 20)
        #expect(try sync("b.db", "b", with: "a.db", "a").status == 0)
        #expect(try place.rows("b.db", "b") == place.rows("a.db", "a"))
        let wrong = try place.run(
            ["restore", archive, place.path("c.db"), "--archive-passphrase-file", place.secret("wrong")]
                + own("b"))
        #expect(wrong.status == 12)
        #expect(try place.contents() == ["a.csa", "a.db", "b.db"])
    }

    @Test func whatDoesNotOpenAnArchiveIsToldWhatDoes() throws {
        let (archive, locked) = (place.path("a.csa"), place.path("locked.csa"))
        let export = ["export", place.path("a.db"), "--cost", "14"] + own("a")
        try place.succeed(export + ["--to", locked, "--to-passphrase-file", place.secret("c")])
        let identities = [place.path("one"), place.path("two")]
        let recipients = try identities.map { path in
            let document = try place.succeed(["key", "identity", "--to", path, "--json"]).document()
            return try #require(document["recipient"] as? String)
        }
        try place.succeed(
            ["export", place.path("a.db"), "--to", archive, "--recipient", recipients[0]] + own("a"))
        for (file, opening) in [
            (archive, ["--identity", identities[1]]), (locked, ["--identity", identities[0]]),
            (archive, ["--archive-passphrase-file", place.secret("c")]),
            (locked, ["--archive-passphrase-file", place.secret("wrong")]),
        ] {
            for command in [
                ["restore", file, place.path("b.db")] + own("b"), ["verify", file],
                ["init", place.path("b.db"), "--from", file] + own("b"),
            ] {
                let result = try place.run(command + opening)
                #expect(result.status == 12, "\(result.errors)")
                #expect(result.errors.contains("--identity one for a recipient"), "\(result.errors)")
                #expect(!result.errors.contains("--clone-passphrase-file"), "\(result.errors)")
            }
        }
    }

    @Test func aRetiredReplicaIsRefusedUntilItIsRenewed() throws {
        try clone()
        try sync("a.db", "a", with: "b.db", "b")
        let other = try #require(replicas().first { $0["local"] as? Bool == false }?["replica"] as? String)
        try place.succeed(["replica", "retire", place.path("a.db"), String(other.prefix(6))] + own("a"))
        #expect(
            try replicas().first { $0["replica"] as? String == other }?["retired"] as? String == "requested")
        try execute("UPDATE person SET name = 'unsent' WHERE stars = 3", in: "b.db", "b")
        let refused = try sync("b.db", "b", with: "a.db", "a")
        #expect(refused.status != 0 && refused.errors.contains("replica renew"))
        // It is the one that was retired that needs another identity, whoever was told to synchronize.
        let words = "syncctl replica renew \(place.path("b.db"));"
        #expect(refused.errors.contains(words), "\(refused.errors)")
        let told = try sync("a.db", "a", with: "b.db", "b")
        #expect(told.status == 14 && told.errors.contains(words), "\(told.errors)")
        let bundle = place.path("late.bundle")
        try place.succeed(
            ["bundle", "create", place.path("b.db"), "--to", bundle, "--since-nothing", "--plaintext"]
                + own("b"))
        let late = try place.run(
            ["bundle", "apply", place.path("a.db"), bundle, "--plaintext"] + own("a"))
        #expect(late.status == 14 && late.errors.contains("renew <its store>"), "\(late.errors)")
        let renewed = try place.succeed(["replica", "renew", place.path("b.db"), "--json"] + own("b"))
        #expect(try renewed.document()["replica"] as? String != other)
        #expect(try sync("b.db", "b", with: "a.db", "a").status == 0)
        #expect(try place.rows("a.db", "a").contains { $0.contains("unsent") })
        try place.succeed(["replica", "forget", place.path("a.db"), other] + own("a"))
    }

    @Test func wrongNamesOfReplicasSayWhatToDo() throws {
        for (name, status) in [("", 64), ("zz", 1)] {
            let result = try place.run(["replica", "retire", place.path("a.db"), name] + own("a"))
            #expect(result.status == Int32(status) && result.errors.contains("replica list"), "\(name)")
        }
        let own = try #require(replicas().first?["replica"] as? String)
        #expect(try place.run(["replica", "retire", place.path("a.db"), own] + self.own("a")).status == 1)
        #expect(try place.run(["replica", "forget", place.path("a.db"), own] + self.own("a")).status == 1)
    }

    @Test func compactForgetsWhatAllKnow() throws {
        try clone()
        try sync("a.db", "a", with: "b.db", "b")
        try execute("DELETE FROM person WHERE stars < 8", in: "a.db", "a")
        let early = try place.succeed(["compact", place.path("a.db"), "--json"] + own("a")).document()
        #expect(early["forgotten_deletions"] as? Int == 0 && early["kept_deletions"] as? Int == 8)
        #expect((early["waiting_for"] as? [String])?.count == 1)
        try sync("a.db", "a", with: "b.db", "b")
        let dry = try place.succeed(["compact", place.path("a.db"), "--dry-run"] + own("a"))
        #expect(dry.output.contains("would forget 8 deletions"))
        let compacted = try place.succeed(
            ["compact", place.path("a.db"), "--history-count", "1", "--json"] + own("a")
        ).document()
        #expect(compacted["forgotten_deletions"] as? Int == 8 && compacted["kept_deletions"] as? Int == 0)
        #expect(compacted["history"] as? Int ?? 0 > 0)
        try sync("a.db", "a", with: "b.db", "b")
        #expect(try place.rows("b.db", "b").count == 12)
        for wrong in [["--lease", "0"], ["--history-count", "-1"], ["--history-days", "99999999"]] {
            #expect(try place.run(["compact", place.path("a.db")] + wrong + own("a")).status == 64)
        }
    }
}
