import Testing

@testable import CipherStore

/// Changes of the schema, and observers, of requests whose statements are kept.
@Suite struct ObservedRequestTests {
    private struct Player: Codable, FetchableRecord, PersistableRecord, Equatable {
        var id: Int64
        var name: String
    }

    private struct Member: Codable, FetchableRecord, PersistableRecord {
        static let player = belongsTo(Player.self, using: ForeignKey(["playerID"], to: ["id"]))
        var team: String
        var playerID: Int64
    }

    private let folder: TemporaryFolder
    private let queue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        queue = try DatabaseQueue(path: folder.file("players.db"))
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                    INSERT INTO player VALUES (1, 'Arthur'), (2, 'Barbara');
                    CREATE TABLE other (name TEXT);
                    CREATE VIEW shown AS SELECT name FROM player;
                    CREATE TABLE member (team TEXT, playerID INTEGER);
                    INSERT INTO member VALUES ('red', 2)
                    """)
        }
    }

    /// Another connection to the same file.
    private func makeOther() throws -> DatabaseQueue { try DatabaseQueue(path: folder.file("players.db")) }

    // MARK: The schema

    // MARK: Observation

    @Test func whoObservesLaterIsToldOfTheChangesOfRequests() throws {
        final class Observer: TransactionObserver {
            var events: [DatabaseEvent.Kind] = []
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
            func databaseDidChange(with event: DatabaseEvent) { events.append(event.kind) }
            func databaseDidCommit(_ db: Database) {}
            func databaseDidRollback(_ db: Database) {}
        }
        let observer = Observer()
        try queue.inDatabase { db in
            func change(_ id: Int64) throws {
                try Player(id: id, name: "x").insert(db)
                #expect(try Player.filter(key: id).updateAll(db, Column("name").set(to: "y")) == 1)
                #expect(try Player.filter(key: id).deleteAll(db) == 1)
            }
            for id in 3...6 { try change(Int64(id)) }
            db.add(transactionObserver: observer)
            try change(7)
            #expect(try Player.deleteAll(db) == 2)
        }
        #expect(observer.events == [.insert, .update, .delete, .delete, .delete])
    }
}
