import Dispatch
import Foundation
import Synchronization
import Testing

@testable import CipherStore

/// Each test runs on a queue, a pool and, where it only reads, a snapshot.
@Suite struct CancellationTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func writers() throws -> [any DatabaseWriter] {
        let queue = try DatabaseQueue(path: folder.file("q.db"), configuration: .keyed("secret"))
        let pool = try DatabasePool(path: folder.file("p.db"), configuration: .keyed("secret"))
        for writer in [queue, pool] as [any DatabaseWriter] {
            try writer.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (0)") }
        }
        return [queue, pool, AnyDatabaseWriter(queue)]
    }

    /// A statement that runs for a minute, unless it is stopped.
    private static let endless = """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000)
        SELECT count(*) FROM n
        """

    @Test(.timeLimit(.minutes(20))) func aCancelledTaskStopsItsStatement() async throws {
        for writer in try writers() {
            for write in [false, true] {
                let started = AsyncStream.makeStream(of: Void.self)
                let task = Task {
                    let body: @Sendable (Database) throws -> Int? = { db in
                        started.continuation.yield()
                        return try Int.fetchOne(db, sql: Self.endless)
                    }
                    return write ? try await writer.write(body) : try await writer.read(body)
                }
                for await _ in started.stream { break }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                let count = try await writer.write { db in
                    try db.execute(sql: "INSERT INTO t VALUES (1)")
                    return try Int.fetchOne(db, sql: "SELECT count(*) FROM t")
                }
                #expect((count ?? 0) > 1)
            }
        }
    }

    @Test(.timeLimit(.minutes(20))) func aCancelledWriteLeavesNothing() async throws {
        for writer in try writers() {
            let inserted = AsyncStream.makeStream(of: Void.self)
            let goOn = DispatchSemaphore(value: 0)
            let task = Task {
                try await writer.write { db in
                    try db.execute(sql: "INSERT INTO t VALUES (2)")
                    inserted.continuation.yield()
                    goOn.wait()
                }
            }
            for await _ in inserted.stream { break }
            task.cancel()
            goOn.signal()
            await #expect(throws: CancellationError.self) { try await task.value }
            let count = try await writer.read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM t WHERE a = 2")
            }
            #expect(count == 0)
        }
    }

    @Test func aCancellationAfterTheLastStatementOfAReadComesTooLate() async throws {
        for writer in try writers() {
            let task = Task {
                try await writer.read { db in
                    let value = try Int.fetchOne(db, sql: "SELECT a FROM t")
                    withUnsafeCurrentTask { $0?.cancel() }
                    return value
                }
            }
            let value = try await task.value
            #expect(value == 0)
        }
    }

    @Test(.timeLimit(.minutes(20))) func aRollbackIsNeverStopped() async throws {
        for writer in try writers() {
            for _ in 0..<300 {
                let task = Task {
                    try await writer.writeWithoutTransaction { db in
                        try db.beginTransaction()
                        defer { try? db.rollback() }
                        try db.execute(sql: "INSERT INTO t VALUES (3)")
                    }
                }
                task.cancel()
                _ = try? await task.value
            }
            // A transaction that was left open would have trapped.
            let count = try await writer.read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM t WHERE a = 3")
            }
            #expect(count == 0)
        }
    }

    @Test func aRollbackWorksWhileAnInterruptedCursorLives() throws {
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)") }
        try queue.writeWithoutTransaction { db in
            try db.beginTransaction()
            let cursor = try Int.fetchCursor(db, sql: "SELECT a FROM t")
            _ = try cursor.next()
            queue.interrupt()
            try db.rollback()
            #expect(!db.isInsideTransaction)
        }
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 3)
    }

    @Test(.timeLimit(.minutes(20))) func aTaskThatWaitsForAReaderGivesUpWhenItIsCancelled() async throws {
        var configuration = Configuration.keyed("secret")
        configuration.maximumReaderCount = 1
        let pool = try DatabasePool(path: folder.file("w.db"), configuration: configuration)
        let held = AsyncStream.makeStream(of: Void.self)
        let mayEnd = DispatchSemaphore(value: 0)
        pool.asyncRead { _ in
            held.continuation.yield()
            mayEnd.wait()
        }
        for await _ in held.stream { break }
        let task = Task { try await pool.read { _ in } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        mayEnd.signal()
        try await pool.read { _ in }
    }

    @Test func closuresSeeTheirTasksValues() async throws {
        for writer in try writers() {
            let seen = try await TaskValue.$number.withValue(7) {
                (
                    try await writer.read { _ in TaskValue.number },
                    try await writer.write { _ in TaskValue.number },
                    try await writer.barrierWriteWithoutTransaction { _ in TaskValue.number }
                )
            }
            #expect(seen == (7, 7, 7))
        }
    }

    @Test func aTransactionThatSQLiteRolledBackRefusesStatements() throws {
        for writer in try writers() {
            let error = #expect(throws: DatabaseError.self) {
                try writer.write { db in
                    try db.execute(
                        sql: "CREATE TABLE u (a UNIQUE ON CONFLICT ROLLBACK); INSERT INTO u VALUES (1)")
                    _ = try? db.execute(sql: "INSERT INTO u VALUES (1)")
                    try db.execute(sql: "INSERT INTO t VALUES (4)")
                }
            }
            #expect(error?.resultCode == .SQLITE_ABORT)
            #expect(error?.message == "Transaction was aborted")
        }
    }
}

private enum TaskValue {
    @TaskLocal static var number = 0
}
