import Foundation
import Testing

@testable import CipherStore

/// Observations that go on after errors.
@Suite(.timeLimit(.minutes(20))) struct RecoveringObservationTests {
    private let folder: TemporaryFolder
    private let pool: DatabasePool

    init() throws {
        folder = try TemporaryFolder()
        pool = try DatabasePool(path: folder.file("a.db"), configuration: .keyed("secret"))
    }

    private func counting(_ table: String, writes: Bool = false) -> ValueObservation<ValueReducers.Fetch<Int>>
    {
        var observation = ValueObservation.tracking { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table)") ?? 0
        }
        observation.recoversFromErrors = true
        observation.requiresWriteAccess = writes
        return observation
    }

    @Test(arguments: [false, true]) func aTableThatComesLaterIsObserved(writes: Bool) async throws {
        let told = ObservationRecording(counting("later", writes: writes), in: pool)
        await #expect(throws: DatabaseError.self) { try await told.next() }
        try await pool.write { db in try db.execute(sql: "CREATE TABLE later (n)") }
        try await told.expect(finally: 0)
        try await pool.write { db in try db.execute(sql: "INSERT INTO later VALUES (1)") }
        try await told.expect(finally: 1)
        told.cancel()
    }

    @Test func anErrorIsToldOnceAndAnotherOneAgain() async throws {
        var observation = ValueObservation.tracking { db in
            if let text = try String.fetchOne(db, sql: "SELECT text FROM problem") {
                throw DatabaseError(resultCode: .SQLITE_ERROR, message: text)
            }
        }
        observation.recoversFromErrors = true
        try await pool.write { db in
            try db.execute(sql: "CREATE TABLE problem (text); INSERT INTO problem VALUES ('one')")
        }
        let told = ObservationRecording(observation, in: pool)
        await #expect { try await told.next() } throws: { "\($0)".contains("one") }
        // Commits that change nothing about it are not told.
        for number in 0..<3 {
            try await pool.write { db in try db.execute(sql: "CREATE TABLE t\(number) (n)") }
        }
        try await pool.write { db in try db.execute(sql: "UPDATE problem SET text = 'two'") }
        await #expect { try await told.next() } throws: { "\($0)".contains("two") }
        try await pool.write { db in try db.execute(sql: "DELETE FROM problem") }
        try await told.next()
        told.cancel()
    }

    /// The second try may start before the first one's start has returned.
    @Test func triesThatFollowEachOtherAtOnceDoNotEndEachOther() async throws {
        let queue = try DatabaseQueue(configuration: .keyed("secret"))
        for number in 0..<200 {
            let told = ObservationRecording(counting("later\(number)"), in: queue)
            await #expect(throws: DatabaseError.self) { try await told.next() }
            try await queue.write { db in try db.execute(sql: "CREATE TABLE later\(number) (n)") }
            try await told.expect(0)
            try await queue.write { db in try db.execute(sql: "INSERT INTO later\(number) VALUES (1)") }
            try await told.expect(1)
            told.cancel()
        }
    }

    @Test func aLockThatGoesIsTheEndOfTheError() async throws {
        let path = folder.file("b.db")
        let queue = try DatabaseQueue(path: path, configuration: .keyed("secret"))
        let other = try DatabaseQueue(path: path, configuration: .keyed("secret"))
        try await queue.write { db in try db.execute(sql: "CREATE TABLE a (n)") }
        try other.inDatabase { db in
            try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
            try db.inTransaction(.exclusive) {
                try db.execute(sql: "INSERT INTO a VALUES (1)")
                return .commit
            }
        }
        let told = ObservationRecording(counting("a"), in: queue)
        await #expect { try await told.next() } throws: { ($0 as? DatabaseError)?.resultCode == .SQLITE_BUSY }
        try other.close()
        try await told.expect(1)
        told.cancel()
    }

    @Test func aClosedDatabaseIsAnErrorAndTheEnd() async throws {
        try pool.close()
        let told = ObservationRecording(counting("a"), in: pool)
        await #expect { try await told.next() } throws: {
            ($0 as? DatabaseError)?.resultCode == .SQLITE_MISUSE
        }
        await told.expectNothingMore()
    }

    @Test func anObservationThatWasCancelledWhileItFailedTellsNothing() async throws {
        let told = ObservationRecording(counting("later"), in: pool)
        await #expect(throws: DatabaseError.self) { try await told.next() }
        told.cancel()
        try await pool.write { db in try db.execute(sql: "CREATE TABLE later (n)") }
        try await pool.write { db in try db.execute(sql: "INSERT INTO later VALUES (1)") }
        await told.expectNothingMore()
    }

    @Test func byDefaultAnErrorIsTheEnd() async throws {
        var observation = counting("later")
        observation.recoversFromErrors = false
        let told = ObservationRecording(observation, in: pool)
        await #expect(throws: DatabaseError.self) { try await told.next() }
        try await pool.write { db in try db.execute(sql: "CREATE TABLE later (n)") }
        await told.expectNothingMore()
    }
}
