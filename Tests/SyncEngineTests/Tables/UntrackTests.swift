import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Tables that the user takes out of the synchronization, and those that come back.
@Suite struct UntrackTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func pair() throws -> (TestReplica, TestReplica) {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title, body) VALUES (?, 'one', 'first')", [key(1)])
        try a.execute("INSERT INTO note (id, title, body) VALUES (?, 'two', 'second')", [key(2)])
        return (a, try stores.clone(a, as: "b.db"))
    }

    private func titles(_ replica: TestReplica) throws -> String? {
        try replica.value("SELECT group_concat(title) FROM (SELECT title FROM note ORDER BY id)")
    }

    private func problems(_ replica: TestReplica) throws -> [String] {
        try replica.queue.read { try MetadataCheck.problems(of: $0, isDeep: true).map(\.message) }
    }

    @Test func nothingIsSentOrMergedAndTheRowsStay() throws {
        let (a, b) = try pair()
        try a.execute("UPDATE note SET title = 'before' WHERE title = 'one'")
        try a.synchronizer.untrack(["note"])
        try a.execute("UPDATE note SET title = 'TWO' WHERE title = 'two'")
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'own')", [key(9)])
        try b.execute("INSERT INTO note (id, title) VALUES (?, 'theirs')", [key(3)])
        try b.execute("INSERT INTO tag VALUES (?, 'red')", [UUID().uuidString])
        try a.sync(b)
        // What was written before is sent still.
        #expect(try titles(b) == "before,two,theirs")
        #expect(try titles(a) == "before,TWO,own")
        #expect(try a.value("SELECT count(*) FROM tag", as: Int.self) == 1)
        let status = try a.synchronizer.status()
        #expect(status.tables.map(\.name) == ["tag"])
        #expect(status.parkedCount == 0 && status.schemaRemarks.isEmpty)
        #expect(try problems(a).isEmpty && problems(b).isEmpty)
        // A second exchange finds the two equal in what they exchange.
        let second = try a.sync(b)
        #expect(second.pulled == nil && second.pushed == nil && second.divergence == nil)
    }

    @Test func whatOthersChangeGoesThroughToOthers() throws {
        let (a, b) = try pair()
        try a.synchronizer.untrack(["note"])
        try b.execute("UPDATE note SET title = 'theirs' WHERE title = 'one'")
        try a.sync(b)
        let c = try stores.clone(b, as: "c.db")
        try b.execute("INSERT INTO note (id, title) VALUES (?, 'three')", [key(3)])
        try a.sync(b)
        try a.sync(c)
        #expect(try titles(c) == "theirs,two,three")
        #expect(try titles(a) == "one,two")
    }

    @Test func trackedAgainEachSidesChangesAreMerged() throws {
        let (a, b) = try pair()
        for (number, title) in [(3, "three"), (4, "four")] as [(UInt8, String)] {
            try a.execute("INSERT INTO note (id, title) VALUES (?, ?)", [key(number), title])
        }
        try a.sync(b)
        try a.synchronizer.untrack(["note"])
        try a.execute("UPDATE note SET body = 'mine' WHERE title = 'one'")
        try a.execute("UPDATE note SET title = 'FOUR' WHERE title = 'four'")
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'own')", [key(9)])
        try b.execute("UPDATE note SET title = 'theirs' WHERE title = 'one'")
        try b.execute("UPDATE note SET title = 'vier' WHERE title = 'four'")
        try b.execute("DELETE FROM note WHERE title = 'two'")
        try b.execute("INSERT INTO note (id, title) VALUES (?, 'five')", [key(5)])
        try a.sync(b)
        try a.synchronizer.track(["note"])
        #expect(try titles(a) == "theirs,three,vier,five,own")
        #expect(try a.value("SELECT body FROM note WHERE title = 'theirs'") == "mine")
        // Only what both changed is a conflict.
        #expect(try a.conflicts() == ["0 \"FOUR\" \"newer\""])
        try a.sync(b)
        #expect(try a.state(["note"]) == b.state(["note"]))
        #expect(try titles(b) == "theirs,three,vier,five,own")
        #expect(try problems(a).isEmpty && problems(b).isEmpty)
        #expect(
            try a.value(
                "SELECT count(*) FROM sqlite_master WHERE name LIKE '\\_sync\\_dropped%' ESCAPE '\\'",
                as: Int.self) == 0)
    }

    @Test func trackedAgainUnchangedNothingIsWritten() throws {
        let (a, b) = try pair()
        try a.synchronizer.untrack(["note"])
        try a.synchronizer.track(["note"])
        let report = try a.sync(b)
        #expect(report.pushed == nil && report.pulled == nil)
        #expect(try a.state(["note"]) == b.state(["note"]))
    }

    @Test func aRowThatIsMissingComesBackAndADeletedOneThatWasEditedStays() throws {
        let (a, b) = try pair()
        try a.synchronizer.untrack(["note"])
        try a.execute("DELETE FROM note WHERE title = 'one'")
        try a.execute("UPDATE note SET body = 'edited' WHERE title = 'two'")
        try b.execute("DELETE FROM note WHERE title = 'two'")
        try a.sync(b)
        try a.synchronizer.track(["note"])
        #expect(try titles(a) == "one,two")
        try a.sync(b)
        #expect(try titles(b) == "one,two")
        #expect(try a.state(["note"]) == b.state(["note"]))
        #expect(try problems(a).isEmpty)
    }

    @Test func aDeletedRowThatSomethingRefersToStays() throws {
        let schema = """
            CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT);
            CREATE TABLE line (id BLOB PRIMARY KEY, note BLOB NOT NULL REFERENCES note (id));
            """
        let a = try stores.create(schema: schema, tables: ["note"])
        try a.execute("INSERT INTO note VALUES (?, 'one')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.synchronizer.untrack(["note"])
        try a.execute("INSERT INTO line VALUES (?, ?)", [key(8), key(1)])
        try b.execute("DELETE FROM note")
        try a.sync(b)
        try a.synchronizer.track(["note"])
        try a.sync(b)
        #expect(try titles(a) == "one")
        #expect(try titles(b) == "one")
    }

    @Test func columnsThatChangeMeanwhileAreFollowed() throws {
        let (a, b) = try pair()
        try a.synchronizer.untrack(["note"])
        try a.execute("ALTER TABLE note ADD COLUMN extra TEXT")
        try a.execute("UPDATE note SET extra = 'more' WHERE title = 'one'")
        try b.execute("UPDATE note SET title = 'theirs' WHERE title = 'one'")
        try a.sync(b)
        try b.execute("ALTER TABLE note ADD COLUMN extra TEXT")
        try a.synchronizer.track(["note"])
        try a.sync(b)
        #expect(
            try b.value("SELECT title || extra FROM note WHERE id = x'01010101010101010101010101010101'")
                == "theirsmore")
        #expect(try a.dump(["note"]) == b.dump(["note"]))
    }

    @Test func aDeletedRowGoesWhereAColumnCameUnlessThatWasWritten() throws {
        let (a, b) = try pair()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'three')", [key(3)])
        try a.sync(b)
        try a.synchronizer.untrack(["note"])
        try b.execute("DELETE FROM note")
        try a.sync(b)
        try a.execute("ALTER TABLE note ADD COLUMN extra TEXT COLLATE NOCASE DEFAULT 'none'")
        try a.execute("ALTER TABLE note ADD COLUMN rank INTEGER DEFAULT '7'")
        // The column takes this for its default where it compares; a peer would not.
        try a.execute("UPDATE note SET extra = 'None' WHERE title = 'two'")
        try a.synchronizer.track(["note"])
        #expect(try titles(a) == "two")
        try a.sync(b)
        #expect(try titles(b) == "two")
        try b.execute("ALTER TABLE note ADD COLUMN extra TEXT COLLATE NOCASE DEFAULT 'none'")
        try b.execute("ALTER TABLE note ADD COLUMN rank INTEGER DEFAULT '7'")
        #expect(try b.value("SELECT extra FROM note") == "None")
        #expect(try a.dump(["note"]) == b.dump(["note"]))
        #expect(try problems(a).isEmpty && problems(b).isEmpty)
    }

    @Test func countersGoOn() throws {
        let (a, b) = try pair()
        try a.synchronizer.setPolicies([.counter("note", "stars")])
        try a.sync(b)
        try a.synchronizer.untrack(["note"])
        try a.execute("UPDATE note SET stars = stars + 3 WHERE title = 'one'")
        try b.execute("UPDATE note SET stars = stars + 4 WHERE title = 'two'")
        try a.sync(b)
        try a.synchronizer.track(["note"])
        try a.sync(b)
        try b.sync(a)
        #expect(try a.value("SELECT group_concat(stars) FROM (SELECT stars FROM note ORDER BY id)") == "3,4")
        #expect(try a.dump(["note"]) == b.dump(["note"]))
        #expect(try problems(a).isEmpty && problems(b).isEmpty)
    }

    @Test func onlyATrackedTableIsTakenOutAndAllOrNone() throws {
        let (a, _) = try pair()
        let error = try #require(throws: SyncError.self) {
            try a.synchronizer.untrack(["note", "nothing"])
        }
        #expect(error.code == .noSuchTable && error.message.contains("nothing"))
        #expect(try a.synchronizer.status().tables.count == 2)
        try a.synchronizer.untrack(["NOTE"])
        #expect(throws: SyncError.self) { try a.synchronizer.untrack(["note"]) }
    }

    @Test func aTableOfWhichSomeRowsAreHeldIsRefused() throws {
        let (a, b) = try pair()
        try a.synchronizer.setScope(
            .everything.rows(of: "note", where: "stars", in: [.integer(0)]),
            ofRemote: b.transport.name)
        try a.sync(b)
        let error = try #require(throws: SyncError.self) { try a.synchronizer.untrack(["note"]) }
        #expect(error.code == .unsuitableScope)
    }
}
