import CipherStore
import Foundation
import Testing

/// `log` finds changes by table, row, replica and time, and shows the values that are still known.
@Suite struct LogCommandTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeStore("a.db", "a", rows: 0..<3)
        let queue = try place.open("a.db", "a")
        try queue.write { db in
            try db.execute(sql: "UPDATE person SET name = 'new' WHERE stars = 1")
            try db.execute(sql: "DELETE FROM person WHERE stars = 2")
        }
        try queue.close()
    }

    private func changes(_ arguments: String...) throws -> [[String: Any]] {
        let result = try place.succeed(
            ["log", place.path("a.db"), "--json", "--passphrase-file", place.secret("a")] + arguments)
        return try #require(try result.document()["changes"] as? [[String: Any]])
    }

    @Test func valuesAreShownAtTheNewestChangeOfEachColumn() throws {
        let changes = try changes()
        #expect(
            changes.map { $0["operation"] as? String } == ["delete", "update", "insert", "insert", "insert"])
        let values = changes.map { $0["values"] as? [String: Any] ?? [:] }
        #expect(values[0].isEmpty && values[1]["name"] as? String == "new" && values[1].count == 1)
        let key = changes[1]["key"] as? String
        let inserted = changes.firstIndex {
            $0["operation"] as? String == "insert" && $0["key"] as? String == key
        }
        let first = values[try #require(inserted)]
        #expect(first["stars"] as? Int == 1 && first["name"] == nil)
        let deleted = changes[0]["key"] as? String
        let lost = changes.indices.filter { changes[$0]["key"] as? String == deleted }
        #expect(lost.count == 2 && lost.allSatisfy { values[$0].isEmpty })
    }

    @Test func changesAreFound() throws {
        let key = try #require(try changes()[1]["key"] as? String)
        #expect(try changes("--row", key).count == 2)
        #expect(try changes("--row", key.uppercased(), "--limit", "1").count == 1)
        #expect(try changes("--table", "PERSON").count == 5)
        #expect(try changes("--by", "here").count == 5)
        #expect(try changes("--since", "1h").count == 5 && changes("--since", "2999-01-01").isEmpty)
    }

    @Test func aRowIsFoundByTheBeginningOfItsKey() throws {
        let key = try #require(try changes()[1]["key"] as? String)
        let found = try changes("--row", String(key.dropLast()).uppercased())
        #expect(found.filter { $0["key"] as? String == key }.count == 2)
        let words = ["log", place.path("a.db"), "--passphrase-file", place.secret("a"), "--row"]
        let unknown = try place.run(words + ["abc-no-key"])
        #expect(unknown.status == 1 && unknown.errors.contains("begins with abc-no-key"), "\(unknown.errors)")
        let late = try place.run(words + ["abc-no-key", "--since", "2999-01-01"])
        #expect(late.status == 1 && late.errors.contains("begins with abc-no-key"), "\(late.errors)")
        let filtered = try place.succeed(words + [key, "--since", "2999-01-01"])
        #expect(filtered.output == "no changes\n")
        #expect(
            try place.succeed(words + [key, "--by", "here", "--since", "2999-01-01"]).output == "no changes\n"
        )
    }

    @Test func aTableThatIsNotKnownIsNoTableWithoutChanges() throws {
        let words = ["log", place.path("a.db"), "--passphrase-file", place.secret("a"), "--table"]
        let unknown = try place.run(words + ["nope"])
        #expect(unknown.status == 1 && unknown.errors.contains("no table nope is tracked"))
        #expect(unknown.errors.contains("tracked are: person"), "\(unknown.errors)")
        let filtered = try place.succeed(words + ["person", "--since", "2999-01-01"])
        #expect(filtered.output == "no changes\n")
        // One that is not tracked any more has its history.
        try place.succeed(["untrack", place.path("a.db"), "person", "--passphrase-file", place.secret("a")])
        #expect(try !place.succeed(words + ["person"]).output.contains("no changes"))
        #expect(try place.succeed(words + ["person", "--since", "2999-01-01"]).output == "no changes\n")
    }

    @Test func aReplicaThatIsNotKnownIsNoReplicaWithoutChanges() throws {
        let own = ["--passphrase-file", place.secret("a")]
        let unknown = try place.run(["log", place.path("a.db"), "--by", "zz"] + own)
        #expect(unknown.status == 1 && unknown.errors.contains("begins with zz"), "\(unknown.errors)")
        #expect(unknown.errors.contains("syncctl replica list"), "\(unknown.errors)")
        // One that has written nothing.
        try place.makeReplica("b.db", "b", of: "a.db", "a")
        let words = ["log", place.path("b.db"), "--passphrase-file", place.secret("b"), "--by"]
        let list = try place.succeed(
            ["replica", "list", place.path("b.db"), "--json", "--passphrase-file", place.secret("b")])
        let replicas = try #require(list.document()["replicas"] as? [[String: Any]])
        let here = try #require(replicas.first { $0["local"] as? Bool == true }?["replica"] as? String)
        for by in ["here", String(here.prefix(6)).uppercased()] {
            #expect(try place.succeed(words + [by]).output == "no changes\n")
        }
    }

    @Test(arguments: ["yesterday", "2026-13-01", "2026-02-30", "7", "-1h", "2026-11-21T25:00"])
    func whatIsNoTimeIsRefused(text: String) throws {
        let result = try place.run(
            ["log", place.path("a.db"), "--since=\(text)", "--passphrase-file", place.secret("a")])
        #expect(result.status == 64)
    }
}
