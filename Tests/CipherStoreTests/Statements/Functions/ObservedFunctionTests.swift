import Foundation
import Testing

@testable import CipherStore

/// What observers see of statements whose SQL functions run other statements.
@Suite(.timeLimit(.minutes(20))) struct ObservedFunctionTests {
    /// Writes down the changes of one column.
    private final class ColumnObserver: TransactionObserver {
        var rowIDs: [Int64] = []

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
            if case .update("t", let columns) = eventKind { columns.contains("a") } else { false }
        }

        func databaseDidChange(with event: DatabaseEvent) { rowIDs.append(event.rowID) }
        func databaseDidCommit(_ db: Database) {}
        func databaseDidRollback(_ db: Database) {}
    }

    /// A queue with a function that runs SQL in the middle of the statement that calls it.
    private func makeQueue(functionRuns sql: String) throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 1), (2, 2)")
            try db.execute(sql: "CREATE TABLE u (b); INSERT INTO u VALUES (10), (20)")
            db.add(
                function: DatabaseFunction("nested", argumentCount: 1) { [unowned queue] values in
                    let sum: Int = try queue.unsafeReentrantRead { db in
                        // A cursor that is left before its end, and whatever else there is.
                        let first = try Int.fetchOne(db, sql: "SELECT b FROM u ORDER BY b") ?? 0
                        try? db.execute(sql: sql)
                        return first + (Int.fromDatabaseValue(values[0]) ?? 0)
                    }
                    return sum
                })
        }
        return queue
    }

    @Test(arguments: [
        "SELECT max(b) FROM u", "UPDATE u SET b = b + 1", "SAVEPOINT s; RELEASE s",
        "INSERT INTO missing VALUES (1)",
    ])
    func anUpdateWhoseFunctionRunsAStatementIsTold(sql: String) throws {
        let queue = try makeQueue(functionRuns: sql)
        let observer = ColumnObserver()
        queue.add(transactionObserver: observer)
        try queue.write { db in
            try db.execute(sql: "UPDATE t SET a = nested(a)")
            try db.execute(sql: "UPDATE t SET b = nested(b)")
        }
        #expect(observer.rowIDs == [1, 2])
    }

    @Test func anObservationFetchesAgainAfterSuchAnUpdate() async throws {
        let queue = try makeQueue(functionRuns: "SELECT max(b) FROM u")
        let values = ValueObservation.tracking { try Int.fetchAll($0, sql: "SELECT a FROM t ORDER BY a") }
        let recording = ObservationRecording(values, in: queue)
        try await recording.expect([1, 2])
        try await queue.write { try $0.execute(sql: "UPDATE t SET a = nested(a)") }
        try await recording.expect([11, 12])
    }

    @Test func anUpdateThatSQLitePreparesAgainIsToldAsWell() throws {
        let queue = try makeQueue(functionRuns: "SELECT max(b) FROM u")
        let observer = ColumnObserver()
        try queue.write { db in
            let update = try db.makeStatement(sql: "UPDATE t SET a = nested(a)")
            db.add(transactionObserver: observer)
            try update.execute()
            try db.execute(sql: "CREATE INDEX i ON t (b)")
            try update.execute()
        }
        #expect(observer.rowIDs == [1, 2, 1, 2])
    }
}
