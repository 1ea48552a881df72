import Foundation
import Testing

@testable import CipherStore

/// Readers, writers, cancellations and interruptions on one pool at once.
///
/// `CIPHERSTORE_STRESS_SECONDS` makes it run for that long instead of a fixed
/// number of rounds, and `CIPHERSTORE_STRESS_SEED` changes what the tasks do;
/// `Scripts/stress` runs it under Thread Sanitizer.
@Suite struct PoolStressTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seconds = environment["CIPHERSTORE_STRESS_SECONDS"].flatMap(Double.init)
    private static let seed = environment["CIPHERSTORE_STRESS_SEED"].flatMap { UInt64($0) } ?? 1

    @Test(.timeLimit(.minutes(20))) func everyCommittedRowIsThereAndNoConnectionLeaks() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("stress.db")
        let journal = WriteJournal()
        do {
            let pool = try DatabasePool(path: path, configuration: .keyed("secret"))
            try await pool.write { try $0.execute(sql: "CREATE TABLE t (writer, number, half)") }
            try await run(pool, journal)
            #expect(pool.readerPool.readers.count <= pool.configuration.maximumReaderCount)
            #expect(pool.keyDerivationCount == 1)
            // A write that was reported as undone left nothing, and one that was acknowledged is there.
            let written = try await pool.read(Self.writtenPairs)
            #expect(written == journal.committed)
            try pool.close()
        }
        #expect(filesLeftOpen(of: path) == 0)
    }

    /// The same with threads and dispatch queues alone, which Thread Sanitizer
    /// understands: on Linux it does not see how tasks hand values over.
    @Test(.timeLimit(.minutes(20))) func threadsThatCancelAndInterruptEachOtherLoseNothing() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("stress.db")
        let journal = WriteJournal()
        do {
            let pool = try DatabasePool(path: path, configuration: .keyed("secret"))
            try pool.write { try $0.execute(sql: "CREATE TABLE t (writer, number, half)") }
            ThreadStress(pool: pool, journal: journal, seed: Self.seed, seconds: Self.seconds).run()
            #expect(pool.readerPool.readers.count <= pool.configuration.maximumReaderCount)
            #expect(pool.keyDerivationCount == 1)
            #expect(try pool.read(Self.writtenPairs) == journal.committed)
            try pool.close()
        }
        #expect(filesLeftOpen(of: path) == 0)
    }

    /// The writes that left both of their rows; a half one gets a name that no journal has.
    static func writtenPairs(_ db: Database) throws -> Set<String> {
        let rows = try Row.fetchAll(db, sql: "SELECT writer, number, count(*) AS n FROM t GROUP BY 1, 2")
        return Set(
            rows.map { row in
                let (writer, number, count): (Int, Int, Int) = (row["writer"], row["number"], row["n"])
                return count == 2 ? "\(writer)-\(number)" : "half of \(writer)-\(number)"
            })
    }

    private func run(_ pool: DatabasePool, _ journal: WriteJournal) async throws {
        let deadline = Self.seconds.map { ContinuousClock.now.advanced(by: .seconds($0)) }
        let goesOn: @Sendable (Int) -> Bool = { round in
            deadline.map { ContinuousClock.now < $0 } ?? (round < 150)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<8 {
                group.addTask { try await Self.read(pool, SplitMix(Self.seed &+ UInt64(index)), goesOn) }
            }
            for index in 0..<2 {
                group.addTask {
                    try await Self.write(
                        pool, index, SplitMix(Self.seed &* 31 &+ UInt64(index)), journal, goesOn)
                }
            }
            group.addTask {
                var random = SplitMix(Self.seed &* 77)
                var round = 0
                while goesOn(round) {
                    round += 1
                    for _ in 0..<Int.random(in: 1...50, using: &random) { await Task.yield() }
                    switch Int.random(in: 0..<8, using: &random) {
                    case 0: pool.releaseMemoryEventually()
                    case 1: pool.invalidateReadOnlyConnections()
                    case 2: try await pool.barrierWriteWithoutTransaction { _ in }
                    default: pool.interrupt()
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Runs an access in a task of its own, which is sometimes cancelled.
    private static func attempt(
        _ random: inout SplitMix, _ body: @escaping @Sendable () async throws -> Void
    ) async throws -> Bool {
        let task = Task { try await body() }
        if Int.random(in: 0..<3, using: &random) == 0 {
            for _ in 0..<Int.random(in: 0...8, using: &random) { await Task.yield() }
            task.cancel()
        }
        do {
            try await task.value
            return true
        } catch is CancellationError {
            return false
        } catch let error as DatabaseError where error.isInterruptionError {
            return false
        }
    }

    private static func read(
        _ pool: DatabasePool, _ seed: SplitMix, _ goesOn: @Sendable (Int) -> Bool
    ) async throws {
        var random = seed
        var round = 0
        while goesOn(round) {
            round += 1
            let way = Int.random(in: 0..<4, using: &random)
            _ = try await attempt(&random) {
                switch way {
                case 0: try await pool.unsafeRead { db in _ = try countRows(db) }
                case 1:
                    let snapshot = try pool.makeSnapshot()
                    try await snapshot.read(checkIsolation)
                default: try await pool.read(checkIsolation)
                }
            }
        }
    }

    /// Each transaction writes two rows, so the number is even and stays the same.
    @Sendable static func checkIsolation(_ db: Database) throws {
        let before = try countRows(db)
        var counted = 0
        let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM t")
        while try cursor.next() != nil { counted += 1 }
        #expect(before.isMultiple(of: 2))
        #expect(counted == before)
    }

    private static func countRows(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT count(*) FROM t") ?? -1
    }

    private static func write(
        _ pool: DatabasePool, _ writer: Int, _ seed: SplitMix, _ journal: WriteJournal,
        _ goesOn: @Sendable (Int) -> Bool
    ) async throws {
        var random = seed
        var number = 0
        while goesOn(number) {
            number += 1
            let current = number
            let isCommitted = try await attempt(&random) {
                try await pool.write { db in
                    for half in 0..<2 {
                        try db.execute(
                            sql: "INSERT INTO t VALUES (?, ?, ?)", arguments: [writer, current, half])
                    }
                }
            }
            if isCommitted { journal.add(writer, current) }
        }
    }

    /// The files that stay open. A reader that was invalidated closes when its last user lets go of it,
    /// which on a busy machine may be a moment after the pool was closed.
    private func filesLeftOpen(of path: String) -> Int {
        let end = ContinuousClock.now + .seconds(600)
        while openFiles(of: path) > 0, ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.01) }
        return openFiles(of: path)
    }

    private func openFiles(of path: String) -> Int {
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return descriptors.count { descriptor in
            let target = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/self/fd/" + descriptor)
            return target?.hasPrefix(path) ?? false
        }
    }
}

/// The writes that were acknowledged.
final class WriteJournal: Sendable {
    private let entries = LockedBox<Set<String>>([])

    func add(_ writer: Int, _ number: Int) {
        entries.change { _ = $0.insert("\(writer)-\(number)") }
    }

    var committed: Set<String> { entries.value }
}

/// SplitMix64, so that a seed gives the same choices everywhere.
/// Source: <https://prng.di.unimi.it/splitmix64.c>
struct SplitMix: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
