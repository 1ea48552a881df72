import CSQLCipher
import Foundation
import Testing

@testable import CipherStore

/// A read of a snapshot leaves SQLite refusing to write until another access needs it.
@Suite struct WritesAfterReadsTests {
    private func queue() throws -> (DatabaseQueue, TemporaryFolder) {
        let folder = try TemporaryFolder(isInMemory: true)
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("passphrase"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        return (queue, folder)
    }

    @Test func eachOtherAccessWrites() throws {
        let (queue, folder) = try queue()
        func read() throws { _ = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } }
        let insert = "INSERT INTO t VALUES (1)"
        try read()
        try read()
        try queue.write { try $0.execute(sql: insert) }
        try read()
        try queue.inDatabase { try $0.execute(sql: insert) }
        try read()
        try queue.writeWithoutTransaction { db in
            let code = sqlite3_exec(db.sqliteConnection, insert, nil, nil, nil)
            #expect(code == SQLITE_OK)
        }
        try read()
        try queue.unsafeReentrantWrite { try $0.execute(sql: insert) }
        try read()
        let isRefused = try queue.inDatabase { try Bool.fetchOne($0, sql: "PRAGMA query_only") }
        #expect(isRefused == false)
        let count = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        #expect(count == 4)
        try queue.close()
        _ = folder
    }

    @Test func eachOtherAccessOfATaskWrites() async throws {
        let (queue, folder) = try queue()
        _ = try await queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") }
        try await queue.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        try await queue.read { db throws in
            #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO t VALUES (1)") }
        }
        _ = try await queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") }
        try await queue.writeWithoutTransaction { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        let count = try await queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        #expect(count == 2)
        _ = folder
    }

    @Test func noReadWrites() throws {
        let (queue, folder) = try queue()
        for _ in 0..<2 {
            try queue.read { db in
                #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO t VALUES (1)") }
                let code = sqlite3_exec(db.sqliteConnection, "INSERT INTO t VALUES (1)", nil, nil, nil)
                #expect(code == SQLITE_READONLY)
            }
            // A block that must not write inside of one that may.
            try queue.inDatabase { db throws in
                try db.readOnly {
                    #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO t VALUES (1)") }
                }
                try db.execute(sql: "DELETE FROM t")
            }
        }
        try queue.close()
        _ = folder
    }

    @Test func aReadThatLetsSQLiteWriteDoesSoForItselfOnly() throws {
        let (queue, folder) = try queue()
        try queue.read { try $0.execute(sql: "PRAGMA query_only = 0") }
        for _ in 0..<2 {
            try queue.read { db throws in
                #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO t VALUES (1)") }
            }
        }
        try queue.close()
        _ = folder
    }

    @Test func aReadNoticesATableThatAnotherConnectionHasChanged() throws {
        let (queue, folder) = try queue()
        let other = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("passphrase"))
        _ = try queue.read { try $0.columns(in: "t") }
        try other.write { try $0.execute(sql: "ALTER TABLE t ADD COLUMN b") }
        let names = try queue.read { try $0.columns(in: "t").map(\.name) }
        #expect(names == ["a", "b"])
        try other.close()
        try queue.close()
    }
}
