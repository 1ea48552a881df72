import Foundation
import Testing

@testable import CipherStore

/// Writes down what it is told, in one line each.
private final class Recorder: TransactionObserver {
    struct Refusal: Error {}

    var log: [String] = []
    var refuses = false
    var stopsAfter = Int.max
    private var changeCount = 0
    private let isObserved: (DatabaseEventKind) -> Bool

    init(_ isObserved: @escaping (DatabaseEventKind) -> Bool = { _ in true }) {
        self.isObserved = isObserved
    }

    /// What was told since this was last asked.
    func take() -> [String] {
        defer { log = [] }
        return log
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { isObserved(eventKind) }

    func databaseDidChange() { log.append("change") }

    func databaseDidChange(with event: DatabaseEvent) {
        log.append("\(event.kind) \(event.tableName) \(event.rowID)")
        changeCount += 1
        if changeCount == stopsAfter { stopObservingDatabaseChangesUntilNextTransaction() }
    }

    func databaseWillCommit() throws {
        log.append("will commit")
        if refuses { throw Refusal() }
    }

    func databaseDidCommit(_ db: Database) { log.append("commit") }

    func databaseDidRollback(_ db: Database) { log.append("rollback") }
}

@Suite struct TransactionObserverTests {
    private let folder: TemporaryFolder
    private let queue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a, b); CREATE TABLE u (a)") }
    }

    // MARK: Changes

    @Test func changesOfRowsAreToldInOrder() throws {
        let recorder = Recorder()
        queue.add(transactionObserver: recorder)
        try queue.write { db in
            try db.execute(sql: "INSERT INTO t VALUES (1, 1), (2, 2); UPDATE t SET a = 3 WHERE a = 2")
            try db.execute(sql: "DELETE FROM t WHERE a = 1")
        }
        #expect(
            recorder.take() == [
                "insert t 1", "insert t 2", "update t 2", "delete t 1", "will commit", "commit",
            ])
        try queue.read { _ = try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        #expect(recorder.take().isEmpty)
    }

    @Test func whatAStatementHasLeftIsItsOwnWhateverItsCommitSetsOff() throws {
        try queue.writeWithoutTransaction { db throws in
            try db.execute(sql: "INSERT INTO u VALUES (1), (2)")
            db.afterNextTransaction { db in try? db.execute(sql: "INSERT INTO u VALUES (3), (4), (5)") }
            try db.execute(sql: "INSERT INTO t VALUES (1, 1)")
            let told = try Int.fetchOne(db, sql: "SELECT count(*) FROM u")
            #expect(told == 5)
            #expect(db.lastInsertedRowID == 1)
            #expect(db.changesCount == 1)
            // A transaction that writes nothing leaves that, and what is written afterwards counts as ever.
            db.afterNextTransaction { _ in }
            try db.execute(sql: "BEGIN; SELECT count(*) FROM u; COMMIT")
            #expect(db.lastInsertedRowID == 1)
            try db.execute(sql: "UPDATE u SET a = 0 WHERE a > 6")
            #expect(db.changesCount == 0)
            try db.execute(sql: "INSERT INTO u VALUES (6)")
            #expect(db.lastInsertedRowID == 6)
            db.afterNextTransaction { db in try? db.execute(sql: "INSERT INTO u VALUES (7)") }
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO t VALUES (2, 2), (3, 3)")
                return .commit
            }
            #expect(db.lastInsertedRowID == 3)
            #expect(db.changesCount == 2)
        }
    }

    /// SQLite moves the rowid at each row, and counts changes when the statement ends. The last row of those who were
    /// told has the same number as one of the statement.
    @Test func whatAStatementHasLeftIsForgottenWhenTheNextOneBegins() throws {
        try queue.writeWithoutTransaction { db throws in
            nonisolated(unsafe) let connection = db
            let function = DatabaseFunction("lastRow", argumentCount: 0) { _ in connection.lastInsertedRowID }
            db.add(function: function)
            defer { db.remove(function: function) }
            db.afterNextTransaction { db in try? db.execute(sql: "INSERT INTO u VALUES (1), (2)") }
            try db.execute(sql: "INSERT INTO t VALUES (1, 1)")
            #expect(db.lastInsertedRowID == 1)
            try db.execute(sql: "INSERT INTO t SELECT lastRow(), 2 FROM (SELECT 1 UNION ALL SELECT 2)")
            let seen = try Int.fetchOne(db, sql: "SELECT a FROM t WHERE rowid = 3")
            #expect(seen == 2)
        }
    }

    @Test func statementsThatWerePreparedBeforeTheObserverAreSeen() throws {
        let recorder = Recorder { kind in
            if case .update(_, let columns) = kind { columns == ["b"] } else { true }
        }
        try queue.writeWithoutTransaction { db in
            let update = try db.makeStatement(sql: "UPDATE t SET b = ?")
            let deletion = try db.makeStatement(sql: "DELETE FROM t")
            let savepoint = try db.makeStatement(sql: "SAVEPOINT s")
            try db.execute(sql: "INSERT INTO t VALUES (1, 1), (2, 2)")
            db.add(transactionObserver: recorder)
            try db.beginTransaction()
            try update.execute(arguments: [3])
            try savepoint.execute()
            try deletion.execute()
            #expect(recorder.take() == ["update t 1", "update t 2"])
            try db.execute(sql: "ROLLBACK TO s")
            try db.commit()
            #expect(recorder.take() == ["will commit", "commit"])
            try deletion.execute()
            #expect(recorder.take() == ["delete t 1", "delete t 2", "will commit", "commit"])
        }
    }

    @Test func onlyObservedColumnsAreTold() throws {
        let recorder = Recorder { kind in
            if case .update("t", let columns) = kind { columns.contains("b") } else { false }
        }
        queue.add(transactionObserver: recorder)
        try queue.write { db in
            try db.execute(sql: "INSERT INTO t VALUES (1, 1)")
            try db.execute(sql: "UPDATE t SET a = 2")
            try db.execute(sql: "UPDATE T SET B = 2")
            try db.execute(sql: "UPDATE u SET a = 2")
        }
        #expect(recorder.take() == ["update t 1", "will commit", "commit"])
    }

    @Test func aTriggerThatIsMadeLaterIsSeen() throws {
        let recorder = Recorder { kind in
            if case .update("u", let columns) = kind { columns == ["a"] } else { false }
        }
        queue.add(transactionObserver: recorder)
        try queue.write { db in
            try db.execute(sql: "INSERT INTO u VALUES (1)")
            let insertion = try db.makeStatement(sql: "INSERT INTO t VALUES (1, 1)")
            try insertion.execute()
            #expect(recorder.take().isEmpty)
            try db.execute(sql: "CREATE TRIGGER r AFTER INSERT ON t BEGIN UPDATE u SET a = new.a; END")
            try insertion.execute()
            #expect(recorder.take() == ["update u 1"])
        }
    }

    @Test func rowsThatAStatementStepsThroughAreSeen() throws {
        let recorder = Recorder()
        queue.add(transactionObserver: recorder)
        try queue.write { db in
            let statement = try db.makeStatement(sql: "UPDATE t SET a = 1")
            try db.execute(sql: "INSERT INTO t VALUES (0, 0)")
            while try statement.step() {}
            statement.reset()
            while try statement.step() {}
        }
        #expect(recorder.take() == ["insert t 1", "update t 1", "update t 1", "will commit", "commit"])
    }

    @Test func anEmptiedTableTellsEachRowOnlyWhereItIsObserved() throws {
        let recorder = Recorder { $0 == .delete(tableName: "t") }
        queue.add(transactionObserver: recorder)
        try queue.write { db in
            try db.execute(sql: "INSERT INTO t VALUES (1, 1), (2, 2); INSERT INTO u VALUES (1)")
            try db.execute(sql: "DELETE FROM T; DELETE FROM u")
            #expect(db.changesCount == 1)
            try db.execute(sql: "DROP TABLE t")
            #expect(try !db.tableExists("t"))
        }
        #expect(recorder.take() == ["delete t 1", "delete t 2", "will commit", "commit"])
    }

    @Test func anObserverCanStopUntilTheTransactionEnds() throws {
        let recorder = Recorder()
        recorder.stopsAfter = 2
        queue.add(transactionObserver: recorder)
        try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)") }
        #expect(recorder.take() == ["insert t 1", "insert t 2", "will commit", "commit"])
        try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (4, 4)") }
        #expect(recorder.take() == ["insert t 4", "will commit", "commit"])
    }

    @Test func changesWithoutEventsAreToldToWhomTheyConcern() throws {
        let recorder = Recorder { $0 == .update(tableName: "t", columnNames: ["a"]) }
        queue.add(transactionObserver: recorder)
        try queue.write { db in
            try db.notifyChanges(in: Table("U"))
            try db.notifyChanges(in: Table("T").select(Column("B")))
            #expect(recorder.take().isEmpty)
            try db.notifyChanges(in: Table("T").select(Column("A")))
            #expect(recorder.take() == ["change"])
            #expect(throws: DatabaseError.self) { try db.notifyChanges(in: Table("missing")) }
        }
        _ = recorder.take()
        try queue.read { try $0.notifyChanges(in: .fullDatabase) }
        #expect(recorder.take().isEmpty)
    }

    // MARK: Savepoints

    @Test(arguments: [
        ("SAVEPOINT a; INSERT INTO t VALUES (1, 1); RELEASE a", ["insert t 1"]),
        ("SAVEPOINT a; INSERT INTO t VALUES (1, 1); ROLLBACK TO a; RELEASE a", []),
        (
            """
            SAVEPOINT a; INSERT INTO t VALUES (1, 1); SAVEPOINT "B"; INSERT INTO u VALUES (1);
            ROLLBACK TO b; INSERT INTO u VALUES (1), (2); RELEASE A
            """, ["insert t 1", "insert u 1", "insert u 2"]
        ),
        (
            """
            SAVEPOINT a; INSERT INTO t VALUES (1, 1); SAVEPOINT a; INSERT INTO u VALUES (1);
            RELEASE a; ROLLBACK TO a; RELEASE a
            """, []
        ),
        ("SAVEPOINT a; SAVEPOINT b; INSERT INTO t VALUES (1, 1)", ["insert t 1"]),
    ])
    func changesAreToldWhenNoSavepointCanUndoThem(sql: String, expected: [String]) throws {
        let recorder = Recorder()
        queue.add(transactionObserver: recorder)
        try queue.write { try $0.execute(sql: sql) }
        #expect(recorder.take() == expected + ["will commit", "commit"])
    }

    @Test func aSavepointFromBeforeTheObserverUndoesWhatItStillHolds() throws {
        let recorder = Recorder()
        try queue.write { db in
            try db.execute(sql: "SAVEPOINT a")
            db.add(transactionObserver: recorder)
            try db.execute(sql: "SAVEPOINT b; INSERT INTO t VALUES (1, 1); ROLLBACK TO a")
        }
        #expect(recorder.take() == ["will commit", "commit"])
    }

    @Test func aReadOnlyAccessLeavesNoSavepointBehind() throws {
        let recorder = Recorder()
        queue.add(transactionObserver: recorder)
        try queue.read { try $0.execute(sql: "SAVEPOINT a") }
        #expect(recorder.take().isEmpty)
        try queue.write { db in
            try db.execute(sql: "INSERT INTO t VALUES (1, 1)")
            #expect(recorder.take() == ["insert t 1"])
        }
    }

    // MARK: Transactions

    @Test func transactionsWithoutChangesAreTold() throws {
        let recorder = Recorder()
        queue.add(transactionObserver: recorder)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN; COMMIT")
            #expect(recorder.take() == ["will commit", "commit"])
            try db.execute(sql: "BEGIN; ROLLBACK")
            #expect(recorder.take() == ["rollback"])
            try db.readOnly { try db.execute(sql: "BEGIN; COMMIT") }
            #expect(recorder.take().isEmpty)
        }
    }

    @Test(arguments: [
        "BEGIN; COMMIT", "INSERT INTO t VALUES (1, 1)", "BEGIN; INSERT INTO t VALUES (1, 1); COMMIT",
    ])
    func anObserverCanRefuseATransaction(sql: String) throws {
        let (first, second) = (Recorder(), Recorder())
        queue.add(transactionObserver: first)
        queue.add(transactionObserver: second)
        first.refuses = true
        queue.writeWithoutTransaction { db in
            var ends: [String] = []
            db.afterNextTransaction(
                onCommit: { _ in ends.append("commit") }, onRollback: { _ in ends.append("rollback") })
            #expect(throws: Recorder.Refusal.self) { try db.execute(sql: sql) }
            #expect(!db.isInsideTransaction)
            let count = try? Int.fetchOne(db, sql: "SELECT count(*) FROM t")
            #expect(count == 0)
            #expect(ends == ["rollback"])
        }
        #expect(first.take().suffix(2) == ["will commit", "rollback"])
        #expect(second.take().last == "rollback")
        #expect(!second.log.contains("will commit"))
        first.refuses = false
        try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (1, 1)") }
        #expect(first.take() == ["insert t 1", "will commit", "commit"])
    }

    @Test func aStatementThatFailsBeforeAChangeIsNoTransaction() throws {
        let recorder = Recorder()
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE one (a UNIQUE); INSERT INTO one VALUES (1)")
            db.add(transactionObserver: recorder)
            #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO one VALUES (1)") }
            #expect(recorder.take().isEmpty)
            // This one has told a change that is then undone.
            #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO one VALUES (2), (1)") }
            #expect(recorder.take() == ["insert one 2", "rollback"])
        }
    }

    @Test func theDatabaseCanBeUsedAfterACommit() throws {
        final class Follower: TransactionObserver {
            var counts: [Int?] = []
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
            func databaseDidChange(with event: DatabaseEvent) {}
            func databaseDidCommit(_ db: Database) {
                counts.append(try? Int.fetchOne(db, sql: "SELECT count(*) FROM u"))
                if counts.count == 1 { try? db.execute(sql: "INSERT INTO u VALUES (1)") }
            }
            func databaseDidRollback(_ db: Database) {}
        }
        let follower = Follower()
        queue.add(transactionObserver: follower)
        try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (1, 1)") }
        #expect(follower.counts == [0, 1])
    }

    // MARK: Extents

    @Test func theExtentTellsHowLongAnObserverLives() throws {
        weak var lifetime: Recorder?
        weak var transaction: Recorder?
        weak var database: Recorder?
        do {
            let recorders = (Recorder(), Recorder(), Recorder())
            (lifetime, transaction, database) = recorders
            queue.add(transactionObserver: recorders.0)
            queue.add(transactionObserver: recorders.1, extent: .nextTransaction)
            queue.add(transactionObserver: recorders.2, extent: .databaseLifetime)
        }
        #expect(lifetime == nil)
        #expect(transaction != nil)
        try queue.read { _ in }
        #expect(transaction != nil)
        try queue.write { db in try db.cachedStatement(sql: "UPDATE t SET a = 1").execute() }
        #expect(transaction == nil)
        #expect(database?.take() == ["will commit", "commit"])
    }

    @Test func aRemovedObserverIsToldNothingMore() throws {
        let recorder = Recorder()
        queue.add(transactionObserver: recorder, extent: .databaseLifetime)
        try queue.write { db in
            try db.execute(sql: "INSERT INTO t VALUES (1, 1)")
            db.remove(transactionObserver: recorder)
            try db.execute(sql: "INSERT INTO t VALUES (2, 2)")
        }
        #expect(recorder.take() == ["insert t 1"])
    }

    @Test func poolsTellTheirWritesOnly() throws {
        let pool = try DatabasePool(path: folder.file("b.db"), configuration: .keyed("secret"))
        let recorder = Recorder()
        pool.add(transactionObserver: recorder)
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        #expect(recorder.take() == ["insert t 1", "will commit", "commit"])
        let count = try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        #expect(count == 1)
        #expect(recorder.take().isEmpty)
    }
}
