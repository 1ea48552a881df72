import CipherData
import Foundation
import Testing

/// What SQLiteData's sync engine refuses, and this one does.
@Suite(.timeLimit(.minutes(10))) struct RefusedBySQLiteDataTests {
    private let ids = (0..<9).map { "0000000\($0)-0000-4000-8000-000000000000" }

    @Test func aUniqueColumnKeepsOneOfTwoRowsOnBothSides() async throws {
        let pair = try SyncPair(
            "CREATE TABLE tag (id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE)", ["tag"])
        try pair.here.execute("INSERT INTO tag VALUES ('\(ids[1])', 'red')")
        try pair.there.execute("INSERT INTO tag VALUES ('\(ids[2])', 'red'), ('\(ids[3])', 'blue')")
        let rows = try await pair.settled("SELECT name FROM tag ORDER BY name")
        #expect(rows == ["blue", "red"])
    }

    @Test func aTableMayReferToItself() async throws {
        let pair = try SyncPair(
            "CREATE TABLE node (id TEXT PRIMARY KEY NOT NULL, parent TEXT REFERENCES node, name TEXT)",
            ["node"])
        try pair.here.execute(
            "INSERT INTO node VALUES ('\(ids[1])', NULL, 'root'), ('\(ids[2])', '\(ids[1])', 'leaf')")
        try pair.there.execute("INSERT INTO node VALUES ('\(ids[3])', NULL, 'other')")
        let rows = try await pair.settled(
            "SELECT node.name || coalesce('<' || p.name, '') FROM node LEFT JOIN node p ON p.id = node.parent ORDER BY 1"
        )
        #expect(rows == ["leaf<root", "other", "root"])
    }

    @Test func tablesMayReferToEachOther() async throws {
        let pair = try SyncPair(
            """
            CREATE TABLE team (id TEXT PRIMARY KEY NOT NULL, captain TEXT REFERENCES player DEFERRABLE INITIALLY DEFERRED);
            CREATE TABLE player (id TEXT PRIMARY KEY NOT NULL, team TEXT REFERENCES team DEFERRABLE INITIALLY DEFERRED)
            """, ["team", "player"])
        try pair.here.execute(
            "INSERT INTO team VALUES ('\(ids[1])', '\(ids[2])'); INSERT INTO player VALUES ('\(ids[2])', '\(ids[1])')"
        )
        let rows = try await pair.settled(
            "SELECT player.id FROM team JOIN player ON player.id = team.captain")
        #expect(rows == [ids[2]])
    }

    @Test func aRowThatIsReferredToUnderRestrictStays() async throws {
        let pair = try SyncPair(
            """
            CREATE TABLE list (id TEXT PRIMARY KEY NOT NULL, title TEXT);
            CREATE TABLE item (id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES list ON DELETE RESTRICT)
            """, ["list", "item"])
        try pair.here.execute("INSERT INTO list VALUES ('\(ids[1])', 'home')")
        _ = try await pair.settled("SELECT title FROM list")
        // One side deletes the list while the other one puts something into it.
        try pair.here.execute("DELETE FROM list")
        try pair.there.execute("INSERT INTO item VALUES ('\(ids[2])', '\(ids[1])')")
        let sql = "SELECT title FROM list UNION ALL SELECT id FROM item"
        let rows = try await pair.settled(sql)
        // Whichever it is, no item is without its list.
        #expect(rows == ["home", ids[2]] || rows.isEmpty)
    }

    @Test func severalForeignKeysMakeManyToMany() async throws {
        let pair = try SyncPair(
            """
            CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, text TEXT);
            CREATE TABLE tag (id TEXT PRIMARY KEY NOT NULL, name TEXT);
            CREATE TABLE noteTag (
                id TEXT PRIMARY KEY NOT NULL, note TEXT REFERENCES note ON DELETE CASCADE,
                tag TEXT REFERENCES tag ON DELETE CASCADE)
            """, ["note", "tag", "noteTag"])
        try pair.here.execute(
            "INSERT INTO note VALUES ('\(ids[1])', 'milk'); INSERT INTO tag VALUES ('\(ids[2])', 'shop')")
        _ = try await pair.settled("SELECT text FROM note")
        try pair.there.execute("INSERT INTO noteTag VALUES ('\(ids[3])', '\(ids[1])', '\(ids[2])')")
        let sql = "SELECT text || name FROM noteTag JOIN note ON note.id = note JOIN tag ON tag.id = tag"
        #expect(try await pair.settled(sql) == ["milkshop"])
        try pair.here.execute("DELETE FROM tag")
        #expect(try await pair.settled(sql).isEmpty)
    }

    @Test func aColumnMayBeRenamed() async throws {
        let pair = try SyncPair("CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, text TEXT)", ["note"])
        try pair.here.execute("INSERT INTO note VALUES ('\(ids[1])', 'milk')")
        _ = try await pair.settled("SELECT text FROM note")
        for database in [pair.here, pair.there] {
            try await database.write { db throws in
                try db.alter(table: "note") { $0.rename(column: "text", to: "body") }
            }
        }
        try pair.there.execute("UPDATE note SET body = 'tea'")
        #expect(try await pair.settled("SELECT body FROM note") == ["tea"])
    }
}
