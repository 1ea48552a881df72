import Foundation
import Testing

@testable import CipherStore

/// Where values are told, and what ends an observation that a task waits for.
@Suite(.timeLimit(.minutes(20))) struct ObservationSchedulingTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a INTEGER)") }
    }

    private static let count = ValueObservation.tracking { db in
        try Int.fetchOne(db, sql: "SELECT count(*) FROM t") ?? 0
    }

    private static func insert(_ db: Database) throws { try db.execute(sql: "INSERT INTO t VALUES (1)") }

    /// Runs functions on many threads at once.
    private struct UnorderedScheduler: ValueObservationScheduler {
        func immediateInitialValue() -> Bool { false }

        func schedule(_ action: @escaping @Sendable () -> Void) {
            DispatchQueue.global().async(execute: action)
        }
    }

    // MARK: Schedulers

    @Test @MainActor func theMainActorIsToldWithoutAnyHops() async throws {
        var values: [Int] = []
        let done = AsyncStream.makeStream(of: Void.self)
        let cancellable = Self.count.start(in: queue) { _ in
            Issue.record("no error is expected")
        } onChange: { value in
            values.append(value)
            if value == 1 { done.continuation.yield() }
        }
        #expect(values.isEmpty)
        try await queue.write(Self.insert)
        for await _ in done.stream { break }
        #expect(values == [0, 1])
        cancellable.cancel()
    }

    @Test @MainActor func anImmediateValueIsThereWhenTheStartReturns() throws {
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.file("a.db"), configuration: .keyed("secret"))
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a INTEGER)") }
        for reader: any DatabaseReader in [queue, pool, try pool.makeSnapshot()] {
            var values: [Int] = []
            let cancellable = Self.count.start(
                in: reader, scheduling: .immediate, onError: { _ in }, onChange: { values.append($0) })
            #expect(values == [0])
            cancellable.cancel()
            var errors: [any Error] = []
            let failing = ValueObservation.tracking { try Int.fetchOne($0, sql: "SELECT a FROM missing") }
            _ = failing.start(
                in: reader, scheduling: .immediate, onError: { errors.append($0) }, onChange: { _ in })
            #expect(errors.count == 1)
        }
    }

    enum Access: CaseIterable { case write, writeWithoutTransaction, read }

    private func access(_ access: Access, _ body: (Database) throws -> Void) throws {
        switch access {
        case .write: try queue.write(body)
        case .writeWithoutTransaction: try queue.writeWithoutTransaction(body)
        case .read: try queue.read(body)
        }
    }

    @Test(arguments: Access.allCases, [false, true])
    func anImmediateObservationMayStartInsideOfAnAccess(kind: Access, writes: Bool) async throws {
        let queue = queue
        let recording = ObservationRecording<Int>()
        var observation = Self.count
        observation.requiresWriteAccess = writes
        let cancellable = LockedBox<AnyDatabaseCancellable?>(nil)
        let seen = LockedBox<[Int]>([])
        try access(kind) { db in
            if kind != .read { try Self.insert(db) }
            cancellable.value = observation.start(
                in: queue, scheduling: InlineScheduler(isImmediate: true),
                onError: { recording.receive(.failure($0)) },
                onChange: { value in
                    seen.change { $0.append(value) }
                    recording.receive(.value(value))
                })
            #expect(seen.value == [kind == .read ? 0 : 1])
        }
        try await queue.write { try $0.execute(sql: "DELETE FROM t; INSERT INTO t VALUES (1), (2), (3)") }
        if kind == .read {
            // Nothing was committed since the first value.
            #expect(try await recording.next(2) == [0, 3])
        } else {
            try await recording.expect(finally: 3)
        }
        cancellable.value?.cancel()
    }

    @Test func aWriteThatIsRolledBackIsTakenFromTheValueOfAnObservationThatItHasStarted() async throws {
        let queue = queue
        let recording = ObservationRecording<Int>()
        let cancellable = LockedBox<AnyDatabaseCancellable?>(nil)
        try queue.inTransaction { db in
            try Self.insert(db)
            cancellable.value = Self.count.start(
                in: queue, scheduling: InlineScheduler(isImmediate: true),
                onError: { recording.receive(.failure($0)) }, onChange: { recording.receive(.value($0)) })
            return .rollback
        }
        try await recording.expect(1)
        try await recording.expect(0)
        cancellable.value?.cancel()
    }

    @Test func anImmediateObservationOfASnapshotMayStartInsideOfItsRead() throws {
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.file("a.db"), configuration: .keyed("secret"))
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a INTEGER)") }
        let snapshot = try pool.makeSnapshot()
        let seen = LockedBox<[Int]>([])
        try snapshot.read { _ in
            let cancellable = Self.count.start(
                in: snapshot, scheduling: InlineScheduler(isImmediate: true), onError: { Issue.record($0) },
                onChange: { value in seen.change { $0.append(value) } })
            cancellable.cancel()
        }
        #expect(seen.value == [0])
    }

    @Test func anySchedulerTellsOneValueAfterTheOther() async throws {
        let isTelling = LockedBox(false)
        let recording = ObservationRecording<Int>()
        let cancellable = Self.count.start(in: queue, scheduling: UnorderedScheduler()) { _ in
        } onChange: { value in
            #expect(!isTelling.value)
            isTelling.value = true
            recording.receive(.value(value))
            isTelling.value = false
        }
        for _ in 0..<200 { try await queue.write(Self.insert) }
        let values = try await recording.values { $0 == 200 }
        #expect(values == Array((values.first ?? 0)...200))
        cancellable.cancel()
    }

    @Test func cancellingWhileAValueIsToldIsTheEnd() async throws {
        let recording = ObservationRecording<Int>()
        let cancellable = LockedBox<AnyDatabaseCancellable?>(nil)
        cancellable.value = Self.count.start(in: queue, scheduling: .task) { _ in
        } onChange: { value in
            if value == 1 { cancellable.value?.cancel() }
            recording.receive(.value(value))
        }
        try await recording.expect(0)
        for _ in 0..<3 { try await queue.write(Self.insert) }
        try await recording.expect(1)
        await recording.expectNothingMore()
    }

    /// What is told as it was fetched goes to the scheduler at once, and all else by a queue of the observation.
    @Test func valuesComeInOrderWhateverIsMadeOfThem() async throws {
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.file("a.db"), configuration: .keyed("secret"))
        try await pool.write { try $0.execute(sql: "CREATE TABLE t (a INTEGER)") }
        let queue = DispatchQueue(label: "told")
        let recordings = [
            ObservationRecording(Self.count, in: pool, scheduling: .async(onQueue: queue)),
            ObservationRecording(Self.count, in: pool, scheduling: .task),
            ObservationRecording(Self.count, in: pool, scheduling: InlineScheduler(isImmediate: false)),
            ObservationRecording(Self.count.handleEvents(didFail: { _ in }), in: pool, scheduling: .task),
            ObservationRecording(Self.count.map { $0 }, in: pool, scheduling: .task),
            ObservationRecording(Self.count.removeDuplicates(), in: pool, scheduling: .task),
        ]
        for recording in recordings { try await recording.expect(0) }
        for _ in 0..<50 { try await pool.write(Self.insert) }
        for recording in recordings {
            let values = try await recording.values { $0 == 50 }
            #expect(values == values.sorted())
        }
    }

    /// A scheduler of the app may tell values where they come from.
    @Test func aSchedulerThatRunsAtOnceIsAskedOutsideOfTheAccess() async throws {
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.file("a.db"), configuration: .keyed("secret"))
        try await pool.write { try $0.execute(sql: "CREATE TABLE t (a INTEGER)") }
        let recording = ObservationRecording<Int>()
        let cancellable = Self.count.start(
            in: pool, scheduling: InlineScheduler(isImmediate: false),
            onError: { recording.receive(.failure($0)) },
            onChange: { _ in
                // It would be the end of the process within another read.
                let count = try? pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
                recording.receive(.value(count ?? -1))
            })
        try await recording.expect(0)
        try await pool.write(Self.insert)
        try await recording.expect(finally: 1)
        cancellable.cancel()
    }

    // MARK: Loops

    @Test func aLoopEndsItsObservation() async throws {
        let canceled = AsyncStream.makeStream(of: Void.self)
        let observation = Self.count.handleEvents(didCancel: { canceled.continuation.yield() })
        var values: [Int] = []
        for try await value in observation.values(in: queue) {
            values.append(value)
            if value == 3 { break }
            try await queue.write(Self.insert)
        }
        #expect(values == [0, 1, 2, 3])
        for await _ in canceled.stream { break }
    }

    @Test func aCancelledTaskEndsItsLoop() async throws {
        let queue = queue
        let canceled = AsyncStream.makeStream(of: Void.self)
        let observation = Self.count.handleEvents(didCancel: { canceled.continuation.yield() })
        let task = Task {
            var values: [Int] = []
            for try await value in observation.values(in: queue) {
                values.append(value)
                withUnsafeCurrentTask { $0?.cancel() }
            }
            return values
        }
        #expect(try await task.value == [0])
        for await _ in canceled.stream { break }
    }

    @Test func aLoopThrowsTheErrorOfItsObservation() async throws {
        let observation = ValueObservation.tracking { try Int.fetchOne($0, sql: "SELECT a FROM missing") }
        await #expect(throws: DatabaseError.self) {
            for try await _ in observation.values(in: queue) {}
        }
    }

    @Test func aSlowLoopCanHaveTheNewestValueOnly() async throws {
        let told = AsyncStream.makeStream(of: Int.self)
        let observation = Self.count.handleEvents(didReceiveValue: { told.continuation.yield($0) })
        var iterator = observation.values(
            in: queue, scheduling: InlineScheduler(isImmediate: false), bufferingPolicy: .bufferingNewest(1)
        ).makeAsyncIterator()
        for _ in 0..<3 { try await queue.write(Self.insert) }
        // The first value may have been told when there were rows already.
        for await value in told.stream where value == 3 { break }
        var last = try await iterator.next()
        while last != 3 { last = try await iterator.next() }
    }

    // MARK: Tasks that write

    /// Cancels a task after each commit.
    private final class Canceller: TransactionObserver {
        private let task: LockedBox<Task<Void, any Error>?>

        init(_ task: LockedBox<Task<Void, any Error>?>) { self.task = task }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseDidCommit(_ db: Database) { task.value?.cancel() }
        func databaseDidRollback(_ db: Database) {}
    }

    /// The cancellation comes after the commit and before the fetch, while a
    /// statement of the task is active, or none.
    @Test(arguments: [false, true])
    func aCancelledWriteEndsItselfButNotTheObservation(isActive: Bool) async throws {
        let queue = queue
        let task = LockedBox<Task<Void, any Error>?>(nil)
        queue.add(transactionObserver: Canceller(task), extent: .databaseLifetime)
        let recording = ObservationRecording(Self.count, in: queue)
        try await recording.expect(0)
        let mayWrite = AsyncStream.makeStream(of: Void.self)
        task.value = Task {
            for await _ in mayWrite.stream { break }
            try await queue.writeWithoutTransaction { db in
                let rows = try Row.fetchCursor(db, sql: "SELECT 1 UNION SELECT 2")
                if isActive { _ = try rows.next() }
                try Self.insert(db)
                try Self.insert(db)
            }
        }
        mayWrite.continuation.yield()
        await #expect(throws: CancellationError.self) { try await task.value?.value }
        try await recording.expect(1)
        task.value = nil
        try await queue.write(Self.insert)
        try await recording.expect(2)
    }
}
