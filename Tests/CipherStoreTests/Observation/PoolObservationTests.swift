import Foundation
import Testing

@testable import CipherStore

/// Observations of a pool beside its writes.
@Suite(.timeLimit(.minutes(20))) struct PoolObservationTests {
    private let folder: TemporaryFolder
    private let pool: DatabasePool

    init() throws {
        folder = try TemporaryFolder()
        pool = try DatabasePool(path: folder.file("a.db"), configuration: .keyed("secret"))
        try pool.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE a (n INTEGER); CREATE TABLE b (n INTEGER);
                    CREATE TABLE choice (name TEXT); INSERT INTO choice VALUES ('a')
                    """)
        }
    }

    /// The highest number in the chosen table, with the table's name.
    private static func chosen(_ db: Database) throws -> String {
        let table = try String.fetchOne(db, sql: "SELECT name FROM choice") ?? ""
        return table + String(try Int.fetchOne(db, sql: "SELECT max(n) FROM \(table)") ?? 0)
    }

    private func insert(_ number: Int) throws {
        try pool.write { try $0.execute(sql: "INSERT INTO a VALUES (?)", arguments: [number]) }
    }

    // MARK: Nothing is missed

    @Test(arguments: [UInt64](1...4))
    func valuesAreCommittedStatesInOrderAndTheLastIsTheLast(seed: UInt64) async throws {
        let pool = pool
        let journal = LockedBox([try await pool.read(Self.chosen)])
        let number = LockedBox(0)
        func writers() async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<4 {
                    group.addTask {
                        var random = SeededGenerator(seed: seed &* 100 &+ UInt64(writer))
                        for _ in 0..<40 {
                            let kind = Int.random(in: 0..<6, using: &random)
                            try await pool.write { db in
                                number.change { $0 += 1 }
                                switch kind {
                                case 0:
                                    try db.execute(
                                        sql:
                                            "UPDATE choice SET name = CASE name WHEN 'a' THEN 'b' ELSE 'a' END"
                                    )
                                case 1, 2:
                                    try db.execute(sql: "INSERT INTO a VALUES (?)", arguments: [number.value])
                                default:
                                    try db.execute(sql: "INSERT INTO b VALUES (?)", arguments: [number.value])
                                }
                                // Writes come one after the other, so this is the order of the commits.
                                let value = try Self.chosen(db)
                                journal.change { $0.append(value) }
                            }
                            if Int.random(in: 0..<4, using: &random) == 0 { await Task.yield() }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        var recordings: [ObservationRecording<String>] = []
        async let writing: Void = writers()
        for index in 0..<6 {
            // Some start while the writes go on.
            try await pool.writeWithoutTransaction { _ in }
            var observation = ValueObservation.tracking(Self.chosen)
            observation.requiresWriteAccess = index == 5
            recordings.append(
                index % 2 == 0
                    ? ObservationRecording(observation, in: pool)
                    : ObservationRecording(observation, in: AnyDatabaseReader(pool), scheduling: .task))
        }
        try await writing
        try await pool.write {
            try $0.execute(sql: "UPDATE choice SET name = 'a'; INSERT INTO a VALUES (1000)")
        }
        journal.change { $0.append("a1000") }
        for recording in recordings {
            let values = try await recording.values { $0 == "a1000" }
            var rest = journal.value[...]
            for value in values {
                let index = rest.firstIndex(of: value)
                #expect(index != nil, "\(value) is no later state")
                rest = rest[(index ?? rest.startIndex)...]
            }
        }
    }

    /// What stops the statements that are running.
    enum Stop: CaseIterable { case interruption, suspension }

    @Test(arguments: Stop.allCases, [0, 1])
    func aFetchThatIsStoppedIsDoneAgain(stop: Stop, stoppedCount: Int) async throws {
        let stops = LockedBox(0)
        let observation = ValueObservation.tracking { db -> Int in
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM a") ?? 0
            let rows = try Int.fetchCursor(db, sql: "SELECT 1 UNION SELECT 2")
            _ = try rows.next()
            if count == stoppedCount && stops.value < 2 {
                stops.change { $0 += 1 }
                switch stop {
                case .interruption: db.interrupt()
                case .suspension: db.suspend()
                }
            }
            while try rows.next() != nil {}
            return count
        }
        let recording = ObservationRecording(observation, in: pool)
        try await recording.expect(0)
        try insert(1)
        try await recording.expect(finally: 1)
        try insert(2)
        try await recording.expect(finally: 2)
        #expect(stops.value == 2)
    }

    @Test func aFetchThatIsStoppedEachTimeFailsInTheEnd() async throws {
        let observation = ValueObservation.tracking { db -> Int in
            throw DatabaseError(resultCode: .SQLITE_INTERRUPT)
        }
        let recording = ObservationRecording(observation, in: pool)
        await #expect(throws: DatabaseError.self) { try await recording.next() }
    }

    @Test func aCommitBetweenTheFirstFetchAndItsRegionIsNotMissed() async throws {
        let pool = pool
        let isFirst = LockedBox(true)
        let observation = ValueObservation.trackingConstantRegion { db -> Int in
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM a") ?? 0
            if isFirst.value {
                isFirst.value = false
                // On another connection, while this one's snapshot is open.
                try pool.write { try $0.execute(sql: "INSERT INTO a VALUES (1)") }
            }
            return count
        }
        let recording = ObservationRecording(observation, in: pool)
        let values = try await recording.next(2)
        #expect(values == [0, 1])
    }

    @Test func aQuietStartFetchesOnce() async throws {
        let recording = ObservationRecording(ValueObservation.tracking(Self.chosen), in: pool)
        try await recording.expect("a0")
        try await pool.writeWithoutTransaction { _ in }
        _ = try await pool.read(Self.chosen)
        await recording.expectNothingMore()
    }

    @Test func whatOthersWroteAndSomebodyToldBeforeTheRegionIsNotMissed() async throws {
        let path = pool.path
        let pool = pool
        let isFirst = LockedBox(true)
        let observation = ValueObservation.tracking { db -> Int in
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM a") ?? 0
            if isFirst.value {
                isFirst.value = false
                let other = try DatabaseQueue(path: path, configuration: .keyed("secret"))
                try other.write { try $0.execute(sql: "INSERT INTO a VALUES (1)") }
                try pool.writeWithoutTransaction { try $0.notifyChanges(in: Table("a")) }
            }
            return count
        }
        let values = try await ObservationRecording(observation, in: pool).next(2)
        #expect(values == [0, 1])
    }

    @Test func aTransactionThatWasLeftOpenIsNotMissed() async throws {
        var configuration = Configuration.keyed("secret")
        configuration.allowsUnsafeTransactions = true
        let pool = try DatabasePool(path: folder.file("a.db"), configuration: configuration)
        try await pool.writeWithoutTransaction { db in
            try db.beginTransaction()
            try db.execute(sql: "INSERT INTO a VALUES (1)")
        }
        let recording = ObservationRecording(ValueObservation.tracking(Self.chosen), in: pool)
        try await recording.expect("a0")
        try await pool.writeWithoutTransaction { try $0.commit() }
        try await recording.expect("a1")
    }

    // MARK: Nobody waits

    @Test func theFirstValueDoesNotWaitForTheWriter() async throws {
        let pool = pool
        let mayEnd = DispatchSemaphore(value: 0)
        let isWriting = AsyncStream.makeStream(of: Void.self)
        pool.asyncWriteWithoutTransaction { _ in
            isWriting.continuation.yield()
            mayEnd.wait()
        }
        for await _ in isWriting.stream { break }
        let recording = ObservationRecording(ValueObservation.tracking(Self.chosen), in: pool)
        try await recording.expect("a0")
        mayEnd.signal()
    }

    @Test func writesDoNotWaitForAFetch() async throws {
        let mayFetch = DispatchSemaphore(value: 0)
        let blocks = LockedBox(false)
        let observation = ValueObservation.tracking { db -> String in
            let value = try Self.chosen(db)
            if blocks.value { mayFetch.wait() }
            return value
        }
        // More of them than the pool has readers.
        let recordings = (0..<8).map { _ in ObservationRecording(observation, in: pool) }
        for recording in recordings { try await recording.expect("a0") }
        try await pool.writeWithoutTransaction { _ in }
        blocks.value = true
        for number in 1...20 { try insert(number) }
        blocks.value = false
        for _ in 0..<100 { mayFetch.signal() }
        for recording in recordings {
            let values = try await recording.values { $0 == "a20" }
            // Commits share a value while a fetch runs.
            #expect(values.count <= 4)
        }
    }

    @Test func connectionsThatShareASerialQueueDoNotWaitForEachOther() async throws {
        var configuration = Configuration.keyed("secret")
        configuration.targetQueue = DispatchQueue(label: "all")
        let pool = try DatabasePool(path: folder.file("a.db"), configuration: configuration)
        let recordings = (0..<20).map { _ in
            ObservationRecording(ValueObservation.tracking(Self.chosen), in: pool)
        }
        for recording in recordings { try await recording.expect("a0") }
        for number in 1...10 {
            try await pool.write { try $0.execute(sql: "INSERT INTO a VALUES (?)", arguments: [number]) }
        }
        for recording in recordings { try await recording.expect(finally: "a10") }
    }

    // MARK: Readers of one state

    /// A read-only database goes on: others may write to the file.
    @Test func aSnapshotHasOneValueAndAReadOnlyDatabaseIsTracked() async throws {
        var configuration = Configuration.keyed("secret")
        configuration.readonly = true
        let path = folder.file("a.db")
        let readers: [(any DatabaseReader, [String])] = [
            (try pool.makeSnapshot(), []), (AnyDatabaseReader(try pool.makeSnapshot()), []),
            (try DatabasePool(path: path, configuration: configuration), ["region"]),
            (AnyDatabaseWriter(try DatabaseQueue(path: path, configuration: configuration)), ["region"]),
        ]
        for (reader, tracking) in readers {
            let events = ObservationRecording<String>()
            let observation = ValueObservation.tracking(Self.chosen).handleEvents(
                willStart: { events.receive(.value("start")) },
                willFetch: { events.receive(.value("fetch")) },
                willTrackRegion: { _ in events.receive(.value("region")) })
            let recording = ObservationRecording(observation, in: reader)
            try await recording.expect("a0")
            // A pool watches the region in an access to its writer, beside the first value.
            for event in ["start", "fetch"] + tracking { try await events.expect(event) }
            await events.expectNothingMore()
        }
    }
}
