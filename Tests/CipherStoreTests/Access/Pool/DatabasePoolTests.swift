import Dispatch
import Foundation
import Synchronization
import Testing

@testable import CipherStore

@Suite struct DatabasePoolTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makePool(_ configure: (inout Configuration) -> Void = { _ in }) throws -> DatabasePool {
        var configuration = Configuration.keyed("secret")
        configure(&configuration)
        let pool = try DatabasePool(path: folder.file("a.db"), configuration: configuration)
        try pool.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t (a)") }
        return pool
    }

    private func count(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT count(*) FROM t") ?? -1
    }

    // MARK: Keys

    @Test func sixConnectionsToANewFileDeriveOneKey() throws {
        let pool = try makePool()
        try useAllReaders(of: pool)
        #expect(pool.keyDerivationCount == 1)
    }

    @Test func sixConnectionsToAnExistingFileDeriveOneKey() throws {
        try makePool().close()
        let pool = try DatabasePool(path: folder.file("a.db"), configuration: .keyed("secret"))
        try useAllReaders(of: pool)
        #expect(pool.keyDerivationCount == 1)
    }

    /// Holds all readers at one moment.
    private func useAllReaders(of pool: DatabasePool) throws {
        let count = pool.configuration.maximumReaderCount
        let allStarted = DispatchSemaphore(value: 0)
        let mayEnd = DispatchSemaphore(value: 0)
        for _ in 0..<count {
            pool.asyncRead { _ in
                allStarted.signal()
                mayEnd.wait()
            }
        }
        for _ in 0..<count { allStarted.wait() }
        #expect(pool.readerPool.readers.count == count)
        for _ in 0..<count { mayEnd.signal() }
    }

    // MARK: Isolation

    @Test func aReadDoesNotWaitForTheWriterAndSeesNothingOfIt() throws {
        let pool = try makePool()
        try pool.write { db in
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            let seen = try pool.read(count)
            #expect(seen == 0)
        }
        #expect(try pool.read(count) == 1)
    }

    @Test func aReadKeepsItsStateWhileTheWriterGoesOn() throws {
        let pool = try makePool()
        try pool.read { db in
            let before = try count(db)
            try pool.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
            let after = try count(db)
            #expect(before == 0)
            #expect(after == 0)
        }
        #expect(try pool.read(count) == 1)
    }

    @Test func aConcurrentReadSeesTheStateOfTheMomentItWasAskedFor() throws {
        let pool = try makePool()
        let mayRead = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        let seen = Mutex<Int?>(nil)
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            pool.spawnConcurrentRead { result in
                mayRead.wait()
                let number = try? Int.fetchOne(result.get(), sql: "SELECT count(*) FROM t")
                seen.withLock { $0 = number ?? nil }
                done.signal()
            }
            try db.execute(sql: "INSERT INTO t VALUES (2)")
            mayRead.signal()
        }
        done.wait()
        #expect(seen.withLock { $0 } == 1)
    }

    @Test func aSnapshotKeepsItsStateOverWritesAndCheckpoints() throws {
        let pool = try makePool()
        let snapshot = try pool.makeSnapshot()
        try pool.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        try pool.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
        #expect(try snapshot.read(count) == 0)
        #expect(try pool.makeSnapshot().read(count) == 1)
        let error = #expect(throws: DatabaseError.self) {
            try snapshot.read { try $0.execute(sql: "DELETE FROM t") }
        }
        #expect(error?.resultCode == .SQLITE_READONLY)
    }

    @Test func aSnapshotOfATransactionThatIsOpenIsRefused() throws {
        let pool = try makePool()
        let error = #expect(throws: DatabaseError.self) {
            try pool.write { _ in _ = try pool.makeSnapshot() }
        }
        #expect(error?.resultCode == .SQLITE_MISUSE)
    }

    // MARK: Barriers

    @Test func aBarrierWaitsForReadsAndKeepsThemAway() throws {
        let pool = try makePool()
        let events = Mutex<[String]>([])
        let readStarted = DispatchSemaphore(value: 0)
        let mayEndRead = DispatchSemaphore(value: 0)
        let done = DispatchGroup()
        done.enter()
        pool.asyncRead { _ in
            readStarted.signal()
            mayEndRead.wait()
            events.withLock { $0.append("read") }
            done.leave()
        }
        readStarted.wait()
        done.enter()
        pool.asyncBarrierWriteWithoutTransaction { _ in
            events.withLock { $0.append("barrier") }
            done.leave()
        }
        mayEndRead.signal()
        done.wait()
        #expect(events.withLock { $0 } == ["read", "barrier"])
    }

    @Test func aConcurrentReadInsideOfABarrierFailsInsteadOfWaitingForEver() throws {
        let pool = try makePool()
        let code = Mutex<ResultCode?>(nil)
        try pool.barrierWriteWithoutTransaction { _ in
            pool.asyncConcurrentRead { result in
                do { _ = try result.get() } catch {
                    code.withLock { $0 = (error as? DatabaseError)?.resultCode }
                }
            }
        }
        #expect(code.withLock { $0 } == .SQLITE_MISUSE)
    }

    // MARK: Connections

    @Test func readersAreOpenedAgainAfterTheyWereInvalidated() throws {
        let pool = try makePool()
        _ = try pool.read(count)
        #expect(pool.readerPool.readers.count == 1)
        pool.releaseMemory()
        #expect(pool.readerPool.readers.isEmpty)
        #expect(try pool.read(count) == 0)
        #expect(pool.keyDerivationCount == 1)
    }

    @Test func aReaderThatWasInUseIsNotKeptAfterItsGeneration() throws {
        let pool = try makePool()
        try pool.read { db in
            pool.invalidateReadOnlyConnections()
            let seen = try count(db)
            #expect(seen == 0)
        }
        #expect(pool.readerPool.readers.isEmpty)
    }

    @Test func onlyTheWriterCheckpoints() throws {
        let pool = try makePool()
        let error = #expect(throws: DatabaseError.self) { try pool.unsafeRead { try $0.checkpoint() } }
        #expect(error?.resultCode == .SQLITE_READONLY)
    }

    @Test func aClosedPoolSaysSo() throws {
        let pool = try makePool()
        _ = try pool.read(count)
        try pool.close()
        try pool.close()
        let reading = #expect(throws: DatabaseError.self) { try pool.read(count) }
        let writing = #expect(throws: DatabaseError.self) { try pool.write(count) }
        #expect(reading?.resultCode == .SQLITE_MISUSE)
        #expect(writing?.resultCode == .SQLITE_MISUSE)
        #expect(throws: DatabaseError.self) { try pool.makeSnapshot() }
    }

    @Test func aFileThatWasReplacedIsNoticedByReadersAndTheWriter() throws {
        let pool = try makePool()
        _ = try pool.read(count)
        try FileManager.default.moveItem(atPath: folder.file("a.db"), toPath: folder.file("b.db"))
        let reading = #expect(throws: StoreError.self) { try pool.read(count) }
        let writing = #expect(throws: StoreError.self) { try pool.write(count) }
        let opening = #expect(throws: (any Error).self) { try pool.makeSnapshot() }
        #expect(reading?.code == .replaced)
        #expect(writing?.code == .replaced)
        #expect(opening != nil)
    }

    @Test func aPoolOfADatabaseInMemoryIsRefused() throws {
        let error = #expect(throws: DatabaseError.self) { try DatabasePool(path: ":memory:") }
        #expect(error?.message?.contains("DatabaseQueue") == true)
    }

    @Test func readersWaitInTurnWhenAllConnectionsAreInUse() throws {
        let pool = try makePool { $0.maximumReaderCount = 1 }
        let numbers = Mutex<[Int]>([])
        let group = DispatchGroup()
        let mayStart = DispatchSemaphore(value: 0)
        pool.asyncRead { _ in mayStart.wait() }
        for number in 0..<50 {
            group.enter()
            pool.asyncRead { _ in
                numbers.withLock { $0.append(number) }
                group.leave()
            }
        }
        mayStart.signal()
        group.wait()
        #expect(numbers.withLock { $0 } == Array(0..<50))
        #expect(pool.readerPool.readers.count == 1)
    }

    @Test func aLabelNamesEachConnection() throws {
        let pool = try makePool { $0.label = "Notes" }
        let writer = try pool.write { [$0.description, $0.configuration.label] }
        #expect(writer == ["Notes.writer", "Notes"])
        let reader = try pool.read { [$0.description, $0.configuration.label] }
        #expect(reader == ["Notes.reader.1", "Notes"])
        var configuration = Configuration()
        configuration.label = "Notes"
        let queue = try DatabaseQueue(configuration: configuration).read { $0.description }
        #expect(queue == "Notes")
    }
}
