import Foundation
import Testing

@testable import CipherStore

@Suite struct InterruptedTransactionTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1), (2), (3)")
        }
        return queue
    }

    // MARK: Functions after the transaction

    @Test func aFunctionAfterAnAutomaticRollbackMayUseTheConnection() throws {
        let queue = try makeQueue()
        var result: Result<Int?, any Error>?
        #expect(throws: DatabaseError.self) {
            try queue.write { db in
                db.afterNextTransaction(
                    onCommit: { _ in },
                    onRollback: { db in
                        result = Result { try Int.fetchOne(db, sql: "SELECT count(*) FROM t") }
                    })
                try db.execute(sql: "INSERT OR ROLLBACK INTO t VALUES (1)")
            }
        }
        #expect(try result?.get() == 3)
    }

    @Test func theBlockStillNeedsItsTransactionAfterSuchAFunction() throws {
        let queue = try makeQueue()
        let error = #expect(throws: DatabaseError.self) {
            try queue.write { db in
                db.afterNextTransaction(
                    onCommit: { _ in },
                    onRollback: { db in try? db.inTransaction { .commit } })
                try? db.execute(sql: "INSERT OR ROLLBACK INTO t VALUES (1)")
                try db.execute(sql: "INSERT INTO t VALUES (4)")
            }
        }
        #expect(error?.resultCode == .SQLITE_ABORT)
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 3)
    }

    @Test func aFunctionAfterTheTransactionTakesNoLockDuringASuspension() throws {
        let queue = try makeQueue()
        var result: Result<Void, any Error>?
        try queue.write { db in
            try db.execute(sql: "INSERT INTO t VALUES (4)")
            db.afterNextTransaction { db in
                result = Result { try db.execute(sql: "INSERT INTO t VALUES (5)") }
            }
            db.suspend()
        }
        queue.inDatabase { $0.resume() }
        #expect(throws: DatabaseError.self) { try result?.get() }
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 4)
    }

    // MARK: Observations

    @Test(.timeLimit(.minutes(20))) func aFetchThatASuspensionForbidsFollowsItsEnd() async throws {
        let queue = try makeQueue()
        let fetches = LockedBox(0)
        let observation = ValueObservation.tracking { db -> Int in
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM t") ?? 0
            fetches.change { $0 += 1 }
            return count
        }
        let recording = ObservationRecording(observation, in: queue)
        try await recording.expect(3)
        try await queue.write { db in
            try db.execute(sql: "INSERT INTO t VALUES (4)")
            db.suspend()
        }
        // In this journal mode a read takes a lock.
        #expect(fetches.value == 1)
        queue.connection.resume()
        try await recording.expect(4)
        try await queue.write { try $0.execute(sql: "INSERT INTO t VALUES (5)") }
        try await recording.expect(5)
    }

    @Test(.timeLimit(.minutes(20)))
    func anObservationThatIsStartedDuringASuspensionFollowsItsEnd() async throws {
        let queue = try makeQueue()
        queue.connection.suspend()
        let attempts = LockedBox(0)
        let observation = ValueObservation.tracking { db -> Int in
            attempts.change { $0 += 1 }
            return try Int.fetchOne(db, sql: "SELECT count(*) FROM t") ?? 0
        }
        let recording = ObservationRecording(observation, in: queue)
        // Accesses are in order, so the fetch was tried when this one ends.
        try await queue.writeWithoutTransaction { _ in }
        let attemptCount = attempts.value
        queue.connection.resume()
        try await recording.expect(3)
        #expect(attempts.value == attemptCount + 1)
        try await queue.write { try $0.execute(sql: "INSERT INTO t VALUES (4)") }
        try await recording.expect(4)
    }

    @Test func anObservationThatIsStartedDuringASuspensionFetchesNothingOfAClosedQueue() throws {
        let queue = try makeQueue()
        queue.connection.suspend()
        let attempts = LockedBox(0)
        let observation = ValueObservation.tracking { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM t") ?? 0
        }.handleEvents(willFetch: { attempts.change { $0 += 1 } })
        let told = DispatchQueue(label: "told")
        let cancellable = observation.start(in: queue, scheduling: .async(onQueue: told)) { error in
            Issue.record(error)
        } onChange: { _ in
        }
        try queue.close()
        let attemptCount = attempts.value
        #expect(attemptCount > 0)
        queue.connection.resume()
        // Accesses are in order, so what waited for the end of the suspension has run when this one ends.
        queue.connection.sync { _ in }
        #expect(attempts.value == attemptCount)
        withExtendedLifetime(cancellable) {}
    }

    @MainActor @Test func aStartThatTellsItsValueAtOnceFailsDuringASuspension() throws {
        let queue = try makeQueue()
        queue.connection.suspend()
        let code = LockedBox<ResultCode?>(nil)
        let observation = ValueObservation.tracking { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM t")
        }
        let cancellable = observation.start(in: queue, scheduling: .immediate) { error in
            code.value = (error as? DatabaseError)?.resultCode
        } onChange: { _ in
        }
        withExtendedLifetime(cancellable) {}
        #expect(code.value == .SQLITE_ABORT)
        queue.connection.resume()
    }

    @Test(.timeLimit(.minutes(20)))
    func anInterruptionStopsTheFetchOfAQueueAndNotItsObservation() async throws {
        let queue = try makeQueue()
        let stops = LockedBox(0)
        let observation = ValueObservation.tracking { db -> Int in
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM t") ?? 0
            let rows = try Int.fetchCursor(db, sql: "SELECT 1 UNION SELECT 2")
            _ = try rows.next()
            if count == 4 && stops.value == 0 {
                stops.change { $0 += 1 }
                db.interrupt()
                // This throws, and the fetch is done again.
                while try rows.next() != nil {}
                return -1
            }
            return count
        }
        let recording = ObservationRecording(observation, in: queue)
        try await recording.expect(3)
        try await queue.write { try $0.execute(sql: "INSERT INTO t VALUES (4)") }
        try await recording.expect(4)
        #expect(stops.value == 1)
    }

    // MARK: Reads

    @Test func aReadLeavesFunctionsForTheNextWrite() throws {
        let queue = try makeQueue()
        let log = LockedBox<[String]>([])
        queue.writeWithoutTransaction { db in
            db.afterNextTransaction { db in
                let isWritten = (try? db.execute(sql: "INSERT INTO t VALUES (5)")) != nil
                log.change { $0.append("write \(isWritten)") }
            }
        }
        try queue.read { db in
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM t")
            db.afterNextTransaction { _ in log.change { $0.append("read") } }
        }
        #expect(log.value == ["read"])
        try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (4)") }
        #expect(log.value == ["read", "write true"])
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 5)
    }

    @Test func aTransactionThatEndsInAReadOnlyBlockCallsItsFunctions() throws {
        let queue = try makeQueue()
        let log = LockedBox<[String]>([])
        try queue.writeWithoutTransaction { db in
            try db.beginTransaction()
            try db.execute(sql: "INSERT INTO t VALUES (4)")
            db.afterNextTransaction { _ in log.change { $0.append("commit") } }
            try db.readOnly { try db.commit() }
        }
        #expect(log.value == ["commit"])
    }

    // MARK: Cancellations

    @Test func anEraseThatIsCancelledLeavesForeignKeysOn() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            db.trace { event in
                // What the cancellation of a task does.
                if "\(event)".hasPrefix("DROP TABLE") { db.interruption.insert(.cancelled) }
            }
            #expect(throws: CancellationError.self) { try db.eraseContent() }
            db.trace(options: [])
            db.interruption.remove(.cancelled)
            let hasForeignKeys = try Bool.fetchOne(db, sql: "PRAGMA foreign_keys")
            #expect(hasForeignKeys == true)
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM t")
            #expect(count == 3)
        }
    }

    @Test func aCancellationDuringAChangeOfThePassphraseComesTooLate() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            db.trace { event in
                if "\(event)".hasPrefix("BEGIN EXCLUSIVE") { db.interruption.insert(.cancelled) }
            }
            try db.changePassphrase("new")
            db.trace(options: [])
            db.interruption.remove(.cancelled)
        }
        try queue.close()
        let again = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("new"))
        #expect(try again.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 3)
    }

    @Test func aCancellationAtTheEndOfABackupLeavesNoTransactionOpen() throws {
        let source = try DatabaseQueue()
        let destination = try DatabaseQueue()
        try source.inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            defer { db.interruption.remove(.cancelled) }
            try destination.inDatabase { copy in
                try db.backup(to: copy) { _ in db.interruption.insert(.cancelled) }
            }
            #expect(!db.isInsideTransaction)
        }
    }

    // MARK: Cursors

    @Test func aCursorThatWasInterruptedDoesNotStartAgain() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            let cursor = try Int.fetchCursor(db, sql: "SELECT a FROM t ORDER BY a")
            #expect(try cursor.next() == 1)
            #expect(throws: DatabaseError.self) {
                try db.inTransaction {
                    db.interrupt()
                    _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM t")
                    return .commit
                }
            }
            #expect(!db.isInsideTransaction)
            let error = #expect(throws: DatabaseError.self) { try cursor.next() }
            #expect(error?.resultCode == .SQLITE_INTERRUPT)
        }
    }
}
