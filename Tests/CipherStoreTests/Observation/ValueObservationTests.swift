import Foundation
import Testing

@testable import CipherStore

/// Observations of queues and pools, with what both have in common.
@Suite(.timeLimit(.minutes(20))) struct ValueObservationTests {
    enum Kind: CaseIterable { case queue, pool }

    private struct Failure: Error {}

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(_ kind: Kind) throws -> any DatabaseWriter {
        let path = folder.file("a.db")
        let writer: any DatabaseWriter =
            switch kind {
            case .queue: try DatabaseQueue(path: path, configuration: .keyed("secret"))
            case .pool: try DatabasePool(path: path, configuration: .keyed("secret"))
            }
        try writer.write { try $0.execute(sql: "CREATE TABLE t (a INTEGER); CREATE TABLE u (a INTEGER)") }
        return writer
    }

    private func insert(_ value: Int, into table: String = "t", _ writer: any DatabaseWriter) throws {
        try writer.write { try $0.execute(sql: "INSERT INTO \(table) VALUES (?)", arguments: [value]) }
    }

    private static let sum = ValueObservation.tracking { db in
        try Int.fetchOne(db, sql: "SELECT total(a) FROM t") ?? 0
    }

    // MARK: Values

    @Test(arguments: Kind.allCases) func theFirstValueAndOneAfterEachCommit(kind: Kind) async throws {
        let writer = try open(kind)
        let recording = ObservationRecording(Self.sum, in: writer)
        try await recording.expect(0)
        for value in 1...3 {
            try insert(value, writer)
            let expected = value * (value + 1) / 2
            // A pool may tell a value twice.
            try await recording.expect(finally: expected)
        }
    }

    @Test func aQueueTellsEachCommitAndNoRollback() async throws {
        let writer = try open(.queue)
        let recording = ObservationRecording(Self.sum, in: writer)
        try await writer.writeWithoutTransaction { db in
            try db.execute(sql: "INSERT INTO t VALUES (1); INSERT INTO u VALUES (1); UPDATE t SET a = 1")
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO t VALUES (100)")
                return .rollback
            }
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO t VALUES (10), (10)")
                try db.inSavepoint {
                    try db.execute(sql: "INSERT INTO t VALUES (1000)")
                    return .rollback
                }
                return .commit
            }
        }
        let values = try await recording.next(4)
        #expect(values == [0, 1, 1, 21])
        await recording.expectNothingMore()
    }

    @Test(arguments: Kind.allCases) func theRegionIsThatOfTheLastFetch(kind: Kind) async throws {
        let writer = try open(kind)
        let regions = LockedBox<[String]>([])
        let observation = ValueObservation.tracking { db in
            let chosen = try Bool.fetchOne(db, sql: "SELECT a FROM u") ?? false
            return chosen ? try Int.fetchOne(db, sql: "SELECT max(a) FROM t") ?? 0 : -1
        }.handleEvents(willTrackRegion: { region in regions.change { $0.append("\(region)") } })
        let recording = ObservationRecording(observation, in: writer)
        try await recording.expect(-1)
        // A pool reads the first value before it tracks anything; what is written in between is in its second fetch.
        while regions.value.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        try insert(1, into: "u", writer)
        try await recording.expect(finally: 0)
        try insert(7, writer)
        try await recording.expect(finally: 7)
        try await writer.writeWithoutTransaction { _ in }
        #expect(regions.value == ["u(a)", "t(a),u(a)"])
    }

    @Test(arguments: Kind.allCases) func aConstantRegionIsThatOfTheFirstFetch(kind: Kind) async throws {
        let writer = try open(kind)
        let observation = ValueObservation.trackingConstantRegion { db in
            try Int.fetchOne(db, sql: "SELECT max(a) FROM t").map {
                try Int.fetchOne(db, sql: "SELECT \($0) + count(*) FROM u") ?? 0
            }
        }
        let recording = ObservationRecording(observation, in: writer)
        try await recording.expect(nil)
        try insert(1, writer)
        try await recording.expect(finally: 1)
        // Nobody has read this table the first time.
        try insert(1, into: "u", writer)
        try insert(2, writer)
        let values = try await recording.values { $0 != 1 }
        #expect(values.last == 3)
    }

    @Test(arguments: Kind.allCases) func givenRegionsCountWhateverIsRead(kind: Kind) async throws {
        let writer = try open(kind)
        let count = LockedBox(0)
        let observation = ValueObservation.tracking(
            region: Table("u"),
            fetch: { _ in
                count.change { $0 += 1 }
                return count.value
            })
        let recording = ObservationRecording(observation, in: writer)
        try await recording.expect(1)
        try insert(1, writer)
        try insert(1, into: "u", writer)
        try await recording.expect(2)
    }

    @Test(arguments: Kind.allCases) func changesOfOthersAreSeenWhenSomebodyTells(kind: Kind) async throws {
        let writer = try open(kind)
        let recording = ObservationRecording(Self.sum, in: writer)
        try await recording.expect(0)
        var configuration = Configuration.keyed("secret")
        // The observed queue may look at the file just then.
        configuration.busyMode = .timeout(10)
        let other = try DatabaseQueue(path: writer.path, configuration: configuration)
        try insert(5, other)
        try await writer.write { try $0.notifyChanges(in: Table("t")) }
        try await recording.expect(finally: 5)
    }

    @Test(arguments: Kind.allCases) func aRequestOfOneRowIsNotConcernedByOthers(kind: Kind) async throws {
        let writer = try open(kind)
        try await writer.write { db in
            try db.execute(
                sql: "CREATE TABLE row (id INTEGER PRIMARY KEY, a); INSERT INTO row VALUES (1, 1), (2, 2)")
        }
        let regions = LockedBox<[String]>([])
        let observation = ValueObservation.tracking { db in
            try Int.fetchOne(db, Table("row").filter(key: 1).select(Column("a")))
        }.handleEvents(willTrackRegion: { region in regions.change { $0.append("\(region)") } })
        let recording = ObservationRecording(observation, in: writer)
        try await recording.expect(1)
        for sql in [
            "UPDATE row SET a = 20 WHERE id = 2", "DELETE FROM row WHERE id = 2", "UPDATE row SET a = 10",
        ] {
            try await writer.write { try $0.execute(sql: sql) }
        }
        // A pool fetches the first value again when a commit came before its region was watched.
        let values = try await recording.values { $0 == 10 }
        #expect(values.dropLast().allSatisfy { $0 == 1 } && values.count <= (kind == .pool ? 2 : 1))
        #expect(regions.value == ["row(a,id)[1]"])
    }

    @Test(arguments: Kind.allCases) func fullTextTablesAreObserved(kind: Kind) async throws {
        let writer = try open(kind)
        try await writer.write { db in
            try db.create(virtualTable: "page", using: FTS4()) { $0.column("text") }
        }
        let observation = ValueObservation.tracking { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM page WHERE page MATCH 'milk'") ?? 0
        }
        let recording = ObservationRecording(observation, in: writer)
        let transactions = LockedBox(0)
        let cancellable = DatabaseRegionObservation(tracking: Table("page")).start(
            in: writer, onError: { _ in }, onChange: { _ in transactions.change { $0 += 1 } })
        try await recording.expect(0)
        try await writer.write { try $0.execute(sql: "INSERT INTO page VALUES ('milk and bread')") }
        try await recording.expect(finally: 1)
        try await writer.write { try $0.execute(sql: "UPDATE page SET text = 'bread'") }
        try await recording.expect(finally: 0)
        #expect(transactions.value == 2)
        cancellable.cancel()
    }

    @Test(arguments: ["SELECT count(*) FROM page", "SELECT count(*) FROM pages"])
    func theNumberOfRowsOfAVirtualTableIsObserved(sql: String) async throws {
        let writer = try open(.queue)
        try await writer.write { db throws in
            try db.create(virtualTable: "page", using: FTS4()) { $0.column("text") }
            try db.execute(sql: "CREATE VIEW pages AS SELECT docid FROM page")
        }
        let recording = ObservationRecording(
            ValueObservation.tracking { db in try Int.fetchOne(db, sql: sql) ?? 0 }, in: writer)
        try await recording.expect(0)
        try await writer.write { try $0.execute(sql: "INSERT INTO page VALUES ('milk')") }
        try await recording.expect(finally: 1)
    }

    // MARK: Operators

    @Test(arguments: Kind.allCases) func valuesAreMappedAndDuplicatesLeftOut(kind: Kind) async throws {
        let writer = try open(kind)
        let observation = Self.sum.removeDuplicates().map { "\($0)" }
        let recording = ObservationRecording(observation, in: writer)
        try await recording.expect("0")
        try insert(0, writer)
        try insert(2, writer)
        try await recording.expect("2")
    }

    @Test(arguments: Kind.allCases) func anErrorIsTheEnd(kind: Kind) async throws {
        let writer = try open(kind)
        let inFetch = ValueObservation.tracking { db in
            let value = try Int.fetchOne(db, sql: "SELECT total(a) FROM t") ?? 0
            if value == 1 { throw Failure() }
            return value
        }
        let inMap = Self.sum.map { value in
            if value == 1 { throw Failure() }
            return value
        }
        let recordings = [ObservationRecording(inFetch, in: writer), ObservationRecording(inMap, in: writer)]
        for recording in recordings { #expect(try await recording.next() == 0) }
        try insert(1, writer)
        for recording in recordings {
            await #expect(throws: Failure.self) { while true { try await recording.expect(0) } }
        }
        try insert(1, writer)
        try insert(1, writer)
        for recording in recordings {
            await recording.expectNothingMore()
        }
    }

    // MARK: Writing

    @Test(arguments: Kind.allCases) func aFetchThatWritesIsATransactionThatDoesNotRepeatItself(kind: Kind)
        async throws
    {
        let writer = try open(kind)
        var observation = ValueObservation.tracking { db in
            try db.execute(sql: "INSERT INTO t VALUES (100)")
            return try Int.fetchOne(db, sql: "SELECT total(a) FROM t") ?? 0
        }
        await #expect(throws: DatabaseError.self) {
            try await ObservationRecording(observation, in: writer).next()
        }
        observation.requiresWriteAccess = true
        let recording = ObservationRecording(observation.map { $0 }, in: writer)
        let others = ObservationRecording(Self.sum, in: writer)
        try await recording.expect(100)
        try insert(1, writer)
        try await recording.expect(201)
        try await others.expect(finally: 201)
        try await writer.writeWithoutTransaction { _ in }
        await recording.expectNothingMore()
    }

    // MARK: Ends

    @Test(arguments: Kind.allCases) func nothingIsToldAfterTheCancellation(kind: Kind) async throws {
        let writer = try open(kind)
        let recording = ObservationRecording(Self.sum, in: writer)
        try await recording.expect(0)
        recording.cancel()
        try insert(1, writer)
        try await writer.writeWithoutTransaction { _ in }
        _ = try await writer.read { try Int.fetchOne($0, sql: "SELECT 1") }
        await recording.expectNothingMore()
    }

    @Test(arguments: Kind.allCases) func aClosedDatabaseTellsNothingMore(kind: Kind) async throws {
        let writer = try open(kind)
        let recording = ObservationRecording(Self.sum, in: writer)
        try await recording.expect(0)
        try writer.close()
        writer.add(transactionObserver: RegionObserver(.fullDatabase) { _ in })
        recording.finish()
        let rest = await recording.rest()
        #expect(rest.allSatisfy { if case .value(0) = $0 { true } else { false } })
        let late = ObservationRecording(Self.sum, in: writer)
        await #expect(throws: DatabaseError.self) { try await late.next() }
    }

    @Test(arguments: Kind.allCases) func theDatabaseLivesAsLongAsTheObservation(kind: Kind) async throws {
        weak var weakWriter: (any DatabaseWriter)?
        var cancellable: AnyDatabaseCancellable?
        do {
            let writer = try open(kind)
            weakWriter = writer
            let recording = ObservationRecording<Int>()
            cancellable = Self.sum.start(
                in: writer, scheduling: .task, onError: { recording.receive(.failure($0)) },
                onChange: { recording.receive(.value($0)) })
            try await recording.expect(0)
            // What the start has scheduled is done.
            try await writer.barrierWriteWithoutTransaction { _ in }
        }
        #expect(weakWriter != nil)
        cancellable?.cancel()
        cancellable = nil
        while weakWriter != nil { await Task.yield() }
    }
}
