import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Tables that were dropped and are made anew, while peers went on with theirs.
@Suite struct RemadeTableTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private static let anew = """
        CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT COLLATE NOCASE, body TEXT, stars INTEGER DEFAULT 0)
        """

    private func pair() throws -> (TestReplica, TestReplica) {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title, body) VALUES (?, 'one', 'first')", [key(1)])
        try a.execute("INSERT INTO note (id, title, body) VALUES (?, 'two', 'second')", [key(2)])
        return (a, try stores.clone(a, as: "b.db"))
    }

    private func drop(_ replica: TestReplica) throws {
        try replica.migrate("drop") { try $0.drop(table: "note") }
    }

    /// Makes the table again, with the former rows but for what is given.
    private func remake(
        _ replica: TestReplica, title: String = "one", body: String = "first", stars: Int = 0
    ) throws {
        try replica.migrate("anew") { try $0.execute(sql: Self.anew) }
        try replica.execute(
            "INSERT INTO note VALUES (?, ?, ?, ?), (?, 'two', 'second', 0)",
            [key(1), title, body, stars, key(2)])
    }

    private func titles(_ replica: TestReplica) throws -> String? {
        try replica.value("SELECT group_concat(title) FROM (SELECT title FROM note ORDER BY id)")
    }

    private func problems(_ replica: TestReplica) throws -> [String] {
        try replica.queue.read { try MetadataCheck.problems(of: $0, isDeep: true).map(\.message) }
    }

    @Test func whatPeersWroteSinceTheDropStands() throws {
        let (a, b) = try pair()
        try drop(a)
        try b.execute("UPDATE note SET title = 'theirs' WHERE title = 'one'")
        try a.sync(b)
        try remake(a, body: "FIRST")
        try a.synchronizer.track(["note"])
        #expect(try titles(a) == "theirs,two")
        #expect(try a.conflicts() == ["0 \"one\" \"newer\""])
        try a.sync(b)
        #expect(try titles(b) == "theirs,two")
        // What only the new table has goes out.
        #expect(try b.value("SELECT body FROM note WHERE title = 'theirs'") == "FIRST")
        #expect(try a.state(["note"]) == b.state(["note"]))
        #expect(try b.conflicts().isEmpty)
        #expect(try problems(a).isEmpty && problems(b).isEmpty)
        #expect(
            try a.value(
                "SELECT count(*) FROM sqlite_master WHERE name LIKE '\\_sync\\_dropped%' ESCAPE '\\'",
                as: Int.self) == 0)
    }

    @Test func anEditOfAPeerWinsAlsoWhenItComesAfterwards() throws {
        let (a, b) = try pair()
        try drop(a)
        try b.execute("UPDATE note SET title = 'theirs' WHERE title = 'one'")
        try remake(a, title: "ours")
        try a.synchronizer.track(["note"])
        #expect(try titles(a) == "ours,two")
        try a.sync(b)
        #expect(try titles(a) == "theirs,two")
        #expect(try a.conflicts() == ["0 \"ours\" \"newer\""])
        #expect(try a.state(["note"]) == b.state(["note"]))
    }

    @Test func aRowThatWasReplacedSinceTheDropStandsAsAWhole() throws {
        let (a, b) = try pair()
        try drop(a)
        try b.execute("DELETE FROM note WHERE title = 'one'")
        try b.execute("INSERT INTO note (id, title, body) VALUES (?, 'again', 'new')", [key(1)])
        try a.sync(b)
        try remake(a)
        try a.synchronizer.track(["note"])
        #expect(try titles(a) == "again,two")
        #expect(try a.conflicts() == ["0 \"one\" \"newer\"", "1 \"first\" \"newer\""])
        try a.sync(b)
        #expect(try titles(b) == "again,two")
        #expect(try a.state(["note"]) == b.state(["note"]))
    }

    @Test func countersKeepWhatPeersAdded() throws {
        let (a, b) = try pair()
        try a.synchronizer.setPolicies([.counter("note", "stars")])
        try a.sync(b)
        try drop(a)
        try b.execute("UPDATE note SET stars = stars + 4 WHERE title = 'two'")
        try a.sync(b)
        try remake(a, stars: 3)
        try a.synchronizer.track(["note"])
        #expect(try a.conflicts() == ["2 0 \"newer\""])
        try a.sync(b)
        for replica in [a, b] {
            #expect(
                try replica.value("SELECT group_concat(stars) FROM (SELECT stars FROM note ORDER BY id)")
                    == "3,4")
        }
        #expect(try problems(a).isEmpty && problems(b).isEmpty)
    }

    /// An older program noted nothing at the drop.
    @Test func withoutAListOfWhatWasKnownNothingKeptIsReplaced() throws {
        let (a, b) = try pair()
        try drop(a)
        try b.execute("UPDATE note SET title = 'theirs' WHERE title = 'one'")
        try a.sync(b)
        try a.changeUnobserved("DROP TABLE _sync_dropped_1_known")
        try remake(a, body: "FIRST")
        try a.synchronizer.track(["note"])
        #expect(try a.conflicts() == ["0 \"one\" \"newer\"", "1 \"FIRST\" \"newer\""])
        try a.sync(b)
        for replica in [a, b] {
            #expect(try replica.value("SELECT body FROM note WHERE title = 'theirs'") == "first")
        }
        #expect(try a.state(["note"]) == b.state(["note"]))
    }

    @Test func numbersThatWereGivenTwiceAreNotKnownAnyMore() throws {
        let (a, b) = try pair()
        try b.execute("UPDATE note SET title = 'theirs' WHERE title = 'one'")
        try a.sync(b)
        try drop(a)
        try a.peer.renewIdentity([Fork(replica: b.replica(), common: 0)])
        #expect(try a.value("SELECT count(*) FROM _sync_dropped_1_known", as: Int.self) == 2)
        #expect(
            try a.value(
                """
                SELECT count(*) FROM _sync_dropped_1_known AS n JOIN _sync_replica AS p ON p.sid = n.sid
                WHERE n.oseq > p.oseq
                """, as: Int.self) == 0)
    }
}
