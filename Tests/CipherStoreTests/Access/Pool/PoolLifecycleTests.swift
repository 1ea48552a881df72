import Dispatch
import Foundation
import Testing

@testable import CipherStore

@Suite struct PoolLifecycleTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makePool(_ configure: (inout Configuration) -> Void = { _ in }) throws -> DatabasePool {
        var configuration = Configuration.keyed("secret")
        configure(&configuration)
        let pool = try DatabasePool(path: folder.file("a.db"), configuration: configuration)
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        return pool
    }

    private static func count(_ db: Database) throws -> Int? {
        try Int.fetchOne(db, sql: "SELECT count(*) FROM t")
    }

    /// Runs a block that might wait for ever.
    private func expectEnd(
        sourceLocation: SourceLocation = #_sourceLocation, _ body: @escaping @Sendable () throws -> Void
    ) {
        let end = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do {
                try body()
            } catch {
                Issue.record(error, sourceLocation: sourceLocation)
            }
            end.signal()
        }
        // Only what never ends takes so long, even on a busy machine.
        let isInTime = end.wait(timeout: .now() + 300) == .success
        #expect(isInTime, sourceLocation: sourceLocation)
    }

    // MARK: Serial target queues

    @Test func aPoolOnASerialTargetQueueCloses() throws {
        let pool = try makePool { $0.targetQueue = DispatchQueue(label: "target") }
        #expect(try pool.read(Self.count) == 0)
        expectEnd { try pool.close() }
    }

    @Test func aPoolOnASerialTargetQueueReleasesTheMemoryOfPersistentReaders() throws {
        let pool = try makePool {
            $0.targetQueue = DispatchQueue(label: "target")
            $0.persistentReadOnlyConnections = true
        }
        #expect(try pool.read(Self.count) == 0)
        expectEnd { pool.releaseMemory() }
        #expect(pool.readerPool.readers.count == 1)
    }

    @Test func aFileIsCopiedOnASerialTargetQueue() throws {
        try makePool().close()
        var configuration = Configuration.keyed("secret")
        configuration.targetQueue = DispatchQueue(label: "target")
        let path = folder.file("a.db")
        expectEnd { [configuration] in
            let copy = try DatabaseQueue.inMemoryCopy(fromPath: path, configuration: configuration)
            #expect(try copy.read(Self.count) == 0)
        }
    }

    // MARK: Closing

    @Test func aClosedPoolLeavesNoWAL() throws {
        let pool = try makePool()
        #expect(try pool.read(Self.count) == 0)
        try pool.close()
        #expect(try folder.contents() == ["a.db"])
    }

    @Test func aPoolThatGoesAwayLeavesNoWAL() throws {
        do {
            let pool = try makePool()
            #expect(try pool.read(Self.count) == 0)
        }
        #expect(try folder.contents() == ["a.db"])
    }

    @Test func aPoolWhoseWriterHasAStatementStaysOpen() throws {
        let pool = try makePool()
        #expect(try pool.read(Self.count) == 0)
        var statement: Statement? = try pool.unsafeReentrantWrite { db in
            try db.makeStatement(sql: "SELECT * FROM t")
        }
        #expect(throws: DatabaseError.self) { try pool.close() }
        withExtendedLifetime(statement) {}
        #expect(try pool.read(Self.count) == 0)
        statement = nil
        try pool.close()
        #expect(throws: DatabaseError.self) { try pool.read(Self.count) }
    }

    // MARK: Memory

    @Test func releasingMemoryEventuallyKeepsNobodyWaiting() throws {
        let pool = try makePool()
        try pool.read { _ in
            pool.releaseMemoryEventually()
            expectEnd { _ = try pool.read(Self.count) }
        }
        #expect(pool.readerPool.readers.count <= 1)
    }

    @Test(arguments: [false, true]) func aReadMayReleaseMemory(isPersistent: Bool) throws {
        let pool = try makePool { $0.persistentReadOnlyConnections = isPersistent }
        expectEnd {
            try pool.read { db in
                pool.releaseMemory()
                let count = try Self.count(db)
                #expect(count == 0)
                #expect(pool.readerPool.readers.count == 1)
            }
        }
        #expect(try pool.read(Self.count) == 0)
        #expect(pool.readerPool.readers.count == 1)
    }

    // MARK: Barriers and snapshots

    @Test func aReadInsideOfABarrierFailsInsteadOfWaitingForItsEnd() throws {
        let pool = try makePool()
        expectEnd {
            try pool.barrierWriteWithoutTransaction { _ in
                let error = #expect(throws: DatabaseError.self) { try pool.read { _ in } }
                #expect(error?.resultCode == .SQLITE_MISUSE)
            }
        }
    }

    @Test func aSnapshotThatHasLostItsTransactionReadsNothingElse() throws {
        let pool = try makePool()
        let snapshot = try pool.makeSnapshot()
        // As SQLite does by itself when a page can't be read.
        try snapshot.read { try $0.execute(sql: "ROLLBACK") }
        try pool.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        let error = #expect(throws: DatabaseError.self) { try snapshot.read(Self.count) }
        #expect(error?.resultCode == .SQLITE_ABORT)
    }

    // MARK: Tasks

    /// The thread that a task needs to go on may be blocked by a read that
    /// waits for the task's reader.
    @Test(.timeLimit(.minutes(20)))
    func blockingReadsInTasksDontKeepOtherTasksFromEndingTheirReads() async throws {
        let pool = try makePool { $0.maximumReaderCount = 1 }
        let mayEnd = DispatchSemaphore(value: 0)
        let all = DispatchGroup()
        let started = AsyncStream.makeStream(of: Void.self)
        for _ in 0..<2 {
            all.enter()
            Task {
                let count = try await pool.read { db in
                    started.continuation.yield()
                    mayEnd.wait()
                    return try Self.count(db)
                }
                #expect(count == 0)
                all.leave()
            }
        }
        for await _ in started.stream { break }
        let blockingRead: @Sendable () throws -> Int? = { try pool.read(Self.count) }
        let blocking = DispatchSemaphore(value: 0)
        for _ in 0..<ProcessInfo.processInfo.activeProcessorCount + 2 {
            all.enter()
            Task {
                blocking.signal()
                let count = try blockingRead()
                #expect(count == 0)
                all.leave()
            }
        }
        // What goes on from here on must not need a thread of the cooperative pool.
        await withCheckedContinuation { continuation in
            all.notify(queue: .global()) { continuation.resume() }
            DispatchQueue.global().async {
                blocking.wait()
                mayEnd.signal()
                mayEnd.signal()
            }
        }
    }
}
