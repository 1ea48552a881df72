import Foundation
import SyncRelay
import Synchronization
import TestSupport
import Testing

@testable import SyncRelayPostgres

/// The numbers of jobs in the order in which they were done.
private final class DoneJobs: Sendable {
    let numbers = Mutex<[Int]>([])
}

@Suite(.needsPostgres, .fewAtATime) struct PoolTests {
    private static let process = PostgresStatement("process", [], "SELECT pg_backend_pid()")
    private static let sleep = PostgresStatement("sleep", [], "SELECT 1 FROM pg_sleep(0.05)")
    private static let longSleep = PostgresStatement("long-sleep", [], "SELECT 1 FROM pg_sleep(60)")

    private func pool(
        _ database: TestDatabase, _ change: (inout PostgresLimits) -> Void = { _ in }
    ) throws -> PostgresPool {
        var limits = PostgresLimits(connectionCountMax: 3, seconds: 30)
        change(&limits)
        return PostgresPool(try LibPQ.shared(), try database.address(), limits)
    }

    @Test func connectionsAreBoundedAndUsedAgain() async throws {
        let pool = try pool(TestDatabase())
        let processes = try await withThrowingTaskGroup(of: Int64.self) { group in
            for _ in 0..<30 {
                group.addTask {
                    try await pool.run { session in
                        _ = try session.run(Self.sleep)
                        return try session.run(Self.process).first?.integer(0) ?? 0
                    }
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(processes.count == 3)
    }

    // One after the other, the statements would take 20 minutes.
    @Test(.timeLimit(.minutes(5))) func jobsBehindOnesThatHangAreToldInTime() async throws {
        let pool = try pool(TestDatabase()) {
            $0.connectionCountMax = 1
            $0.seconds = 0.3
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    await expectProblem(.unavailable) {
                        try await pool.run { try $0.run(Self.longSleep).changedCount }
                    }
                }
            }
        }
    }

    @Test func aConnectionThatWasEndedIsReplaced() async throws {
        let database = try TestDatabase()
        let pool = try pool(database) { $0.connectionCountMax = 1 }
        let first = try await pool.run { try $0.run(Self.process).first?.integer(0) }
        try database.run(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
        let second = try await pool.run { try $0.run(Self.process).first?.integer(0) }
        #expect(first != nil && second != nil && first != second)
    }

    @Test func aTransactionThatFailsLeavesNothing() async throws {
        let database = try TestDatabase()
        try database.run("CREATE TABLE note (id bigint)")
        let insert = PostgresStatement("insert", [], "INSERT INTO note VALUES (1)")
        let pool = try pool(database)
        await expectProblem(.exists) {
            try await pool.run { session in
                try session.repeating { connection, _ in
                    try PostgresSession.transaction(connection, until: session.deadline) {
                        try connection.run(insert, until: session.deadline)
                        throw RelayProblem(.exists, "enough")
                    }
                }
            }
        }
        #expect(try database.run("SELECT count(*) FROM note") == "0")
    }

    @Test func anUrgentJobWaitsBehindAsManyAsThereMayBeConnections() async throws {
        let pool = try pool(TestDatabase()) { $0.connectionCountMax = 1 }
        let done = DoneJobs()
        let (begun, isFree) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        pool.submit(until: pool.deadline) { _ in
            begun.signal()
            isFree.wait()
        } onFailure: { _ in
            begun.signal()
        }
        await onThread { begun.wait() }
        for number in 1...5 {
            pool.submit(until: pool.deadline, isUrgent: number == 5) { _ in
                done.numbers.withLock { $0.append(number) }
            } onFailure: { _ in
            }
        }
        isFree.signal()
        _ = try await pool.run { try $0.run(Self.process).changedCount }
        let numbers = done.numbers.withLock { $0 }
        #expect(numbers == [1, 5, 2, 3, 4])
    }

    @Test func whatWaitsIsBounded() async throws {
        let pool = try pool(TestDatabase()) {
            $0.connectionCountMax = 1
            $0.waitingCountMax = 0
        }
        await expectProblem(.unavailable) { try await pool.run { try $0.run(Self.process).changedCount } }
    }

    /// What a worker makes of a server that can't be reached.
    ///
    /// - returns: Whether others are told; it is tried again when the moment of that may have passed unseen.
    private func tellsOthers(
        _ address: PostgresAddress, connectingSeconds: Double, milliseconds: Int, attempts: Int = 20
    ) throws -> Bool {
        let outage = PostgresOutage()
        let limits = PostgresLimits(connectingSeconds: connectingSeconds)
        for _ in 0..<attempts {
            let worker = PostgresWorker(try LibPQ.shared(), address, limits, outage)
            let none = failure { _ = try worker.connection(until: .now + .milliseconds(milliseconds)) }
            #expect(none?.kind == .cannotConnect || none?.kind == .outOfReach)
            if outage.present != nil { return true }
        }
        return false
    }

    @Test func aCallThatWasNearlyOutOfTimeTellsOthersNothingOfTheServer() throws {
        let folder = NSTemporaryDirectory() + "silent-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let silent = try SilentSocket(path: folder + "/.s.PGSQL.5432")
        defer { silent.close() }
        let address = try PostgresAddress("postgresql:///relay?host=\(folder)")
        let late = try tellsOthers(address, connectingSeconds: 5, milliseconds: 20, attempts: 5)
        #expect(!late)
        // One that had its time does, and so does a refusal, however little time there was.
        let full = try tellsOthers(address, connectingSeconds: 0.02, milliseconds: 30_000)
        #expect(full)
        let none = try PostgresAddress("postgresql:///relay?host=/tmp/no-such-folder")
        let refused = try tellsOthers(none, connectingSeconds: 3_600, milliseconds: 30_000)
        #expect(refused)
    }

    @Test func aClosedPoolEndsItsThreadsAndTakesNothing() async throws {
        let pool = try pool(TestDatabase())
        _ = try await pool.run { try $0.run(Self.process).changedCount }
        pool.close()
        await onThread { pool.waitUntilClosed() }
        await expectProblem(.unavailable) { try await pool.run { try $0.run(Self.process).changedCount } }
    }
}
