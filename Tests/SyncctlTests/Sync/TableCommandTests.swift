import CipherStore
import Foundation
import Testing

/// `untrack`, definitions of another replica, and tables that are made from them.
@Suite struct TableCommandTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeStore("a.db", "a", rows: 0..<3)
    }

    private var own: [String] { ["--passphrase-file", place.secret("a")] }
    private var both: [String] { ["--passphrase-file", place.secret("b")] + remote }
    private var remote: [String] {
        ["--remote", place.path("a.db"), "--remote-passphrase-file", place.secret("a")]
    }

    @Test func anUntrackedTableIsLeftOutUntilItIsTrackedAgain() throws {
        try place.makeReplica("b.db", "b", of: "a.db", "a")
        let document = try place.succeed(
            ["untrack", place.path("a.db"), "person", "PERSON", "--json"] + own
        ).document()
        #expect(document["untracked"] as? [String] == ["person"])
        #expect((document["tracked"] as? [Any])?.isEmpty == true)
        let queue = try place.open("a.db", "a")
        try StoreProbe.insert(10..<12, into: queue)
        try queue.close()
        try place.succeed(["sync", place.path("b.db")] + both)
        #expect(try place.rows("b.db", "b").count == 3)
        #expect(try place.succeed(["verify", place.path("a.db")] + own).status == 0)
        #expect(try place.run(["untrack", place.path("a.db"), "person"] + own).status == 1)
        try place.succeed(["track", place.path("a.db"), "person"] + own)
        try place.succeed(["sync", place.path("b.db")] + both)
        #expect(try place.rows("b.db", "b").count == 5)
    }

    @Test func missingTablesAreShownAndMade() throws {
        try place.makeStore("new.db", "a", rows: 0..<0)
        let queue = try place.open("new.db", "a")
        try queue.write { try $0.execute(sql: "DROP TABLE person") }
        try queue.close()
        try place.makeReplica("b.db", "b", of: "new.db", "a")
        try place.succeed(["import", place.path("new.db"), try csv(), "--table", "city", "--track"] + own)
        let remote = ["--remote", place.path("new.db"), "--remote-passphrase-file", place.secret("a")]
        let words = [place.path("b.db"), "--passphrase-file", place.secret("b")] + remote
        let shown = try place.succeed(["schema"] + words + ["--json"]).document()
        let table = try #require((shown["tables"] as? [[String: Any]])?.first)
        #expect(table["name"] as? String == "city" && table["here"] as? String == "missing")
        let text = try place.succeed(["schema"] + words)
        #expect(text.output.contains("CREATE TABLE") && text.errors.contains("--create-tables"))
        let sync = try place.succeed(["sync"] + words + ["--create-tables"])
        #expect(sync.output.contains("pulled 2 rows") && sync.errors.contains("made and tracked: city"))
        let after = try place.succeed(["schema"] + words + ["--json"]).document()
        #expect((after["tables"] as? [[String: Any]])?.first?["here"] as? String == "same")
    }

    @Test func aTableThatWasMadeLaterComesFromAReplicaOfASnapshot() throws {
        try place.makeReplica("b.db", "b", of: "a.db", "a")
        let secret = ["--remote-passphrase-file", place.secret("c")]
        let folder = "dir:" + place.path("shared")
        try place.succeed(["import", place.path("a.db"), try csv(), "--table", "city", "--track"] + own)
        let more = ["--create", "--snapshot", "--cost", "14", "--remote", folder]
        try place.succeed(["sync", place.path("a.db")] + more + own + secret)
        let theirs = ["--passphrase-file", place.secret("b")] + secret
        let late = ["sync", place.path("b.db"), "--remote", folder]
        #expect(try place.run(late + theirs).status == 3)
        let refused = try place.run(late + ["--create-tables"] + theirs)
        #expect(refused.status == 64 && refused.errors.contains("init new.db --join dir:"))
        try place.succeed(["init", place.path("new.db"), "--join", folder] + own + secret)
        let from = ["--remote", place.path("new.db"), "--remote-passphrase-file", place.secret("a")]
        let made = try place.succeed(
            ["sync", place.path("b.db"), "--create-tables", "--passphrase-file", place.secret("b")] + from)
        #expect(made.errors.contains("made and tracked: city"))
        #expect(made.errors.contains("2 rows that waited found their place"), "\(made.errors)")
    }

    @Test func aRenamedTableIsShownByItsNameHereAndNotMadeAgain() throws {
        try place.makeReplica("b.db", "b", of: "a.db", "a")
        let queue = try place.open("a.db", "a")
        try queue.write { try $0.execute(sql: "ALTER TABLE person RENAME TO human") }
        try queue.close()
        let words = [place.path("b.db")] + both
        let shown = try place.succeed(["schema"] + words + ["--json"]).document()
        let table = try #require((shown["tables"] as? [[String: Any]])?.first)
        #expect(table["name"] as? String == "human" && table["name_here"] as? String == "person")
        #expect(table["here"] as? String == "same")
        let text = try place.succeed(["schema"] + words + ["person"])
        #expect(text.output.contains("this store calls table human person"))
        let sync = try place.succeed(["sync"] + words + ["--create-tables"])
        #expect(!sync.errors.contains("made and tracked"))
        #expect(try place.rows("b.db", "b").count == 3)
    }

    private func csv() throws -> String {
        let path = place.path("city.csv")
        try "name,size\nOslo,7\nRoma,9\n".write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }
}
