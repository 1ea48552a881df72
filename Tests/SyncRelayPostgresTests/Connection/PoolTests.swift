import Foundation
import SyncRelay
import Synchronization
import TestSupport
import Testing

@testable import SyncRelayPostgres

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

    @Test func whatWaitsIsBounded() async throws {
        let pool = try pool(TestDatabase()) {
            $0.connectionCountMax = 1
            $0.waitingCountMax = 0
        }
        await expectProblem(.unavailable) { try await pool.run { try $0.run(Self.process).changedCount } }
    }

    @Test func aClosedPoolEndsItsThreadsAndTakesNothing() async throws {
        let pool = try pool(TestDatabase())
        _ = try await pool.run { try $0.run(Self.process).changedCount }
        pool.close()
        await onThread { pool.waitUntilClosed() }
        await expectProblem(.unavailable) { try await pool.run { try $0.run(Self.process).changedCount } }
    }
}
