import Foundation
import Testing

@testable import CipherStore

/// Statements that are older than what observes them, and that SQLite prepares again in a run that changes nothing.
@Suite struct HeldStatementTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isInMemory: true) }

    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: folder.file("a.db"))
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, score INTEGER UNIQUE, level INTEGER);
                    INSERT INTO player VALUES (1, 1, 1), (2, 2, 2);
                    CREATE TABLE team (id INTEGER PRIMARY KEY, total INTEGER);
                    INSERT INTO team VALUES (1, 0);
                    """)
        }
        return queue
    }

    /// Observes some columns, and counts the rows that have changed there.
    private final class Counter: TransactionObserver {
        var count = 0
        private let region: DatabaseRegion

        init(_ region: DatabaseRegion) { self.region = region }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
            region.isModified(byEventsOfKind: eventKind)
        }
        func databaseDidChange(with event: DatabaseEvent) { count += 1 }
        func databaseDidCommit(_ db: Database) {}
        func databaseDidRollback(_ db: Database) {}
    }

    private func counter(_ db: Database, _ sql: String) throws -> Counter {
        let counter = Counter(try db.makeStatement(sql: sql).databaseRegion)
        db.add(transactionObserver: counter)
        return counter
    }

    @Test func anUpdateIsSeenAfterOneThatHasFoundNoRow() throws {
        try makeQueue().inDatabase { db in
            let statement = try db.makeStatement(sql: "UPDATE player SET score = ? WHERE id = ?")
            let scores = try counter(db, "SELECT id, score FROM player")
            let levels = try counter(db, "SELECT level FROM player")
            try statement.execute(arguments: [9, 100])
            #expect(scores.count == 0)
            for score in [10, 11] { try statement.execute(arguments: [score, 1]) }
            #expect(scores.count == 2)
            #expect(levels.count == 0)
        }
    }

    @Test func anUpdateIsSeenAfterOneThatHasFailed() throws {
        try makeQueue().inDatabase { db in
            let statement = try db.makeStatement(sql: "UPDATE player SET score = ? WHERE id = ?")
            let scores = try counter(db, "SELECT id, score FROM player")
            let levels = try counter(db, "SELECT level FROM player")
            #expect(throws: DatabaseError.self) { try statement.execute(arguments: [2, 1]) }
            try statement.execute(arguments: [10, 1])
            #expect(scores.count == 1)
            #expect(levels.count == 0)
        }
    }

    @Test func anUpdateIsSeenAfterOneThatWasLockedOut() throws {
        let queue = try makeQueue()
        let other = try DatabaseQueue(path: folder.file("a.db"))
        try queue.inDatabase { db in
            let statement = try db.makeStatement(sql: "UPDATE player SET score = ? WHERE id = ?")
            let scores = try counter(db, "SELECT id, score FROM player")
            try other.inDatabase { other in
                try other.inTransaction(.immediate) {
                    let error = #expect(throws: DatabaseError.self) {
                        try statement.execute(arguments: [9, 1])
                    }
                    #expect(error?.resultCode == .SQLITE_BUSY)
                    return .commit
                }
            }
            try statement.execute(arguments: [10, 1])
            #expect(scores.count == 1)
        }
        try other.close()
    }

    @Test func whatATriggerUpdatesThatIsNewerThanTheStatementIsSeen() throws {
        try makeQueue().inDatabase { db in
            let totals = try counter(db, "SELECT id, total FROM team")
            let statement = try db.makeStatement(sql: "UPDATE player SET score = ? WHERE id = ?")
            try statement.execute(arguments: [10, 1])
            #expect(totals.count == 0)
            try db.execute(
                sql: """
                    CREATE TRIGGER count AFTER UPDATE ON player BEGIN
                        UPDATE team SET total = total + 1;
                    END
                    """)
            try statement.execute(arguments: [11, 100])
            #expect(totals.count == 0)
            try statement.execute(arguments: [12, 1])
            #expect(totals.count == 1)
        }
    }
}
