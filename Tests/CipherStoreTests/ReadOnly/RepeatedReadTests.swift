import Foundation
import Testing

@testable import CipherStore

/// The statements that begin, check and end reads are kept from the first read on.
@Suite struct RepeatedReadTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isInMemory: true) }

    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("passphrase"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        return queue
    }

    private func count(_ db: Database) throws -> Int? { try Int.fetchOne(db, sql: "SELECT count(*) FROM t") }

    // MARK: Lifetime

    @Test func whatIsKeptKeepsNoConnectionFromClosing() throws {
        let queue = try makeQueue()
        let pool = try DatabasePool(path: folder.file("pool.db"), configuration: .keyed("passphrase"))
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        for _ in 0..<3 {
            _ = try queue.read { try ($0.columns(in: "t"), count($0)) }
            _ = try pool.read { try ($0.columns(in: "t"), count($0)) }
        }
        try queue.close()
        try pool.close()
        #expect(throws: DatabaseError.self) { try queue.read(count) }
        #expect(throws: DatabaseError.self) { try pool.read(count) }
    }

    @Test func nothingIsKeptWhenMemoryIsReleased() throws {
        let queue = try makeQueue()
        for _ in 0..<2 {
            _ = try queue.read { try ($0.columns(in: "t"), count($0)) }
            queue.releaseMemory()
            let kept = queue.connection.reentrantSync { SQLiteHandle.firstStatement($0.handle) }
            // The access has looked at the version of the schema.
            #expect(kept == nil || kept == "PRAGMA main.schema_version")
        }
    }

    enum LateRead: CaseIterable { case task, callback }

    /// How many pages were known to be authentic when an asynchronous read began.
    private func mark(_ reader: some DatabaseReader, _ kind: LateRead) async throws -> CInt? {
        switch kind {
        case .task:
            return try await reader.read { db in
                _ = try Int.fetchOne(db, sql: "SELECT a FROM t")
                return db.readOnlyBlocks.verifiedPages?.pageCount
            }
        case .callback:
            return try await withCheckedThrowingContinuation { continuation in
                reader.asyncRead { result in
                    let mark: Result<CInt?, any Error> = Result {
                        let db = try result.get()
                        _ = try Int.fetchOne(db, sql: "SELECT a FROM t")
                        return db.readOnlyBlocks.verifiedPages?.pageCount
                    }
                    continuation.resume(with: mark)
                }
            }
        }
    }

    /// A file that is read as it is would be read from the disk again otherwise.
    @Test(arguments: LateRead.allCases) func asynchronousReadsOfPagesThatWereCheckedNeedNoOtherCheck(
        kind: LateRead
    ) async throws {
        var configuration = Configuration.keyed("passphrase")
        configuration.maximumReaderCount = 1
        let queue = try makeQueue()
        let pool = try DatabasePool(path: folder.file("pool.db"), configuration: configuration)
        try await pool.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        for reader: any DatabaseReader in [queue, pool] {
            for _ in 0..<2 { _ = try await mark(reader, kind) }
            let known = try await mark(reader, kind)
            #expect(known != nil)
            let knownLater = try await mark(reader, kind)
            #expect(known == knownLater)
        }
        try queue.close()
        try pool.close()
    }

    // MARK: Reads in the middle of others

    @Test func aReadAtTheEndOfAReadHasStatementsOfItsOwn() throws {
        let queue = try makeQueue()
        var counts: [Int?] = []
        for _ in 0..<2 {
            try queue.read { db throws in
                db.afterNextTransaction { db in counts.append(try? db.readSnapshot(count)) }
                #expect(try count(db) == 1)
            }
        }
        #expect(counts == [1, 1])
        try queue.close()
    }

    @Test func aReadWhoseTransactionHasEndedFailsAndTheNextOneDoesNot() throws {
        let queue = try makeQueue()
        for _ in 0..<2 {
            let error = #expect(throws: DatabaseError.self) {
                try queue.read { db in
                    try db.rollback()
                    _ = try count(db)
                }
            }
            #expect(error?.resultCode == .SQLITE_ABORT)
            #expect(try queue.read(count) == 1)
        }
        try queue.close()
    }

    @Test func whileSQLIsNotTrustedNoTransactionBeginsByAStatementThatIsKept() throws {
        let queue = try makeQueue()
        #expect(try queue.read(count) == 1)
        try queue.inDatabase { db throws in
            #expect(throws: DatabaseError.self) {
                try db.restrictedToUntrustedSQL { try db.beginTransaction(.deferred) }
            }
            #expect(!db.isInsideTransaction)
        }
    }

    // MARK: What others change

    @Test func eachReadSeesTheSchemaThatAnotherConnectionHasMade() throws {
        let queue = try makeQueue()
        let other = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("passphrase"))
        for number in 0..<3 {
            let before = try queue.read { try $0.columns(in: "t").count }
            #expect(before == number + 1)
            try other.write { try $0.execute(sql: "ALTER TABLE t ADD COLUMN c\(number) DEFAULT \(number)") }
            let row = try queue.read { try Row.fetchOne($0, sql: "SELECT * FROM t") }
            #expect(row?.count == number + 2)
        }
        try other.write { try $0.execute(sql: "DROP TABLE t") }
        let exists = try queue.read { try $0.tableExists("t") }
        #expect(!exists)
        try queue.close()
        try other.close()
    }

    @Test func aReadSeesTheSchemaOfAnAttachedFileThatAnotherConnectionHasChanged() throws {
        let queue = try DatabaseQueue(path: folder.file("plain.db"))
        let other = try DatabaseQueue(path: folder.file("attached.db"))
        try other.write { try $0.execute(sql: "CREATE TABLE u (a)") }
        try queue.inDatabase {
            try $0.execute(sql: "ATTACH DATABASE ? AS other", arguments: [folder.file("attached.db")])
        }
        for number in 1..<4 {
            let columns = try queue.read { try $0.columns(in: "u").count }
            #expect(columns == number)
            try other.write { try $0.execute(sql: "ALTER TABLE u ADD COLUMN c\(number)") }
        }
        try queue.close()
        try other.close()
    }

    @Test func aFileThatIsReplacedBetweenTwoReadsIsNoticedByTheSecond() throws {
        let queue = try makeQueue()
        let other = try DatabaseQueue(path: folder.file("b.db"), configuration: .keyed("passphrase"))
        try other.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try other.close()
        for _ in 0..<3 { #expect(try queue.read(count) == 1) }
        try #require(rename(folder.file("b.db"), folder.file("a.db")) == 0)
        let error = #expect(throws: StoreError.self) { try queue.read(count) }
        #expect(error?.code == .replaced)
    }
}
