import Foundation
import Testing

@testable import CipherStore

/// A handle that is closed must not be touched. Run with `MALLOC_PERTURB_=165`
/// (glibc) these fail reliably when it is.
@Suite struct ClosedConnectionTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func aWriteThatClosesItsConnectionFails() throws {
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        let error = #expect(throws: DatabaseError.self) { try queue.write { _ in try queue.close() } }
        #expect(error?.resultCode == .SQLITE_MISUSE)
    }

    @Test func aReadThatClosesItsConnectionFails() throws {
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        let error = #expect(throws: DatabaseError.self) { try queue.read { _ in try queue.close() } }
        #expect(error?.resultCode == .SQLITE_MISUSE)
    }

    @Test func aClosedConnectionKnowsNothing() throws {
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        try queue.close()
        queue.inDatabase { db in
            #expect(!db.isInsideTransaction)
            #expect(db.changesCount == 0)
            #expect(db.totalChangesCount == 0)
            #expect(db.lastInsertedRowID == 0)
            #expect(db.lastErrorCode == .SQLITE_MISUSE)
            #expect(db.maximumStatementArgumentCount == 999)
            db.add(function: DatabaseFunction("f", argumentCount: 0) { _ in nil })
            db.add(collation: DatabaseCollation("c") { $0.compare($1) })
            #expect(throws: DatabaseError.self) { try db.readOnly {} }
            #expect(throws: DatabaseError.self) { try db.changePassphrase("new") }
        }
        let error = #expect(throws: DatabaseError.self) { try queue.read { _ in } }
        #expect(error?.resultCode == .SQLITE_MISUSE)
    }

    @Test func aStatementThatOutlivesItsSnapshotDoesNoHarm() throws {
        let pool = try DatabasePool(path: folder.file("a.db"), configuration: .keyed("secret"))
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        var statement: Statement?
        do {
            let snapshot = try pool.makeSnapshot()
            statement = try snapshot.unsafeReentrantRead { try $0.makeStatement(sql: "SELECT * FROM t") }
        }
        withExtendedLifetime(statement) {}
        // The handle goes now, and with it the snapshot's transaction.
        statement = nil
    }
}
