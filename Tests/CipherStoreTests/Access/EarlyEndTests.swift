import Foundation
import Testing

@testable import CipherStore

/// Statements that are left before their last row, and cursors that outlive their connection.
@Suite struct EarlyEndTests {
    private final class Recorder: TransactionObserver {
        struct Refusal: Error {}
        var commitCount = 0
        var rollbackCount = 0
        var refuses = false

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseWillCommit() throws { if refuses { throw Refusal() } }
        func databaseDidCommit(_ db: Database) { commitCount += 1 }
        func databaseDidRollback(_ db: Database) { rollbackCount += 1 }
    }

    private struct Child: Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "child"
        var id: Int64?
        var parent: Int64?
    }

    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE parent (id INTEGER PRIMARY KEY);
                    CREATE TABLE child (
                        id INTEGER PRIMARY KEY,
                        parent INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED);
                    CREATE TABLE strict_child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent (id));
                    INSERT INTO parent VALUES (1);
                    """)
        }
        return queue
    }

    // MARK: Statements that write and have rows

    @Test(.enabled(if: EngineFeatures.current.supportsReturning))
    func aCommitIsToldWhenTheCursorGoes() throws {
        try makeQueue().writeWithoutTransaction { db in
            let recorder = Recorder()
            db.add(transactionObserver: recorder)
            do {
                let cursor = try Int.fetchCursor(
                    db, sql: "INSERT INTO child (parent) VALUES (1), (1) RETURNING id")
                #expect(try cursor.next() == 1)
                #expect(recorder.commitCount == 0)
            }
            #expect(recorder.commitCount == 1)
            let statement = try db.makeStatement(sql: "DELETE FROM child RETURNING id")
            #expect(try statement.step())
            statement.reset()
            #expect(recorder.commitCount == 2)
            do {
                let dropped = try db.makeStatement(sql: "INSERT INTO child DEFAULT VALUES RETURNING id")
                #expect(try dropped.step())
            }
            #expect(recorder.commitCount == 3)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM child") == 1)
        }
    }

    @Test(.enabled(if: EngineFeatures.current.supportsReturning), arguments: ["child", "strict_child"])
    func theFirstRowOfAStatementWhoseConstraintFailsIsAnError(table: String) throws {
        let fetches: [(Database, String) throws -> Void] = [
            { _ = try Int.fetchOne($0, sql: $1) }, { _ = try Row.fetchOne($0, sql: $1) },
            { _ = try Child.fetchOne($0, sql: $1) }, { _ = try DatabaseValue.fetchOne($0, sql: $1) },
        ]
        for fetch in fetches {
            try makeQueue().writeWithoutTransaction { db in
                let error = #expect(throws: DatabaseError.self) {
                    try fetch(db, "INSERT INTO \(table) (parent) VALUES (7) RETURNING *")
                }
                #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
                #expect(!db.isInsideTransaction)
                let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table)")
                #expect(count == 0)
            }
        }
    }

    @Test func aRecordWhoseConstraintFailsIsNotReturned() throws {
        try makeQueue().writeWithoutTransaction { db in
            let error = #expect(throws: DatabaseError.self) {
                try Child(parent: 7).insertAndFetch(db)
            }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
            #expect(try Child.fetchCount(db) == 0)
            var child = try Child(parent: 1).insertAndFetch(db)
            child.parent = 7
            #expect(throws: DatabaseError.self) { try child.updateAndFetch(db) }
            #expect(throws: DatabaseError.self) { try child.saveAndFetch(db) }
            #expect(throws: DatabaseError.self) { try child.upsertAndFetch(db) }
            #expect(try Child.fetchAll(db).map(\.parent) == [1])
        }
    }

    @Test func theRefusalOfACommitIsThrownToWhomFetchesOneRow() throws {
        try makeQueue().writeWithoutTransaction { db in
            let recorder = Recorder()
            db.add(transactionObserver: recorder)
            recorder.refuses = true
            #expect(throws: Recorder.Refusal.self) { try Child(parent: 1).insertAndFetch(db) }
            recorder.refuses = false
            #expect(recorder.rollbackCount == 1)
            let count = try Child.fetchCount(db)
            #expect(count == 0)
        }
    }

    // MARK: Connections that are gone

    @Test func aCursorThatOutlivesItsConnectionThrows() throws {
        var queue: DatabaseQueue? = try makeQueue()
        let values = try #require(queue).unsafeReentrantRead {
            try Int.fetchCursor($0, sql: "SELECT 1 UNION SELECT 2 UNION SELECT 3")
        }
        let rows = try #require(queue).unsafeReentrantRead { try Row.fetchCursor($0, sql: "SELECT 1, 2") }
        let unused = try #require(queue).unsafeReentrantRead { try Int.fetchCursor($0, sql: "SELECT 1") }
        #expect(try values.next() == 1)
        let row = try #require(try rows.next())
        queue = nil
        for _ in 0..<2 {
            let error = #expect(throws: DatabaseError.self) { try values.next() }
            #expect(error?.resultCode == .SQLITE_MISUSE)
            #expect(error?.message == "Connection is closed")
            #expect(throws: DatabaseError.self) { try rows.next() }
            #expect(throws: DatabaseError.self) { try unused.next() }
        }
        #expect(row.count == 2)
        #expect(rows.columnNames == ["1", "2"])
    }

    @Test func aStatementThatOutlivesItsConnectionThrows() throws {
        var queue: DatabaseQueue? = try makeQueue()
        let statement = try #require(queue).unsafeReentrantRead {
            try $0.makeStatement(sql: "SELECT id FROM parent WHERE id = ?")
        }
        let stepped = try #require(queue).unsafeReentrantRead { db in
            let statement = try db.makeStatement(sql: "SELECT 1 UNION SELECT 2")
            _ = try statement.step()
            return statement
        }
        queue = nil
        for use: () throws -> Void in [
            { try statement.execute(arguments: [1]) }, { _ = try statement.step() },
            { _ = try Int.fetchOne(statement) }, { _ = try Row.fetchAll(statement) },
            { _ = try stepped.step() }, { try statement.makeCursor().next() },
        ] {
            let error = #expect(throws: DatabaseError.self) { try use() }
            #expect(error?.message == "Connection is closed")
        }
        #expect(throws: DatabaseError.self) { try statement.setArguments([1, 2]) }
        #expect(statement.columnNames == ["id"])
        #expect(statement.databaseRegion == .fullDatabase)
        statement.reset()
        stepped.reset()
    }

    @Test(.enabled(if: EngineFeatures.current.supportsReturning))
    func aStatementThatWritesAndOutlivesItsConnectionTellsNobody() throws {
        var queue: DatabaseQueue? = try makeQueue()
        let recorder = Recorder()
        queue?.add(transactionObserver: recorder)
        var cursor: FastDatabaseValueCursor<Int>? = try queue?.unsafeReentrantRead {
            try Int.fetchCursor($0, sql: "INSERT INTO child (parent) VALUES (1), (1) RETURNING id")
        }
        #expect(try cursor?.next() == 1)
        queue = nil
        #expect(throws: DatabaseError.self) { try cursor?.next() }
        cursor = nil
    }
}
