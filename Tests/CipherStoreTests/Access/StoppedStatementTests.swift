import Foundation
import Testing

@testable import CipherStore

/// Cancellations that come between the check of a statement and its start, and
/// reads that wait for a writer that waits for them.
@Suite struct StoppedStatementTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static func counting(to limit: Int) -> String {
        """
        WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < \(limit))
        SELECT count(*) FROM c
        """
    }

    // MARK: Cancellations

    /// SQLite forgets an interrupt while no statement runs: what is left of it then
    /// is what the connection remembers.
    @Test(arguments: [
        Interruption.Restrictions.cancelled, [.suspended, .stopping],
    ]) func aStatementThatWasJustStartingStops(restrictions: Interruption.Restrictions) throws {
        try DatabaseQueue().inDatabase { db in
            db.trace { if "\($0)".hasPrefix("WITH") { db.interruption.insert(restrictions) } }
            let error = #expect(throws: DatabaseError.self) {
                try Int.fetchOne(db, sql: Self.counting(to: 30_000_000))
            }
            #expect(error?.resultCode == .SQLITE_INTERRUPT)
            db.trace(options: [])
            db.interruption.remove(restrictions)
            let count = try Int.fetchOne(db, sql: Self.counting(to: 10))
            #expect(count == 10)
        }
    }

    @Test func whatMustNotBeStoppedIsNot() throws {
        try DatabaseQueue().inDatabase { db in
            db.interruption.insert([.cancelled, .stopping])
            defer { db.interruption.remove([.cancelled, .stopping]) }
            let count = try db.protected { try Int.fetchOne(db, sql: Self.counting(to: 100_000)) }
            #expect(count == 100_000)
        }
    }

    @Test func aSuspensionStopsNoReadThatItAllows() throws {
        var configuration = Configuration()
        configuration.journalMode = .wal
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: configuration)
        try queue.inDatabase { db in
            db.suspend()
            let count = try Int.fetchOne(db, sql: Self.counting(to: 100_000))
            #expect(count == 100_000)
            db.resume()
            db.suspend()
            db.resume()
            let again = try Int.fetchOne(db, sql: Self.counting(to: 100_000))
            #expect(again == 100_000)
        }
    }

    // MARK: Barriers

    /// Runs two blocks on threads of their own, and fails when one does not end.
    private func concurrently(
        _ first: @escaping @Sendable () -> Void, _ second: @escaping @Sendable () -> Void
    ) {
        let group = DispatchGroup()
        for block in [first, second] {
            group.enter()
            Thread {
                block()
                group.leave()
            }.start()
        }
        #expect(group.wait(timeout: .now() + 600) == .success, "a thread waits for ever")
    }

    private func makePool() throws -> DatabasePool {
        let pool = try DatabasePool(path: folder.file("p.db"))
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        return pool
    }

    /// The read asks for the writer when the barrier already waits for the read.
    @Test(arguments: [true, false]) func aReadThatWritesEndsTheWaitOfABarrier(isAsync: Bool) throws {
        let pool = try makePool()
        let hasStarted = DispatchSemaphore(value: 0)
        let barrierError = LockedBox<ResultCode?>(nil)
        concurrently(
            {
                let read: @Sendable () throws -> Void = {
                    hasStarted.signal()
                    while !pool.readerPool.isBarrierWaiting { Thread.sleep(forTimeInterval: 0.0005) }
                    try pool.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
                }
                guard isAsync else {
                    #expect(throws: Never.self) { try pool.read { _ in try read() } }
                    return
                }
                let done = DispatchSemaphore(value: 0)
                pool.asyncRead { _ in
                    #expect(throws: Never.self) { try read() }
                    done.signal()
                }
                done.wait()
            },
            {
                hasStarted.wait()
                do {
                    try pool.barrierWriteWithoutTransaction { _ in }
                } catch let error as DatabaseError {
                    barrierError.change { $0 = error.resultCode }
                } catch {}
            })
        #expect(barrierError.value == .SQLITE_BUSY)
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 1)
        try pool.barrierWriteWithoutTransaction { try $0.execute(sql: "DELETE FROM t") }
        try pool.close()
    }

    /// The read waits for the writer before the writer asks for the barrier.
    @Test func aBarrierInsideOfAWriteThatAReadWaitsForIsRefused() throws {
        let pool = try makePool()
        let hasStarted = DispatchSemaphore(value: 0)
        let isWriting = DispatchSemaphore(value: 0)
        concurrently(
            {
                #expect(throws: Never.self) {
                    try pool.read { _ in
                        hasStarted.signal()
                        isWriting.wait()
                        pool.writeWithoutTransaction { _ in }
                    }
                }
            },
            {
                hasStarted.wait()
                pool.writeWithoutTransaction { _ in
                    isWriting.signal()
                    while pool.readerPool.blockedReaderCount == 0 { Thread.sleep(forTimeInterval: 0.0005) }
                    let error = #expect(throws: DatabaseError.self) { try pool.withBarrier {} }
                    #expect(error?.resultCode == .SQLITE_BUSY)
                }
            })
        #expect(pool.readerPool.blockedReaderCount == 0)
    }
}
