import CipherStore
import Testing

private struct Player: Codable, FetchableRecord, PersistableRecord, Equatable, Hashable {
    var id: Int
    var email: String
}

private struct Seat: Codable, FetchableRecord, PersistableRecord, Equatable {
    var hall: String
    var number: Int
    var guest: String
}

/// Changes that are to return rows, some of which a conflict or a trigger leaves as they are.
@Suite struct IgnoredChangeTests {
    private func makeQueue(_ additions: String = "") throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, email TEXT UNIQUE);
                    INSERT INTO player VALUES (1, 'a'), (2, 'b'), (3, 'c');
                    CREATE TABLE seat (hall TEXT, number INTEGER, guest TEXT UNIQUE ON CONFLICT IGNORE,
                        PRIMARY KEY (hall, number)) WITHOUT ROWID;
                    INSERT INTO seat VALUES ('A', 1, 'x'), ('A', 2, 'y'), ('B', 1, 'z');
                    \(additions)
                    """)
        }
        return queue
    }

    private func temporaryObjects(_ db: Database) throws -> Int? {
        try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_temp_master")
    }

    @Test func rowsThatAConflictLeavesAreNotReturnedAsUpdated() throws {
        try makeQueue().write { db in
            let email = [Column("email").set(to: "z")]
            let updated = try Player.all().updateAndFetchAll(db, onConflict: .ignore, email)
            #expect(updated.map(\.email) == ["z"])
            let present = try Player.filter { _ in Column("email") == "z" }.fetchAll(db)
            #expect(updated == present)
            let others = try Player.filter { _ in Column("email") != "z" }
                .updateAndFetchSet(db, onConflict: .ignore, email)
            #expect(others.isEmpty)
            let cursor = try Player.all().updateAndFetchCursor(
                db, onConflict: .ignore, [Column("email").set(to: "y")])
            let changed = try Array(cursor)
            #expect(changed.map(\.email) == ["y"])
        }
    }

    @Test func rowsThatTheTablesConflictClauseLeavesAreNotReturnedAsUpdated() throws {
        try makeQueue().write { db in
            let updated = try Seat.all().updateAndFetchAll(db, [Column("guest").set(to: "w")])
            #expect(updated.map(\.guest) == ["w"])
            let present = try Seat.filter { _ in Column("guest") == "w" }.fetchAll(db)
            #expect(updated == present)
            let left = try temporaryObjects(db)
            #expect(left == 0)
        }
    }

    @Test func rowsThatATriggerLeavesAreNotReturnedAsUpdated() throws {
        let guarding = """
            CREATE TRIGGER guardPlayer BEFORE UPDATE ON player WHEN OLD.id = 2 BEGIN SELECT RAISE(IGNORE); END;
            """
        try makeQueue(guarding).write { db in
            let same = [Column("email").set(to: Column("email") ?? "")]
            let updated = try Player.all().updateAndFetchAll(db, same)
            #expect(Set(updated.map(\.id)) == [1, 3])
            let left = try temporaryObjects(db)
            #expect(left == 0)
        }
    }

    @Test func observersAreToldOfTheAppsTablesOnly() throws {
        final class Observer: TransactionObserver {
            var tables: [String] = []
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
            func databaseDidChange(with event: DatabaseEvent) { tables.append(event.tableName) }
            func databaseDidCommit(_ db: Database) {}
            func databaseDidRollback(_ db: Database) {}
        }
        let observer = Observer()
        let queue = try makeQueue()
        queue.add(transactionObserver: observer)
        try queue.write { db in
            _ = try Player.all().updateAndFetchAll(db, onConflict: .ignore, [Column("email").set(to: "z")])
        }
        #expect(observer.tables.contains("player"))
        let own = observer.tables.filter { $0.hasPrefix("_") }
        #expect(own.isEmpty)
    }

    // MARK: Deletions

    private let guarding = """
        CREATE TRIGGER guardPlayer BEFORE DELETE ON player WHEN OLD.id = 2 BEGIN SELECT RAISE(IGNORE); END;
        CREATE TABLE log (id INTEGER);
        CREATE TRIGGER logPlayer AFTER DELETE ON player BEGIN INSERT INTO log VALUES (OLD.id); END;
        CREATE TRIGGER guardSeat BEFORE DELETE ON seat WHEN OLD.hall = 'A' BEGIN SELECT RAISE(IGNORE); END;
        """

    @Test func rowsThatATriggerLeavesAreNotReturnedAsDeleted() throws {
        try makeQueue(guarding).write { db in
            let deleted = try Player.all().deleteAndFetchAll(db)
            #expect(Set(deleted.map(\.id)) == [1, 3])
            let log = try Int.fetchAll(db, sql: "SELECT id FROM log ORDER BY id")
            #expect(log == [1, 3])
            let seats = try Seat.all().deleteAndFetchAll(db)
            #expect(seats == [Seat(hall: "B", number: 1, guest: "z")])
            let none = try Seat.all().deleteAndFetchAll(db)
            #expect(none.isEmpty)
            let counts = try [Player.fetchCount(db), Seat.fetchCount(db)]
            #expect(counts == [1, 2])
            let left = try temporaryObjects(db)
            #expect(left == 0)
        }
    }

    @Test func theFirstRowsAreDeletedButForThoseThatATriggerLeaves() throws {
        try makeQueue(guarding).write { db in
            let deleted = try Player.order(Column("id")).limit(2).deleteAndFetchAll(db)
            #expect(deleted.map(\.id) == [1])
            let rest = try Int.fetchAll(db, sql: "SELECT id FROM player ORDER BY id")
            #expect(rest == [2, 3])
            let cursor = try Player.all().deleteAndFetchCursor(db)
            let last = try Array(cursor)
            #expect(last.map(\.id) == [3])
        }
    }
}
