import Foundation
import Synchronization
import Testing

@testable import CipherStore

@Suite struct TransactionTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makeQueue(_ configure: (inout Configuration) -> Void = { _ in }) throws -> DatabaseQueue {
        var configuration = Configuration.keyed("secret")
        configure(&configuration)
        return try DatabaseQueue(path: folder.file("a.db"), configuration: configuration)
    }

    @Test(arguments: [
        ("BEGIN", "COMMIT", "commit"), ("BEGIN; CREATE TABLE t (a)", "COMMIT", "commit"),
        ("BEGIN", "ROLLBACK", "rollback"), ("BEGIN; CREATE TABLE t (a)", "ROLLBACK", "rollback"),
        ("SAVEPOINT s; CREATE TABLE t (a); ROLLBACK TO s", "RELEASE s", "commit"),
        ("", "CREATE TABLE t (a)", "commit"),
    ])
    func theEndOfATransactionIsNoticedHoweverItIsWritten(begin: String, end: String, expected: String) throws
    {
        let queue = try makeQueue()
        try queue.writeWithoutTransaction { db in
            var seen: [String] = []
            try db.execute(sql: begin)
            db.afterNextTransaction(
                onCommit: { _ in seen.append("commit") }, onRollback: { _ in seen.append("rollback") })
            #expect(seen.isEmpty)
            try db.execute(sql: end)
            #expect(seen == [expected])
            try db.execute(sql: "CREATE TABLE u (a)")
            #expect(seen == [expected])
        }
    }

    @Test func aTransactionHasOneDate() throws {
        let ticks = Mutex(0.0)
        let queue = try makeQueue {
            $0.transactionClock = .custom { _ in
                ticks.withLock { ticks in
                    ticks += 1
                    return Date(timeIntervalSince1970: ticks)
                }
            }
        }
        try queue.writeWithoutTransaction { db in
            var dates = [try db.transactionDate, try db.transactionDate]
            try db.inTransaction {
                dates += [try db.transactionDate, try db.transactionDate]
                return .rollback
            }
            dates.append(try db.transactionDate)
            #expect(dates.map(\.timeIntervalSince1970) == [1, 2, 3, 3, 4])
        }
    }

    @Test func theDateOfATransactionIsThatOfItsBegin() throws {
        let now = Mutex(0.0)
        let queue = try makeQueue {
            $0.transactionClock = .custom { _ in now.withLock { Date(timeIntervalSince1970: $0) } }
        }
        try queue.writeWithoutTransaction { db in
            for begin in ["BEGIN", "BEGIN IMMEDIATE", "SAVEPOINT s"] {
                now.withLock { $0 = 1 }
                try db.execute(sql: begin)
                now.withLock { $0 = 2 }
                try db.execute(sql: "SAVEPOINT inner; RELEASE inner")
                #expect(try db.transactionDate.timeIntervalSince1970 == 1)
                try db.execute(sql: begin.hasPrefix("BEGIN") ? "COMMIT" : "RELEASE s")
                #expect(try db.transactionDate.timeIntervalSince1970 == 2)
            }
        }
        let dates = try queue.write { db in
            now.withLock { $0 = 3 }
            return try db.transactionDate.timeIntervalSince1970
        }
        #expect(dates == 2)
    }

    @Test func aClockThatFailsFailsWhereTheDateIsAskedFor() throws {
        struct Failure: Error {}
        let queue = try makeQueue { $0.transactionClock = .custom { _ in throw Failure() } }
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            #expect(throws: Failure.self) { try db.transactionDate }
        }
        #expect(try queue.read { try $0.tableExists("t") })
    }

    @Test func aClockMayAskTheDatabase() throws {
        let queue = try makeQueue {
            $0.transactionClock = .custom { db in
                try Date.fetchOne(db, sql: "SELECT '2020-01-01'") ?? .distantPast
            }
        }
        let date = try queue.write { try $0.transactionDate }
        #expect(date == Date(timeIntervalSince1970: 1_577_836_800))
    }

    @Test func aReadOnlyBlockRefusesToWriteAndNests() throws {
        let queue = try makeQueue()
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            try db.readOnly {
                try db.readOnly {}
                let error = #expect(throws: DatabaseError.self) {
                    try db.execute(sql: "INSERT INTO t VALUES (1)")
                }
                #expect(error?.resultCode == .SQLITE_READONLY)
                let beginning = #expect(throws: DatabaseError.self) {
                    try db.inTransaction(.immediate) { .commit }
                }
                #expect(beginning?.resultCode == .SQLITE_READONLY)
            }
            try db.execute(sql: "INSERT INTO t VALUES (1)")
        }
    }

    @Test func aWriteThatEndsInAReadOnlyBlockIsTold() throws {
        let queue = try makeQueue()
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        let count = LockedBox(0)
        let cancellable = DatabaseRegionObservation(tracking: Table("t")).start(
            in: queue, onError: { Issue.record($0) }, onChange: { _ in count.change { $0 += 1 } })
        try queue.writeWithoutTransaction { db in
            try db.beginTransaction()
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            try db.readOnly { try db.commit() }
            #expect(count.value == 1)
            // A read tells nobody, nor does what it has left behind.
            try db.readOnly {
                try db.beginTransaction()
                try db.commit()
            }
            #expect(count.value == 1)
            try db.execute(sql: "INSERT INTO t VALUES (2)")
            #expect(count.value == 2)
        }
        cancellable.cancel()
    }

    @Test func aBusyCallbackDecidesHowLongToWait() throws {
        let first = try makeQueue()
        try first.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        let tries = Mutex(0)
        let second = try makeQueue {
            $0.busyMode = .callback { number in
                tries.withLock { $0 = number }
                return number < 3
            }
        }
        try first.inTransaction(.exclusive) { _ in
            let error = #expect(throws: DatabaseError.self) { try second.write { _ in } }
            #expect(error?.resultCode == .SQLITE_BUSY)
            return .commit
        }
        #expect(tries.withLock { $0 } == 3)
    }

    @Test func aQueueThatIsSuspendedGivesUpItsLocksAndTakesNone() throws {
        let queue = try makeQueue { $0.observesSuspensionNotifications = true }
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN IMMEDIATE; INSERT INTO t VALUES (1)")
            NotificationCenter.default.post(name: Database.suspendNotification, object: nil)
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO t VALUES (2)")
            }
            #expect(error?.resultCode == .SQLITE_ABORT)
            #expect(!db.isInsideTransaction)
        }
        NotificationCenter.default.post(name: Database.resumeNotification, object: nil)
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 0)
    }

    @Test func eraseLeavesAnEmptyEncryptedDatabase() throws {
        let queue = try makeQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT, b REFERENCES b(id) ON DELETE RESTRICT);
                    CREATE TABLE b (id INTEGER PRIMARY KEY, a REFERENCES a(id));
                    CREATE VIRTUAL TABLE search USING fts4(content);
                    CREATE VIEW v AS SELECT * FROM a;
                    CREATE TRIGGER tr AFTER INSERT ON a BEGIN INSERT INTO b (a) VALUES (new.id); END;
                    CREATE TEMP TABLE scratch (x);
                    INSERT INTO a (b) VALUES (NULL);
                    PRAGMA user_version = 7
                    """)
        }
        try queue.erase()
        try queue.vacuum()
        try queue.read { db in
            let names = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_master UNION ALL SELECT name FROM sqlite_temp_master")
            #expect(names.filter { $0 != "sqlite_sequence" }.isEmpty)
            let version = try Int.fetchOne(db, sql: "PRAGMA user_version")
            #expect(version == 0)
            let enforces = try Bool.fetchOne(db, sql: "PRAGMA foreign_keys")
            #expect(enforces == true)
        }
        try queue.close()
        let again = try makeQueue()
        #expect(try again.read { try Int.fetchOne($0, sql: "SELECT 1") } == 1)
    }

    @Test func aCompactCopyHasTheSameKeyAndContent() throws {
        let queue = try makeQueue()
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES ('planted-marker')") }
        try queue.vacuum(into: folder.file("copy.db"))
        let copy = try DatabaseQueue(path: folder.file("copy.db"), configuration: .keyed("secret"))
        #expect(try copy.read { try String.fetchOne($0, sql: "SELECT a FROM t") } == "planted-marker")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file("copy.db")))
        #expect(bytes.range(of: Data("planted-marker".utf8)) == nil)
        let error = #expect(throws: StoreError.self) { try queue.vacuum(into: folder.file("copy.db")) }
        #expect(error?.code == .exists)
    }

    @Test func namedDatabasesInMemoryAreSharedByName() throws {
        let name = "a name/with ? & # %"
        let first = try DatabaseQueue(named: name, configuration: .keyed("secret"))
        try first.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (5)") }
        let second = try DatabaseQueue(named: name, configuration: .keyed("secret"))
        #expect(try second.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 5)
        let other = try DatabaseQueue(named: "other", configuration: .keyed("secret"))
        #expect(try other.read { try $0.tableExists("t") } == false)
    }

    @Test(arguments: [true, false]) func copiesOfAFileLiveInMemoryAlone(isEncrypted: Bool) throws {
        let configuration = isEncrypted ? Configuration.keyed("secret") : Configuration()
        let file = try DatabaseQueue(path: folder.file("source.db"), configuration: configuration)
        try file.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (6)") }
        let contents = try folder.contents()
        for copy in [
            try DatabaseQueue.inMemoryCopy(fromPath: file.path, configuration: configuration),
            try DatabaseQueue.temporaryCopy(fromPath: file.path, configuration: configuration),
        ] {
            try copy.write { try $0.execute(sql: "UPDATE t SET a = a + 1") }
            #expect(try copy.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 7)
        }
        #expect(try file.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 6)
        #expect(try folder.contents() == contents)
    }
}
