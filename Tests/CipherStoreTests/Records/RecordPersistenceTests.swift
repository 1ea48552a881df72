import CipherStore
import Foundation
import Testing

private struct Player: Codable, FetchableRecord, MutablePersistableRecord, Equatable {
    var id: Int64?
    var name: String
    var score: Int?

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

private struct Note: Codable, FetchableRecord, MutablePersistableRecord, Equatable {
    var id: UUID?
    var title: String

    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.persistenceContainer["id"]
    }
}

/// A record that knows nothing of its table's key.
private struct Title: PersistableRecord {
    static let databaseTableName = "note"
    var title: String

    func encode(to container: inout PersistenceContainer) { container["title"] = title }
}

private struct Tracked: PersistableRecord {
    var id: UUID
    var title: String

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["title"] = title
    }
}

/// A record of a view that can be written.
private struct Visible: Codable, FetchableRecord, PersistableRecord, Equatable {
    var id: Int64
    var name: String
}

/// A source that knows the key of that view.
private struct ViewKeys: DatabaseSchemaSource {
    func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? { ["id"] }
}

/// Writes when a transaction has changed players.
private final class Auditor: TransactionObserver {
    private let sql: String
    private var isChanged = false

    init(_ sql: String) { self.sql = sql }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { eventKind.tableName == "player" }
    func databaseDidChange(with event: DatabaseEvent) { isChanged = true }
    func databaseDidRollback(_ db: Database) { isChanged = false }

    func databaseDidCommit(_ db: Database) {
        guard isChanged else { return }
        isChanged = false
        let sql = sql
        #expect(throws: Never.self) { try db.execute(sql: sql) }
    }
}

struct RecordPersistenceTests {
    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (
                        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, score INTEGER DEFAULT 1000);
                    CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT);
                    """)
        }
        return queue
    }

    @Test func recordsAreInsertedUpdatedSavedAndDeleted() throws {
        try makeQueue().write { db in
            var player = Player(id: nil, name: "Arthur", score: 1)
            try player.insert(db)
            #expect(player.id == 1)
            player.score = nil
            try player.update(db)
            let fetched = try Player.fetchOne(db, key: 1)
            #expect(fetched == player)
            let isChanged = try player.updateChanges(db) { $0.score = nil }
            #expect(!isChanged)
            let isDeleted = try player.delete(db)
            #expect(isDeleted)
            #expect(throws: RecordError.self) { try player.update(db) }
            try player.save(db)
            let count = try Player.fetchCount(db)
            #expect(count == 1)
        }
    }

    @Test func aRecordGetsANewKeyWhenItsUUIDIsNilOrLeftOut() throws {
        try makeQueue().write { db in
            var note = Note(id: nil, title: "Milk")
            try note.insert(db)
            let id = try #require(note.id)
            #expect(id.uuid.6 >> 4 == 7)
            let fetched = try Note.fetchOne(db, key: id)
            #expect(fetched == note)
            try Title(title: "Bread").insert(db)
            try Title(title: "Eggs").insert(db)
            let ids = try UUID.fetchSet(db, sql: "SELECT id FROM note")
            #expect(ids.count == 3)
        }
    }

    @Test func aPlanFollowsTheSchema() throws {
        try makeQueue().write { db in
            var player = Player(id: 7, name: "Arthur", score: 1)
            try player.insert(db)
            try db.execute(
                sql:
                    "DROP TABLE player; CREATE TABLE player (name TEXT PRIMARY KEY, id INTEGER, score INTEGER)"
            )
            try player.insert(db)
            player.id = 8
            try player.update(db)
            let id = try Int.fetchOne(db, sql: "SELECT id FROM player WHERE name = 'Arthur'")
            #expect(id == 8)
        }
    }

    @Test func recordsWhoseColumnsVaryAreInserted() throws {
        struct Varying: PersistableRecord {
            static let databaseTableName = "player"
            var name: String
            var hasScore: Bool

            func encode(to container: inout PersistenceContainer) {
                if hasScore { container["score"] = 5 }
                container["name"] = name
            }
        }
        try makeQueue().write { db in
            for index in 0..<6 { try Varying(name: "\(index)", hasScore: index % 2 == 0).insert(db) }
            let scores = try Int.fetchAll(db, sql: "SELECT score FROM player ORDER BY name")
            #expect(scores == [5, 1000, 5, 1000, 5, 1000])
        }
    }

    @Test func containersThatAreKeptDoNotChange() throws {
        final class Keeper { var containers: [PersistenceContainer] = [] }
        struct Kept: Encodable, PersistableRecord {
            static let databaseTableName = "player"
            var name: String
            let keeper = Keeper()
            enum CodingKeys: String, CodingKey { case name }
            func didInsert(_ inserted: InsertionSuccess) {
                keeper.containers.append(inserted.persistenceContainer)
            }
        }
        try makeQueue().write { db in
            let keeper = Keeper()
            for name in ["a", "b", "c"] {
                let record = Kept(name: name)
                try record.insert(db)
                keeper.containers += record.keeper.containers
            }
            let names = keeper.containers.map { $0["name"]?.databaseValue }
            #expect(names == ["a", "b", "c"].map(\.databaseValue))
        }
    }

    @Test func aFailingCaptureLeavesNoRow() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE tracked (id BLOB PRIMARY KEY NOT NULL, title TEXT UNIQUE);
                    CREATE TABLE log (title TEXT CHECK (title <> 'bad'));
                    CREATE TRIGGER _sync_i_1 AFTER INSERT ON tracked BEGIN
                        INSERT INTO log (title) VALUES (NEW.title);
                    END;
                    CREATE TRIGGER _sync_d_1 AFTER DELETE ON tracked BEGIN
                        INSERT INTO log (title) VALUES (OLD.title);
                    END;
                    """)
        }
        try queue.write { db in
            try Tracked(id: UUID(), title: "good").insert(db)
            try Tracked(id: UUID(), title: "better").insert(db)
            // A conflict of the row itself must not take the row that was there.
            #expect(throws: DatabaseError.self) { try Tracked(id: UUID(), title: "good").insert(db) }
            let titles = try String.fetchAll(db, sql: "SELECT title FROM tracked ORDER BY title")
            #expect(titles == ["better", "good"])
        }
        #expect(throws: DatabaseError.self) {
            try queue.write { db in
                for title in ["one", "two", "bad"] { try Tracked(id: UUID(), title: title).insert(db) }
            }
        }
        let log = try queue.read { try String.fetchAll($0, sql: "SELECT title FROM log") }
        #expect(log == ["good", "better"])
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM tracked") } == 2)
    }

    @Test(arguments: [true, false]) func recordsOfAWritableViewAreFetched(emulated: Bool) throws {
        guard emulated || EngineFeatures.current.supportsReturning else { return }
        var configuration = Configuration()
        configuration.schemaSource = ViewKeys()
        try DatabaseQueue(configuration: configuration).write { db in
            db.emulatesReturning = emulated
            try db.execute(
                sql: """
                    CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT, isHidden INTEGER DEFAULT 0);
                    CREATE VIEW visible AS SELECT id, name FROM thing WHERE NOT isHidden;
                    CREATE TRIGGER i INSTEAD OF INSERT ON visible BEGIN
                        INSERT INTO thing (id, name) VALUES (NEW.id, NEW.name);
                    END;
                    CREATE TRIGGER u INSTEAD OF UPDATE ON visible BEGIN
                        UPDATE thing SET name = NEW.name WHERE id = OLD.id;
                    END;
                    """)
            let inserted = try Visible(id: 1, name: "a").insertAndFetch(db)
            #expect(inserted == Visible(id: 1, name: "a"))
            let updated = try Visible(id: 1, name: "b").updateAndFetch(db)
            #expect(updated == Visible(id: 1, name: "b"))
            let saved = try Visible(id: 1, name: "c").saveAndFetch(db)
            #expect(saved == Visible(id: 1, name: "c"))
            let added = try Visible(id: 2, name: "d").saveAndFetch(db)
            #expect(added == Visible(id: 2, name: "d"))
            #expect(throws: RecordError.self) { try Visible(id: 9, name: "e").updateAndFetch(db) }
            let all = try Visible.orderByPrimaryKey().fetchAll(db)
            #expect(all == [saved, added])
        }
    }

    // MARK: Observers that write

    private static let audit = "CREATE TABLE audit (id INTEGER PRIMARY KEY); INSERT INTO audit VALUES (100)"

    @Test func aRecordGetsItsOwnRowIDWhateverObserversInsert() throws {
        try makeQueue().inDatabase { db in
            try db.execute(sql: Self.audit)
            db.add(
                transactionObserver: Auditor("INSERT INTO audit DEFAULT VALUES"), extent: .databaseLifetime)
            var player = Player(id: nil, name: "Arthur", score: 1)
            try player.insert(db)
            #expect(player.id == 1)
            db.afterNextTransaction { db in try? db.execute(sql: "INSERT INTO audit VALUES (200)") }
            var second = Player(id: nil, name: "Barbara", score: 2)
            try second.insert(db)
            #expect(second.id == 2)
            // What came before is forgotten.
            try db.inTransaction {
                var third = Player(id: nil, name: "Craig", score: 3)
                try third.insert(db)
                #expect(third.id == 3)
                return .commit
            }
            let fetched = try Player(id: nil, name: "Diane", score: 4).insertAndFetch(db)
            #expect(fetched.id == 4)
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM audit")
            #expect(count == 6)
        }
    }

    @Test func aRecordIsFoundWhateverObserversFind() throws {
        try makeQueue().inDatabase { db in
            try db.execute(sql: Self.audit + "; INSERT INTO player VALUES (1, 'Arthur', 1)")
            db.add(
                transactionObserver: Auditor("DELETE FROM audit WHERE id = 1"), extent: .databaseLifetime)
            let player = Player(id: 1, name: "Arthur", score: 2)
            try player.update(db)
            let updated = try player.updateAndFetch(db)
            #expect(updated == player)
            let count = try Player.filter(Column("id") == 1).updateAll(db, [Column("score").set(to: 3)])
            #expect(count == 1)
            let isDeleted = try player.delete(db)
            #expect(isDeleted)
        }
    }

    @Test func aRecordIsMissingWhateverObserversChange() throws {
        try makeQueue().inDatabase { db in
            try db.execute(sql: Self.audit)
            db.afterNextTransaction { db in try? db.execute(sql: "UPDATE audit SET id = id + 1") }
            let player = Player(id: 1, name: "Arthur", score: 2)
            #expect(throws: RecordError.self) { try player.update(db) }
        }
    }
}
