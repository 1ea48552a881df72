import CipherStore
import Foundation
import Testing

/// `syncctl conflicts`, done with the binary.
@Suite struct ConflictsCommandTests {
    let place: Workplace

    init() throws { place = try Workplace() }

    private func own(_ name: String) -> [String] { ["--passphrase-file", place.secret(name)] }

    private func execute(_ store: String, _ name: String, _ sql: String) throws {
        let queue = try place.open(store, name)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// Two stores of which the first has four conflicts: two of a row, two of a row that was deleted.
    private func makeConflicts() throws {
        try place.succeed(["init", place.path("a.db")] + own("a"))
        try execute(
            "a.db", "a",
            """
            CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT NOT NULL, body TEXT, stars INTEGER);
            INSERT INTO note VALUES (x'01a1fc3019707403a39505f0ed4716e1', 'Groceries', 'milk', 1);
            INSERT INTO note VALUES (x'01a1fc3019707403a39505f0ed4716e2', 'Holidays', 'sea', 2);
            """)
        try place.succeed(["track", place.path("a.db"), "note"] + own("a"))
        try place.succeed(
            [
                "init", place.path("b.db"), "--clone", place.path("a.db"), "--clone-passphrase-file",
                place.secret("a"),
            ]
                + own("b"))
        try execute("a.db", "a", "UPDATE note SET body = body || ' of a', stars = stars + 10")
        // The last writer is the same in every run.
        Thread.sleep(forTimeInterval: 0.01)
        try execute(
            "b.db", "b",
            "UPDATE note SET body = 'of b', stars = 5; DELETE FROM note WHERE title = 'Holidays'")
        let result = try place.succeed(
            [
                "sync", place.path("a.db"), "--json", "--remote", place.path("b.db"),
                "--remote-passphrase-file", place.secret("b"),
            ]
                + own("a"))
        #expect(try result.document()["conflicts"] as? Int == 4)
    }

    private func conflicts(_ arguments: [String]) throws -> [[String: Any]] {
        let result = try place.succeed(
            ["conflicts", "list", place.path("a.db"), "--json"] + arguments + own("a"))
        return try #require(try result.document()["conflicts"] as? [[String: Any]])
    }

    @Test func conflictsAreListedShownAndResolved() throws {
        try makeConflicts()
        let list = try place.succeed(["conflicts", place.path("a.db")] + own("a"))
        let lines = list.output.split(separator: "\n")
        #expect(lines.count == 4, "a deleted row is one line")
        #expect(lines.last?.contains(#"body "sea of a", stars 12"#) == true)
        #expect(lines.last?.contains("row deleted: ") == true)
        #expect(list.errors.contains("--keep, or --restore"))
        let deleted = try #require(
            try conflicts([]).first {
                $0["reason"] as? String == "deleted" && $0["column"] as? String == "body"
            })
        #expect(deleted["lost"] as? String == "sea of a")
        #expect(deleted["written_here"] as? Bool == true)
        let id = "\(try #require(deleted["id"] as? Int))"
        let shown = try place.succeed(["conflicts", "show", place.path("a.db"), id] + own("a"))
        #expect(shown.output.contains("the row is not here"))
        #expect(shown.output.contains(#"title "Holidays""#))
        let document = try place.succeed(["conflicts", "show", place.path("a.db"), id, "--json"] + own("a"))
            .document()
        #expect(document["row_exists"] as? Bool == false)
        let restored = try place.succeed(
            ["conflicts", "resolve", place.path("a.db"), id, "--restore"] + own("a"))
        #expect(restored.output == "2 conflicts closed, 3 values restored, 1 deleted row inserted again\n")
        let kept = try place.succeed(
            ["conflicts", "resolve", place.path("a.db"), "--all", "--table", "note", "--keep"] + own("a"))
        #expect(kept.output == "2 conflicts closed, nothing else changed\n")
        #expect(try conflicts([]).isEmpty)
        #expect(try conflicts(["--resolved"]).count == 4)
        let queue = try place.open("a.db", "a")
        let rows = try queue.read {
            try String.fetchAll($0, sql: "SELECT title || body || stars FROM note ORDER BY title")
        }
        #expect(rows == ["Groceriesof b5", "Holidayssea of a12"])
    }

    @Test func aValueThatIsThereAgainIsToldOfAConflictThatIsOpen() throws {
        try makeConflicts()
        let lost = try #require(
            try conflicts([]).first {
                $0["reason"] as? String == "newer" && $0["column"] as? String == "body"
            })
        let id = "\(try #require(lost["id"] as? Int))"
        let show = ["conflicts", "show", place.path("a.db"), id] + own("a")
        #expect(try !place.succeed(show).output.contains("there again"))
        try execute("a.db", "a", "UPDATE note SET body = 'milk of a' WHERE title = 'Groceries'")
        let shown = try place.succeed(show).output
        #expect(shown.contains("there again; close it with: syncctl conflicts resolve"), "\(shown)")
        #expect(shown.contains("\(id) --keep"))
    }

    @Test func aColumnIsMadeACounterAndCounts() throws {
        try makeConflicts()
        let wrong = try place.run(["track", place.path("a.db"), "note", "--counter", "stars"] + own("a"))
        #expect(wrong.status == 64)
        let missing = try place.run(
            ["track", place.path("a.db"), "note", "--counter", "note.nope"] + own("a"))
        #expect(missing.status == 1)
        #expect(missing.errors.contains("has no column nope"))
        let track = try place.succeed(
            ["track", place.path("a.db"), "note", "--counter", "note.stars"] + own("a"))
        #expect(track.output == "tracking note  (1 row)  counting in stars\n")
        let sync =
            [
                "sync", place.path("a.db"), "--remote", place.path("b.db"), "--remote-passphrase-file",
                place.secret("b"),
            ]
            + own("a")
        try execute("a.db", "a", "UPDATE note SET stars = stars + 1")
        try place.succeed(sync)
        try execute("a.db", "a", "UPDATE note SET stars = stars + 1")
        try execute("b.db", "b", "UPDATE note SET stars = stars + 1")
        try place.succeed(sync)
        for name in ["a", "b"] {
            let queue = try place.open("\(name).db", name)
            #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT stars FROM note") } == 8)
            try queue.close()
        }
        let again = try place.succeed(["track", place.path("b.db"), "note", "--json"] + own("b"))
        #expect(try again.document()["counters"] as? [String] == ["note.stars"])
    }

    @Test func theGreatestAndTheSmallestValueOfColumnsStand() throws {
        try makeConflicts()
        let wrong = try place.run(["track", place.path("a.db"), "note", "--max", "stars"] + own("a"))
        #expect(wrong.status == 64)
        #expect(wrong.errors.contains("--max takes a table and a column"))
        let track = try place.succeed(
            ["track", place.path("a.db"), "note", "--max", "note.stars", "--min", "note.body"] + own("a"))
        #expect(track.output == "tracking note  (1 row)  greatest of stars  smallest of body\n")
        let again = try place.succeed(["track", place.path("a.db"), "note", "--json"] + own("a"))
        #expect(try again.document()["max"] as? [String] == ["note.stars"])
        #expect(try again.document()["min"] as? [String] == ["note.body"])
        #expect(try again.document()["counters"] as? [String] == [])
    }

    @Test func whatCannotBeIsRefusedAndChangesNothing() throws {
        try makeConflicts()
        let before = try conflicts(["--resolved"]).count
        for (arguments, status) in [
            (["resolve", place.path("a.db"), "1"], 64), (["resolve", place.path("a.db"), "--keep"], 64),
            (["resolve", place.path("a.db"), "1", "--keep", "--restore"], 64),
            (["resolve", place.path("a.db"), "1", "--all", "--keep"], 64),
            (["resolve", place.path("a.db"), "x", "--keep"], 64),
            (["resolve", place.path("a.db"), "4711", "--keep"], 1),
            (["show", place.path("a.db"), "4711"], 1), (["list", place.path("a.db"), "--table", "nope"], 1),
            (["list", place.path("a.db"), "--limit", "0"], 64), (["list", place.path("none.db")], 10),
        ] as [([String], Int32)] {
            let result = try place.run(["conflicts"] + arguments + own("a"))
            #expect(result.status == status, "\(arguments): \(result.errors)")
            #expect(result.output.isEmpty)
        }
        #expect(try conflicts([]).count == before)
    }
}
