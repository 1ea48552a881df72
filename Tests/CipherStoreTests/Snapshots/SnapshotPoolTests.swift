import Foundation
import Testing

@testable import CipherStore

/// A pool of connections that all see the database as it was at one commit.
@Suite(.timeLimit(.minutes(20))) struct SnapshotPoolTests {
    private let folder: TemporaryFolder
    private let pool: DatabasePool

    init() throws {
        folder = try TemporaryFolder()
        pool = try DatabasePool(path: folder.file("a.db"), configuration: .keyed("secret"))
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1)") }
    }

    private func insert() throws { try pool.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") } }

    private static let count: @Sendable (Database) throws -> Int? = {
        try Int.fetchOne($0, sql: "SELECT count(*) FROM t")
    }

    /// What a reader sees; also in tests that are asynchronous.
    private func count(_ reader: some DatabaseReader) throws -> Int? { try reader.read(Self.count) }

    /// What each of the connections sees, all of them held at the same time.
    private func counts(_ snapshot: DatabaseSnapshotPool) throws -> [Int?] {
        let readers = snapshot.readerPool.readers
        return try readers.map { try $0.sync(Self.count) }
    }

    @Test func allReadersSeeWhatWasThereWhenItWasMade() async throws {
        let snapshot = try pool.makeSnapshotPool()
        try insert()
        #expect(try counts(snapshot) == Array(repeating: 1, count: 5))
        #expect(try count(snapshot) == 1)
        let inTask = try await snapshot.read(Self.count)
        #expect(inTask == 1)
        #expect(
            try snapshot.reentrantRead { db in
                try snapshot.unsafeReentrantRead(Self.count) == Self.count(db)
            })
        let result = await withCheckedContinuation { continuation in
            snapshot.asyncRead { result in
                continuation.resume(returning: result.flatMap { db in Result { try Self.count(db) } })
            }
        }
        #expect(try result.get() == 1)
        #expect(try count(pool) == 2)
        try snapshot.close()
        #expect(try count(pool.makeSnapshotPool()) == 2)
    }

    /// A read that waits for another one, which only works side by side.
    @Test func readsRunBesideEachOther() async throws {
        let snapshot = try pool.makeSnapshotPool()
        let (first, second) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let one = snapshot.read { db in
            first.signal()
            second.wait()
            return try Self.count(db)
        }
        async let two = snapshot.read { db in
            second.signal()
            first.wait()
            return try Self.count(db)
        }
        let counts = try await [one, two]
        #expect(counts == [1, 1])
    }

    @Test func commitsOfOthersNeverFallBetweenTheReaders() async throws {
        // Another pool stands for another process: nothing of this one holds it back.
        let other = try DatabasePool(path: folder.file("a.db"), configuration: .keyed("secret"))
        let isDone = LockedBox(false)
        async let writing: Void = {
            while !isDone.value {
                try await other.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
            }
        }()
        var last = 0
        for _ in 0..<100 {
            let counts = try counts(pool.makeSnapshotPool())
            #expect(Set(counts).count == 1)
            let count = try #require(counts.first ?? nil)
            #expect(count >= last)
            last = count
        }
        isDone.value = true
        try await writing
    }

    @Test func aCommitBetweenTwoReadersMakesThemBeginAgain() throws {
        let readers = try (0..<3).map { _ in try pool.makeSnapshotReader() }
        let other = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        var beginCount = 0
        readers[1].beforeSharing { db in
            db.trace { event in
                guard "\(event)".contains("BEGIN") else { return }
                beginCount += 1
                if beginCount == 1 { try? other.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") } }
            }
        }
        try pool.writeWithoutTransaction { try SharedSnapshot(readers).begin($0) }
        #expect(beginCount == 2)
        #expect(try readers.map { try $0.sync(Self.count) } == [2, 2, 2])
    }

    @Test func itIsMadeInAWriteOutsideOfTransactionsAndInAReadOnly() throws {
        let snapshot = try pool.writeWithoutTransaction { db in
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO t VALUES (1)")
                for make in [pool.makeSnapshotPool, { try DatabaseSnapshotPool(db) }] {
                    let error = #expect(throws: DatabaseError.self) { _ = try make() }
                    #expect(error?.resultCode == .SQLITE_MISUSE)
                }
                return .commit
            }
            return (try pool.makeSnapshotPool(), try DatabaseSnapshotPool(db))
        }
        let inRead = try pool.read { try DatabaseSnapshotPool($0) }
        let atPath = try DatabaseSnapshotPool(path: pool.path, configuration: .keyed("secret"))
        try insert()
        for snapshot in [snapshot.0, snapshot.1, inRead, atPath] {
            #expect(try counts(snapshot) == Array(repeating: 2, count: 5))
        }
    }

    @Test func theConfigurationGivesTheNumberOfConnections() throws {
        var configuration = Configuration.keyed("secret")
        configuration.maximumReaderCount = 2
        let snapshot = try DatabaseSnapshotPool(path: pool.path, configuration: configuration)
        #expect(snapshot.readerPool.readers.count == 2)
        #expect(snapshot.configuration.readonly)
        #expect(snapshot.path == pool.path)
    }

    @Test func aSerialTargetQueueIsNoReasonToWait() throws {
        var configuration = Configuration.keyed("secret")
        configuration.targetQueue = DispatchQueue(label: "target")
        let pool = try DatabasePool(path: pool.path, configuration: configuration)
        #expect(try pool.makeSnapshotPool().read(Self.count) == 1)
    }

    @Test func otherJournalModesAndMemoryAreRefused() throws {
        let queue = try DatabaseQueue(path: folder.file("b.db"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        let error = #expect(throws: DatabaseError.self) {
            try queue.inDatabase { _ = try DatabaseSnapshotPool($0) }
        }
        #expect(error?.resultCode == .SQLITE_ERROR)
        #expect(error?.message?.contains("WAL") == true)
        let memory = #expect(throws: DatabaseError.self) {
            try DatabaseQueue().inDatabase { _ = try DatabaseSnapshotPool($0) }
        }
        #expect(memory?.resultCode == .SQLITE_MISUSE)
    }

    @Test func itRefusesToWriteAndToBeUsedOnceItIsClosed() async throws {
        let snapshot = try pool.makeSnapshotPool()
        let write: (Database) throws -> Void = { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        let writing = #expect(throws: DatabaseError.self) { try snapshot.unsafeReentrantRead(write) }
        #expect(writing?.resultCode == .SQLITE_READONLY)
        #expect(try count(snapshot) == 1)
        try snapshot.close()
        try snapshot.close()
        let reading = #expect(throws: DatabaseError.self) { try count(snapshot) }
        #expect(reading?.resultCode == .SQLITE_MISUSE)
        await #expect(throws: DatabaseError.self) { _ = try await snapshot.read(Self.count) }
    }

    @Test func anObservationOfASnapshotTellsOneValue() async throws {
        let snapshot = try pool.makeSnapshotPool()
        let recording = ObservationRecording(
            ValueObservation.tracking { try Self.count($0) ?? 0 }.shared(
                in: snapshot, scheduling: .async(onQueue: DispatchQueue(label: "told"))))
        try await recording.expect(1)
        try insert()
        await recording.expectNothingMore()
    }
}
