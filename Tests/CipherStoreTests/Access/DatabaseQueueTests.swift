import Foundation
import Testing

@testable import CipherStore

@Suite struct DatabaseQueueTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makeQueue(_ configuration: Configuration = .keyed("secret")) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t (a UNIQUE)") }
        return queue
    }

    private func count(_ queue: DatabaseQueue) throws -> Int {
        try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } ?? -1
    }

    @Test func anErrorUndoesTheWholeWrite() throws {
        let queue = try makeQueue()
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try queue.write { db in
                try db.execute(sql: "INSERT INTO t VALUES (1)")
                throw Stop()
            }
        }
        #expect(try count(queue) == 0)
    }

    @Test func readsCannotWriteAndLaterWritesCan() throws {
        let queue = try makeQueue()
        let error = #expect(throws: DatabaseError.self) {
            try queue.read { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        }
        #expect(error?.resultCode == .SQLITE_READONLY)
        try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        #expect(try count(queue) == 1)
    }

    @Test func savepointsNest() throws {
        let queue = try makeQueue()
        try queue.inTransaction { db in
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            try db.inSavepoint {
                try db.execute(sql: "INSERT INTO t VALUES (2)")
                try db.inSavepoint {
                    try db.execute(sql: "INSERT INTO t VALUES (3)")
                    return .rollback
                }
                return .commit
            }
            return .commit
        }
        #expect(try queue.read { try Int.fetchAll($0, sql: "SELECT a FROM t ORDER BY a") } == [1, 2])
    }

    @Test func aConnectionThatWasClosedSaysSo() throws {
        let queue = try makeQueue()
        try queue.close()
        try queue.close()
        let error = #expect(throws: DatabaseError.self) { try count(queue) }
        #expect(error?.resultCode == .SQLITE_MISUSE)
    }

    /// Full-text search has statements of its own, which go with the connection.
    @Test func aConnectionWithFullTextTablesCloses() throws {
        let queue = try makeQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE outside (id INTEGER PRIMARY KEY, text TEXT);
                    INSERT INTO outside VALUES (3, 'green tea');
                    CREATE VIRTUAL TABLE words USING fts4(text);
                    INSERT INTO words (text) VALUES ('oat milk');
                    CREATE VIRTUAL TABLE others USING fts4(content="outside", text);
                    INSERT INTO others (others) VALUES ('rebuild');
                    """)
        }
        let found = try queue.read {
            try String.fetchAll($0, sql: "SELECT * FROM others WHERE text MATCH 'tea'")
        }
        #expect(found == ["green tea"])
        try queue.close()
        let error = #expect(throws: DatabaseError.self) { try count(queue) }
        #expect(error?.resultCode == .SQLITE_MISUSE)
    }

    @Test func aLockOfAnotherConnectionIsReportedAtOnceByDefault() throws {
        let queue = try makeQueue()
        let other = try makeQueue()
        try queue.inTransaction { db in
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            let error = #expect(throws: DatabaseError.self) {
                try other.write { try $0.execute(sql: "DELETE FROM t") }
            }
            #expect(error?.resultCode == .SQLITE_BUSY)
            return .commit
        }
    }

    @Test func theKeyIsDerivedOnceForAnOpenStore() throws {
        _ = try makeQueue()
        let queue = try makeQueue()
        #expect(queue.keyDerivationCount == 1)
    }

    @Test func asynchronousAccessGivesTheSameResults() async throws {
        let queue = try makeQueue()
        try await queue.write { try $0.execute(sql: "INSERT INTO t VALUES (7)") }
        let value = try await queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") }
        #expect(value == 7)
    }

    @Test func manyTasksShareOneQueue() async throws {
        let queue = try makeQueue()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask {
                    try await queue.write {
                        try $0.execute(sql: "INSERT INTO t VALUES (?)", arguments: [number])
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try count(queue) == 50)
    }

    @Test func everyConnectionIsHardened() throws {
        let queue = try makeQueue()
        try queue.read { db in
            for (pragma, value) in [("foreign_keys", 1), ("temp_store", 2), ("cell_size_check", 1)] {
                let actual = try Int.fetchOne(db, sql: "PRAGMA \(pragma)")
                #expect(actual == value)
            }
            #expect(throws: DatabaseError.self) { try db.execute(sql: "SELECT load_extension('x')") }
        }
    }

    @Test func theEngineIsAskedAndNotAssumed() {
        let features = EngineFeatures.current
        #expect(features.cipherVersion?.isEmpty == false)
        #expect(features.supportsUpsert == (features.sqliteVersionNumber >= 3_024_000))
        #expect(features.supportsFormat4 == (features.cipherVersion?.hasPrefix("4") == true))
    }
}
