import CipherStore
import Foundation
import Testing

private struct Word: Codable, FetchableRecord, PersistableRecord, Equatable {
    var text: String
    var kind: String?
    var count: Int?

    func encode(to container: inout PersistenceContainer) {
        container["text"] = text
        container["kind"] = kind
    }
}

private struct Player: Codable, FetchableRecord, MutablePersistableRecord, Equatable {
    var id: Int64?
    var name: String
    var score: Int
    var best: Int?

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

private struct Pair: Codable, FetchableRecord, PersistableRecord, Equatable {
    var a: Int
    var b: Int
    var value: String
}

/// Upserts and `RETURNING` that are done by other statements, against those that the engine does.
struct RecordEmulationTests {

    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE word (text TEXT PRIMARY KEY COLLATE NOCASE, kind TEXT DEFAULT 'noun', count INTEGER DEFAULT 1);
                    INSERT INTO word (text, kind, count) VALUES ('Jovial', 'adjective', 5);
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
                        score INTEGER NOT NULL CHECK (score >= 0), best INTEGER DEFAULT 7);
                    INSERT INTO player VALUES (1, 'Arthur', 10, 20), (2, 'Barbara', 30, 40);
                    CREATE TABLE pair (a INTEGER, b INTEGER, value TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
                    INSERT INTO pair VALUES (1, 1, 'one');
                    """)
        }
        return queue
    }

    private var operations: [(String, (Database) throws -> String)] {
        let excludedCount: (TableAlias<Word>) -> [ColumnAssignment] = { _ in
            [Column("count").set(to: Column("count") + 1)]
        }
        return [
            ("insertAndFetch", { "\(try Word(text: "new", kind: nil).insertAndFetch($0))" }),
            ("insertAndFetch conflict", { "\(try Word(text: "jovial").insertAndFetch($0))" }),
            (
                "insertAndFetch ignored",
                {
                    "\(try Word(text: "JOVIAL").insertAndFetch($0, onConflict: .ignore))"
                }
            ),
            (
                "insertAndFetch replaced",
                {
                    "\(try Word(text: "JOVIAL").insertAndFetch($0, onConflict: .replace))"
                }
            ),
            (
                "insertAndFetch selection",
                { db in
                    let kind = try Word(text: "new").insertAndFetch(db, selection: [Column("kind")]) {
                        try String.fetchOne($0)
                    }
                    return "\(kind as Any)"
                }
            ),
            ("updateAndFetch", { "\(try Word(text: "jovial", kind: "x").updateAndFetch($0))" }),
            ("updateAndFetch missing", { "\(try Word(text: "none", kind: "x").updateAndFetch($0))" }),
            (
                "updateChangesAndFetch",
                { db in
                    var player = try Player.find(db, key: 1)
                    let updated = try player.updateChangesAndFetch(db) { $0.score = 11 }
                    return "\(updated as Any)"
                }
            ),
            (
                "saveAndFetch",
                { db in
                    let player = Player(id: 9, name: "Craig", score: 1)
                    return "\(try player.saveAndFetch(db)) \(player)"
                }
            ),
            (
                "upsert new",
                { db in
                    var player = Player(id: nil, name: "Craig", score: 1)
                    try player.upsert(db)
                    return "\(player)"
                }
            ),
            (
                "upsert by name",
                { db in
                    var player = Player(id: nil, name: "Arthur", score: 1)
                    try player.upsert(db)
                    return "\(player)"
                }
            ),
            (
                "upsert by id",
                { db in
                    var player = Player(id: 2, name: "Craig", score: 1)
                    try player.upsert(db)
                    return "\(player)"
                }
            ),
            (
                "upsert of two rows",
                { db in
                    var player = Player(id: 1, name: "Barbara", score: 1)
                    try player.upsert(db)
                    return "\(player)"
                }
            ),
            (
                "upsert of a bad value",
                { db in
                    var player = Player(id: 1, name: "Barbara", score: -1)
                    try player.upsert(db)
                    return "\(player)"
                }
            ),
            ("upsertAndFetch", { "\(try Word(text: "jovial", kind: "x").upsertAndFetch($0))" }),
            (
                "upsertAndFetch target",
                {
                    "\(try Word(text: "jovial", kind: "x").upsertAndFetch($0, onConflict: ["text"], doUpdate: excludedCount))"
                }
            ),
            (
                "upsertAndFetch wrong target",
                {
                    "\(try Word(text: "jovial", kind: "x").upsertAndFetch($0, onConflict: ["kind"]))"
                }
            ),
            (
                "upsertAndFetch other target",
                { db in
                    var player = Player(id: 1, name: "New", score: 3)
                    return "\(try player.upsertAndFetch(db, onConflict: ["name"]))"
                }
            ),
            (
                "upsertAndFetch nothing",
                {
                    "\(try Word(text: "jovial", kind: "x").upsertAndFetch($0, updating: .noColumnUnlessSpecified))"
                }
            ),
            (
                "upsertAndFetch excluded",
                { db in
                    var player = Player(id: 1, name: "New", score: 100, best: 3)
                    let best = Column("best")
                    return
                        "\(try player.upsertAndFetch(db, doUpdate: { excluded in [best.set(to: max(best, excluded[best]))] }))"
                }
            ),
            ("upsertAndFetch without rowid", { "\(try Pair(a: 1, b: 1, value: "two").upsertAndFetch($0))" }),
            (
                "upsertAndFetch new, without rowid",
                { "\(try Pair(a: 1, b: 2, value: "two").upsertAndFetch($0))" }
            ),
            (
                "upsert without rowid",
                { db in
                    try Pair(a: 1, b: 1, value: "three").upsert(db)
                    return "ok"
                }
            ),
        ]
    }

    /// The result or the error, and what is in the tables afterwards.
    private func outcome(emulated: Bool, _ run: (Database) throws -> String) throws -> [String] {
        try makeQueue().write { db in
            db.emulatesReturning = emulated
            var lines: [String] = []
            do {
                lines.append(try run(db))
            } catch let error as DatabaseError {
                lines.append("\(error.extendedResultCode) \(error.message ?? "")")
            } catch {
                lines.append("\(error)")
            }
            for table in ["word", "player", "pair"] {
                lines += try Row.fetchAll(db, sql: "SELECT * FROM \(table) ORDER BY 1, 2").map(\.description)
            }
            return lines
        }
    }

    @Test func emulationDoesWhatTheEngineDoes() throws {
        for (name, run) in operations {
            let emulated = try outcome(emulated: true, run)
            guard EngineFeatures.current.supportsReturning else { continue }
            let native = try outcome(emulated: false, run)
            #expect(emulated == native, "\(name)")
        }
    }

    @Test func upsertsChangeWhatTheyShould() throws {
        let counted = try outcome(emulated: true) { db in
            "\(try Word(text: "jovial", kind: "x").upsertAndFetch(db, onConflict: ["text"], doUpdate: { _ in [Column("count").set(to: Column("count") + 1)] }))"
        }
        #expect(counted[0].contains("Jovial"))
        #expect(counted[0].contains("Optional(6)"))
        #expect(counted[1] == "[text:\"Jovial\" kind:\"x\" count:6]")
    }

    @Test func cursorsOfChangedRowsAreOnAllEngines() throws {
        try makeQueue().write { db in
            let players = Player.orderByPrimaryKey()
            let updated = try players.updateAndFetchCursor(db, [Column("score").set(to: Column("score") + 1)])
            let first = try updated.next()
            #expect(first == Player(id: 1, name: "Arthur", score: 11, best: 20))
            // Others meanwhile, one of which is not read before the next one is made.
            let waiting = try Pair.all().updateAndFetchCursor(db, [Column("value").set(to: "changed")])
            let again = try players.filter { _ in Column("id") == 1 }.updateAndFetchAll(
                db, [Column("best").set(to: nil)])
            #expect(again == [Player(id: 1, name: "Arthur", score: 11, best: nil)])
            let second = try updated.next()
            #expect(second == Player(id: 2, name: "Barbara", score: 31, best: 40))
            let end = try updated.next()
            #expect(end == nil)
            let pairs = try Array(waiting)
            #expect(pairs == [Pair(a: 1, b: 1, value: "changed")])
            let deleted = try Array(Player.all().deleteAndFetchCursor(db))
            #expect(Set(deleted.map(\.name)) == ["Arthur", "Barbara"])
            let rest = try Player.fetchCount(db)
            #expect(rest == 0)
        }
    }

    @Test func theTablesOfCursorsGo() throws {
        try makeQueue().write { db in
            func tables() throws -> Int? {
                try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_temp_master")
            }
            for _ in 0..<5 {
                _ = try Array(
                    Player.all().updateAndFetchCursor(db, [Column("score").set(to: Column("score") + 1)]))
            }
            // The last one's stays until the next change.
            let kept = try tables()
            #expect(kept.map { $0 <= 1 } == true)
            _ = try Player.all().updateAndFetchAll(db, [Column("score").set(to: Column("score") + 1)])
            let none = try tables()
            #expect(none == 0)
            #expect(throws: DatabaseError.self) {
                try Player.all().updateAndFetchCursor(db, [Column("score").set(to: -1)]).next()
            }
            let score = try Int.fetchOne(db, sql: "SELECT min(score) FROM player")
            #expect(score == 16)
        }
    }
}
