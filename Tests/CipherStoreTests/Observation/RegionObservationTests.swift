import Foundation
import Testing

@testable import CipherStore

/// Observers of regions among others, and their ends.
@Suite(.timeLimit(.minutes(20))) struct RegionObservationTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a INTEGER); CREATE TABLE log (a INTEGER)") }
    }

    /// Starts an observation of a table that counts the transactions it is told of.
    private func count(_ table: String, _ counter: LockedBox<Int>) -> AnyDatabaseCancellable {
        DatabaseRegionObservation(tracking: DatabaseRegion(table: table)).start(
            in: queue, onError: { Issue.record($0) }, onChange: { _ in counter.change { $0 += 1 } })
    }

    // MARK: Transactions of other observers

    /// Begins a transaction of its own after the first commit.
    private final class Follower: TransactionObserver {
        private let sql: String
        private let completion: Database.TransactionCompletion
        private var isDone = false

        init(_ sql: String, _ completion: Database.TransactionCompletion) {
            self.sql = sql
            self.completion = completion
        }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
        func databaseDidChange(with event: DatabaseEvent) {}

        func databaseDidCommit(_ db: Database) {
            guard !isDone else { return }
            isDone = true
            try? db.inTransaction {
                try db.execute(sql: sql)
                return completion
            }
        }

        func databaseDidRollback(_ db: Database) {}
    }

    @Test(arguments: [
        ("INSERT INTO t VALUES (2)", Database.TransactionCompletion.rollback),
        ("INSERT INTO t VALUES (2)", Database.TransactionCompletion.commit),
        ("INSERT INTO log VALUES (2)", Database.TransactionCompletion.rollback),
    ])
    func aTransactionInsideOfACommitTakesNothingFromThoseWhoAreToldLater(
        sql: String, completion: Database.TransactionCompletion
    ) throws {
        let follower = Follower(sql, completion)
        queue.add(transactionObserver: follower)
        let counter = LockedBox(0)
        let cancellable = count("t", counter)
        try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        #expect(counter.value == 1)
        try queue.write { try $0.execute(sql: "INSERT INTO log VALUES (1)") }
        #expect(counter.value == 1)
        cancellable.cancel()
        // The connection does not retain it.
        withExtendedLifetime(follower) {}
    }

    @Test func anObservationFetchesThoughAnotherObserverHasRolledBack() async throws {
        let follower = Follower("INSERT INTO t VALUES (100)", .rollback)
        let sum = ValueObservation.tracking { try Int.fetchOne($0, sql: "SELECT total(a) FROM t") ?? 0 }
        queue.add(transactionObserver: follower)
        let recording = ObservationRecording(sum, in: queue)
        try await recording.expect(0)
        try await queue.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        try await recording.expect(1)
        withExtendedLifetime(follower) {}
    }

    /// Writes to the observed table after the first change of the log, once it is asked to.
    private final class Reaction: TransactionObserver {
        let isAwaited = LockedBox(false)
        private var isChanged = false

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { eventKind.tableName == "log" }
        func databaseDidChange(with event: DatabaseEvent) { isChanged = true }

        func databaseDidCommit(_ db: Database) {
            let reacts = isChanged && isAwaited.value
            isChanged = false
            guard reacts else { return }
            isAwaited.value = false
            try? db.execute(sql: "INSERT INTO t VALUES (10)")
        }

        func databaseDidRollback(_ db: Database) { isChanged = false }
    }

    /// The observer comes before those of the observation, or after them.
    @Test(arguments: [true, false])
    func whatAnObserverWritesAfterTheCommitOfAFetchIsFetched(isFirst: Bool) async throws {
        let reaction = Reaction()
        var observation = ValueObservation.tracking { db -> Int in
            try db.execute(sql: "INSERT INTO log VALUES (1)")
            return try Int.fetchOne(db, sql: "SELECT total(a) FROM t") ?? 0
        }
        observation.requiresWriteAccess = true
        if isFirst { queue.add(transactionObserver: reaction) }
        let recording = ObservationRecording(observation, in: queue)
        try await recording.expect(0)
        if !isFirst { queue.add(transactionObserver: reaction) }
        reaction.isAwaited.value = true
        try await queue.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        #expect(try await recording.next(2) == [1, 11])
        try await queue.write { try $0.execute(sql: "INSERT INTO t VALUES (100)") }
        try await recording.expect(111)
        await recording.expectNothingMore()
        withExtendedLifetime(reaction) {}
    }

    // MARK: Changes without events

    @Test func changesThatAreToldOutsideOfATransactionAreToldAtOnce() throws {
        let (counter, others) = (LockedBox(0), LockedBox(0))
        let cancellables = [count("t", counter), count("log", others)]
        try queue.writeWithoutTransaction { db in
            try db.notifyChanges(in: Table("t"))
            #expect(counter.value == 1)
            #expect(!db.isInsideTransaction)
        }
        _ = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        #expect(counter.value == 1)
        try queue.write { db in
            try db.notifyChanges(in: Table("t"))
            #expect(counter.value == 1)
        }
        #expect(counter.value == 2)
        #expect(others.value == 0)
        withExtendedLifetime(cancellables) {}
    }

    @Test(.enabled(if: EngineFeatures.current.supportsReturning))
    func changesThatAreToldWhileAStatementWritesAreToldAtItsEnd() throws {
        let counter = LockedBox(0)
        let cancellable = count("log", counter)
        try queue.writeWithoutTransaction { db in
            let rows = try Int.fetchCursor(db, sql: "INSERT INTO t VALUES (1), (2) RETURNING a")
            #expect(try rows.next() == 1)
            try db.notifyChanges(in: Table("log"))
            #expect(counter.value == 0)
            while try rows.next() != nil {}
            #expect(counter.value == 1)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM t") == 2)
        }
        cancellable.cancel()
    }

    /// A function that grew by each call would be the end of the thread's stack.
    @Test func anObservationThatIsToldOfManyTransactionsCallsItsFunctionAsAtFirst() throws {
        let counter = LockedBox(0)
        let observer = RegionObserver(.fullDatabase) { _ in counter.change { $0 += 1 } }
        queue.inDatabase { db in
            for _ in 0..<100_000 {
                observer.noteChange()
                observer.noteCommit()
                observer.databaseDidCommit(db)
            }
        }
        #expect(counter.value == 100_000)
    }

    // MARK: Ends

    /// Cancels an observation when it goes.
    private final class Canceller: Sendable {
        let cancellable = LockedBox<AnyDatabaseCancellable?>(nil)
        let isGone: LockedBox<Bool>

        init(_ isGone: LockedBox<Bool>) { self.isGone = isGone }

        deinit {
            cancellable.value?.cancel()
            isGone.value = true
        }
    }

    @Test func whatTheFunctionHoldsMayCancelTheObservationAsItGoes() throws {
        let isGone = LockedBox(false)
        var observer: RegionObserver?
        do {
            let canceller = Canceller(isGone)
            let made = RegionObserver(.fullDatabase) { _ in withExtendedLifetime(canceller) {} }
            canceller.cancellable.value = AnyDatabaseCancellable { [weak made] in made?.cancel() }
            observer = made
        }
        observer?.cancel()
        #expect(isGone.value)
        observer?.cancel()
    }
}
