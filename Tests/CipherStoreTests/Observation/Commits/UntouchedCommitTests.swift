import Foundation
import Testing

@testable import CipherStore

/// Commits beside observers whom they do not concern, and the changes that concern some.
@Suite struct UntouchedCommitTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: "CREATE TABLE t (a INTEGER); CREATE TABLE u (a INTEGER); CREATE TABLE v (a INTEGER)")
        }
    }

    /// Observes the changes of some tables, and writes down the tables that have changed at each commit.
    private final class Recorder: TransactionObserver {
        var log: [String] = []
        private var events: [String] = []
        private let tables: Set<String>

        init(_ tables: Set<String>) { self.tables = tables }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
            tables.contains(eventKind.tableName)
        }
        func databaseDidChange(with event: DatabaseEvent) {
            events.append("\(event.kind) \(event.tableName) \(event.rowID)")
        }
        func databaseDidCommit(_ db: Database) {
            log += events
            events = []
        }
        func databaseDidRollback(_ db: Database) { events = [] }

        func take() -> [String] {
            defer { log = [] }
            return log
        }
    }

    private func count(_ table: String, _ counter: LockedBox<Int>) -> AnyDatabaseCancellable {
        DatabaseRegionObservation(tracking: DatabaseRegion(table: table)).start(
            in: queue, onError: { Issue.record($0) }, onChange: { _ in counter.change { $0 += 1 } })
    }

    // MARK: Statements

    @Test(arguments: [
        ("SELECT a FROM t", false), ("select 1", false), ("WITH x AS (SELECT 1) SELECT * FROM x", false),
        ("VALUES (1)", false), ("EXPLAIN QUERY PLAN SELECT a FROM t", false), ("BEGIN", false),
        ("BEGIN IMMEDIATE", false), ("COMMIT", false), ("END", false), ("PRAGMA schema_version", false),
        ("SAVEPOINT s", true), ("savepoint s", true), ("RELEASE s", true), ("ROLLBACK", true),
        ("ROLLBACK TO s", true), ("INSERT INTO t VALUES (1)", true), ("REPLACE INTO t VALUES (1)", true),
        ("UPDATE t SET a = 1", true), ("DELETE FROM t", true), ("CREATE TABLE x (a)", true),
        ("DROP TABLE t", true),
        ("WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x", true), ("/* SELECT */ SAVEPOINT s", true),
        ("-- SELECT\nRELEASE s", true),
    ])
    func observersFollowWhatCanChangeRowsOrSavepoints(sql: String, isFollowed: Bool) throws {
        try queue.inDatabase { db in
            let statement = try db.makeStatement(sql: sql)
            #expect(statement.isFollowed == isFollowed)
            #expect(!statement.isWatched)
            let observer = Recorder([])
            db.add(transactionObserver: observer)
            #expect(statement.isWatched == isFollowed)
            _ = db.recordingRegion { #expect(statement.isWatched) }
            db.remove(transactionObserver: observer)
            #expect(!statement.isWatched)
        }
    }

    @Test func savepointsWithCommentsBeforeThemAreFollowed() throws {
        let recorder = Recorder(["t"])
        queue.add(transactionObserver: recorder)
        try queue.write { db in
            try db.execute(
                sql: """
                    /* one */ SAVEPOINT a; INSERT INTO t VALUES (1); -- two
                    ROLLBACK TO a; INSERT INTO t VALUES (2), (3); /**/ RELEASE a
                    """)
        }
        #expect(recorder.take() == ["insert t 1", "insert t 2"])
    }

    @Test func aQueryBetweenTwoChangesTakesNothingFromObservers() throws {
        let recorder = Recorder(["t"])
        queue.add(transactionObserver: recorder)
        try queue.write { db in
            try db.execute(sql: "INSERT INTO t VALUES (1), (2)")
            let update = try db.makeStatement(sql: "UPDATE t SET a = a + 1 WHERE rowid = ?")
            for number in 1...2 {
                _ = try Int.fetchAll(db, sql: "SELECT a FROM t")
                try update.execute(arguments: [number])
            }
        }
        #expect(recorder.take() == ["insert t 1", "insert t 2", "update t 1", "update t 2"])
    }

    // MARK: Transactions

    @Test func aCommitLeavesNothingBehindThatConcernsNobody() throws {
        let counter = LockedBox(0)
        let cancellables = (0..<20).map { _ in count("t", counter) }
        try queue.writeWithoutTransaction { db in
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO u VALUES (1)")
                try db.execute(sql: "UPDATE u SET a = 2")
                return .commit
            }
            let keepsCounts = db.transactionEnd.counts != nil || db.watch.keepsCounts
            #expect(!keepsCounts)
            #expect(db.lastInsertedRowID == 1)
            #expect(db.changesCount == 1)
            #expect(counter.value == 0)
            try db.execute(sql: "INSERT INTO t VALUES (1), (2), (3)")
            #expect(counter.value == 20)
            #expect(db.changesCount == 3)
            try db.execute(sql: "INSERT INTO u VALUES (1)")
            #expect(db.changesCount == 1)
            #expect(db.lastInsertedRowID == 2)
            #expect(counter.value == 20)
        }
        withExtendedLifetime(cancellables) {}
    }

    @Test func aRolledBackChangeIsForgotten() throws {
        let counter = LockedBox(0)
        let cancellable = count("t", counter)
        try queue.writeWithoutTransaction { db in
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO t VALUES (1)")
                return .rollback
            }
            try db.execute(sql: "INSERT INTO u VALUES (1)")
            #expect(counter.value == 0)
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            #expect(counter.value == 1)
        }
        cancellable.cancel()
    }

    @Test func anObserverThatComesLaterIsTold() throws {
        let (early, late) = (LockedBox(0), LockedBox(0))
        let first = count("u", early)
        try queue.inDatabase { db in
            let insertion = try db.makeStatement(sql: "INSERT INTO t VALUES (1)")
            let update = try db.makeStatement(sql: "UPDATE t SET a = 2")
            try insertion.execute()
            try update.execute()
        }
        let second = count("T", late)
        try queue.inDatabase { db in
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            try db.execute(sql: "UPDATE t SET a = 2")
        }
        #expect(late.value == 2)
        second.cancel()
        try queue.inDatabase { try $0.execute(sql: "INSERT INTO t VALUES (1); INSERT INTO u VALUES (1)") }
        #expect(late.value == 2)
        #expect(early.value == 1)
        first.cancel()
    }

    // MARK: Changes

    /// The way of a change is looked up by names that SQLite gives as C strings.
    @Test func changesOfTablesInTurnsGoToTheirObservers() throws {
        let recorder = Recorder(["t", "v", "tt", "Tä", "late"])
        queue.add(transactionObserver: recorder)
        let names = ["t", "u", "v", "tt", "tu", "Tä", "tä2"]
        try queue.write { db in
            for name in names.dropFirst(3) {
                try db.execute(sql: "CREATE TABLE \(name.quotedDatabaseIdentifier) (a)")
            }
            try db.execute(sql: "CREATE TEMP TABLE late (a)")
            for number in 1...3 {
                for name in names + ["late"] {
                    try db.execute(sql: "INSERT INTO \(name.quotedDatabaseIdentifier) VALUES (\(number))")
                }
            }
            try db.execute(
                sql: """
                    CREATE TRIGGER r AFTER UPDATE ON t BEGIN
                        UPDATE u SET a = 0 WHERE rowid = new.rowid;
                        UPDATE v SET a = 0 WHERE rowid = new.rowid;
                    END
                    """)
            try db.execute(sql: "UPDATE t SET a = 0; DELETE FROM v WHERE rowid = 2; DELETE FROM u")
        }
        let insertions = (1...3).flatMap { number in
            ["t", "v", "tt", "Tä", "late"].map { "insert \($0) \(number)" }
        }
        #expect(recorder.take().filter { $0.hasPrefix("insert") } == insertions)
        try queue.write { try $0.execute(sql: "UPDATE t SET a = 1; DELETE FROM v WHERE rowid = 1") }
        #expect(
            recorder.take() == [
                "update t 1", "update v 1", "update t 2", "update t 3", "update v 3", "delete v 1",
            ])
    }
}
