import Dispatch
import Foundation
import Testing

@testable import CipherStore

/// Reads that share readers.
@Suite(.timeLimit(.minutes(5))) struct ReaderRoundsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(_ readerCount: Int) throws -> DatabasePool {
        var configuration = Configuration.keyed("secret")
        configuration.maximumReaderCount = readerCount
        let pool = try DatabasePool(path: folder.file("a.db"), configuration: configuration)
        try pool.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t (a INTEGER)") }
        return pool
    }

    private final class Read: RoundRead {
        private let body: @Sendable (Database) -> Void
        private let onFailure: @Sendable (any Error) -> Void

        init(
            onFailure: @escaping @Sendable (any Error) -> Void = { Issue.record($0) },
            _ body: @escaping @Sendable (Database) -> Void
        ) {
            self.body = body
            self.onFailure = onFailure
        }

        func read(_ db: Database) { body(db) }
        func cannotRead(_ error: any Error) { onFailure(error) }
    }

    /// Waits for some signals, off the threads that tasks share.
    private func wait(_ count: Int, for semaphore: DispatchSemaphore) async {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "waiting").async {
                for _ in 0..<count { semaphore.wait() }
                continuation.resume()
            }
        }
    }

    @Test(arguments: [1, 5]) func eachReadIsDoneOnceAndInItsTurn(readerCount: Int) async throws {
        let pool = try open(readerCount)
        let log = LockedBox<[Int]>([])
        let isDone = DispatchSemaphore(value: 0)
        for number in 0..<3000 {
            let read = Read { _ in
                log.change { $0.append(number) }
                isDone.signal()
            }
            pool.readerRounds.add(read, on: pool)
            if number % 500 == 0 { await Task.yield() }
        }
        await wait(3000, for: isDone)
        if readerCount == 1 { #expect(log.value == Array(0..<3000)) }
        #expect(log.value.sorted() == Array(0..<3000))
    }

    @Test func aReadThatWaitsForAReaderComesNext() async throws {
        let pool = try open(1)
        let log = LockedBox<[String]>([])
        let (mayEnd, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        for number in 0..<4 {
            let read = Read { _ in
                if number == 0 { mayEnd.wait() }
                log.change { $0.append("\(number)") }
                isDone.signal()
            }
            pool.readerRounds.add(read, on: pool)
        }
        // It waits from here on.
        pool.asyncRead { _ in
            log.change { $0.append("other") }
            isDone.signal()
        }
        mayEnd.signal()
        await wait(5, for: isDone)
        #expect(log.value == ["0", "other", "1", "2", "3"])
    }

    @Test func aLongReadKeepsOnlyItsOwnReader() async throws {
        let pool = try open(2)
        let (mayEnd, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        pool.readerRounds.add(
            Read { _ in
                mayEnd.wait()
                isDone.signal()
            }, on: pool)
        for _ in 0..<100 { pool.readerRounds.add(Read { _ in isDone.signal() }, on: pool) }
        await wait(100, for: isDone)
        mayEnd.signal()
        await wait(1, for: isDone)
    }

    @Test func aRoundGoesOnWhileOnlyAnotherOneWaits() {
        let readers = ReaderPool(capacity: 1)
        let slot = readers.acquire()
        let round = readers.acquire(isRound: true) { _ in }
        #expect(readers.mayKeep(slot))
        let other = readers.acquire { _ in }
        #expect(!readers.mayKeep(slot))
        readers.giveUp(other)
        #expect(readers.mayKeep(slot))
        readers.giveUp(round)
        readers.release(slot)
    }

    @Test func aRoundUsesNoConnectionThatWasGivenUp() async throws {
        let pool = try open(1)
        let names = LockedBox<[String]>([])
        let (mayEnd, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        for number in 0..<3 {
            let read = Read { db in
                if number == 0 { mayEnd.wait() }
                names.change { $0.append(db.description) }
                isDone.signal()
            }
            pool.readerRounds.add(read, on: pool)
        }
        pool.invalidateReadOnlyConnections()
        mayEnd.signal()
        await wait(3, for: isDone)
        #expect(names.value.count == 3)
        #expect(names.value[0] != names.value[1])
        #expect(names.value[1] == names.value[2])
    }

    @Test func withoutAReaderEachReadIsToldSo() async throws {
        let pool = try open(2)
        try pool.close()
        let isTold = DispatchSemaphore(value: 0)
        for _ in 0..<100 {
            let read = Read(
                onFailure: { _ in isTold.signal() }, { _ in Issue.record("the pool is closed") })
            pool.readerRounds.add(read, on: pool)
        }
        await wait(100, for: isTold)
    }

    @Test func whatAReadAddsIsDoneToo() async throws {
        let pool = try open(1)
        let isDone = DispatchSemaphore(value: 0)
        pool.readerRounds.add(
            Read { _ in pool.readerRounds.add(Read { _ in isDone.signal() }, on: pool) }, on: pool)
        await wait(1, for: isDone)
    }

    // MARK: Observations

    @Test func manyObservationsOfOneTableEndWithTheLastCommit() async throws {
        let pool = try open(3)
        let observation = ValueObservation.tracking {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM t") ?? 0
        }
        let recordings = (0..<300).map { _ in ObservationRecording(observation, in: pool, scheduling: .task) }
        for recording in recordings { try await recording.expect(0) }
        for _ in 0..<20 { try await pool.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") } }
        for recording in recordings {
            let values = try await recording.values { $0 == 20 }
            #expect(values == values.sorted())
        }
    }

    /// An error of one of them is nobody else's.
    @Test func anObservationThatFailsTakesNoValueFromOthers() async throws {
        let pool = try open(1)
        struct Failure: Error {}
        let sum = ValueObservation.tracking { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") ?? 0 }
        let failing = ValueObservation.tracking { db -> Int in
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM t") ?? 0
            if count > 0 { throw Failure() }
            return count
        }
        let recordings = (0..<10).map { ObservationRecording($0 % 2 == 0 ? sum : failing, in: pool) }
        for recording in recordings { try await recording.expect(0) }
        try await pool.writeWithoutTransaction { _ in }
        try await pool.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        for (number, recording) in recordings.enumerated() {
            if number % 2 == 0 {
                try await recording.expect(1)
            } else {
                await #expect(throws: Failure.self) { try await recording.next() }
            }
        }
    }
}
