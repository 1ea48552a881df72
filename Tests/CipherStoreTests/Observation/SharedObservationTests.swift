import Foundation
import Testing

@testable import CipherStore

@Suite(.timeLimit(.minutes(20))) struct SharedObservationTests {
    private struct Failure: Error {}

    private let queue: DatabaseQueue
    private let log = LockedBox<[String]>([])
    private let fails = LockedBox(false)

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a INTEGER)") }
    }

    private func shared(
        _ extent: SharedValueObservationExtent,
        scheduling scheduler: some ValueObservationScheduler = .async(onQueue: DispatchQueue(label: "told"))
    ) -> SharedValueObservation<Int> {
        ValueObservation.tracking { [fails] db in
            if fails.value { throw Failure() }
            return try Int.fetchOne(db, sql: "SELECT count(*) FROM t") ?? 0
        }.handleEvents(
            willStart: { [log] in log.change { $0.append("start") } },
            willFetch: { [log] in log.change { $0.append("fetch") } },
            didFail: { [log] _ in log.change { $0.append("failure") } },
            didCancel: { [log] in log.change { $0.append("cancel") } }
        ).shared(in: queue, scheduling: scheduler, extent: extent)
    }

    /// What was logged since this was last asked.
    private func takeLog() -> [String] {
        defer { log.value = [] }
        return log.value
    }

    private func insert() throws { try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") } }

    @Test func manySubscriptionsShareOneFetch() async throws {
        let shared = shared(.observationLifetime)
        #expect(takeLog().isEmpty)
        let first = ObservationRecording(shared)
        try await first.expect(0)
        #expect(takeLog() == ["start", "fetch"])
        let second = ObservationRecording(shared)
        try await second.expect(0)
        #expect(takeLog().isEmpty)
        try insert()
        try await first.expect(1)
        try await second.expect(1)
        #expect(takeLog() == ["fetch"])
        first.cancel()
        try insert()
        try await second.expect(2)
        await first.expectNothingMore()
    }

    @Test func theLifetimeExtentOutlivesItsSubscriptions() async throws {
        var shared: SharedValueObservation? = shared(.observationLifetime)
        for _ in 0..<2 {
            let recording = ObservationRecording(try #require(shared))
            try await recording.expect(0)
            recording.cancel()
        }
        #expect(takeLog() == ["start", "fetch"])
        shared = nil
        try await waitForLog()
        #expect(takeLog() == ["cancel"])
    }

    @Test func aSubscriptionOutlivesTheSharedObservation() async throws {
        let recording = ObservationRecording(shared(.observationLifetime))
        try await recording.expect(0)
        try insert()
        try await recording.expect(1)
        #expect(takeLog() == ["start", "fetch", "fetch"])
        recording.cancel()
        try await waitForLog()
        #expect(takeLog() == ["cancel"])
    }

    /// Whoever tells the last value may still hold the observation.
    private func waitForLog() async throws {
        let end = ContinuousClock.now + .seconds(600)
        while log.value.isEmpty, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test func theObservedExtentEndsWithItsLastSubscription() async throws {
        let shared = shared(.whileObserved)
        for count in 0..<2 {
            let recordings = [ObservationRecording(shared), ObservationRecording(shared)]
            for recording in recordings { try await recording.expect(count) }
            recordings[0].cancel()
            #expect(takeLog() == ["start", "fetch"])
            recordings[1].cancel()
            #expect(takeLog() == ["cancel"])
            try insert()
        }
        #expect(takeLog().isEmpty)
    }

    @Test func withoutAnExtentItEndsWithItsLastSubscription() async throws {
        let shared = ValueObservation.tracking { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM t") ?? 0
        }.handleEvents(
            willStart: { [log] in log.change { $0.append("start") } },
            didCancel: { [log] in log.change { $0.append("cancel") } }
        ).shared(in: queue, scheduling: .async(onQueue: DispatchQueue(label: "told")))
        let recording = ObservationRecording(shared)
        try await recording.expect(0)
        recording.cancel()
        #expect(takeLog() == ["start", "cancel"])
    }

    @Test(arguments: [SharedValueObservationExtent.observationLifetime, .whileObserved])
    func anErrorIsToldToAllAndTheNextSubscriptionStartsAnew(extent: SharedValueObservationExtent) async throws
    {
        let shared = shared(extent)
        let recordings = [ObservationRecording(shared), ObservationRecording(shared)]
        for recording in recordings { try await recording.expect(0) }
        fails.value = true
        try insert()
        for recording in recordings { await #expect(throws: Failure.self) { try await recording.next() } }
        #expect(takeLog() == ["start", "fetch", "fetch", "failure"])
        fails.value = false
        let late = ObservationRecording(shared)
        try await late.expect(1)
        #expect(takeLog() == ["start", "fetch"])
        try insert()
        try await late.expect(2)
    }

    @Test @MainActor func anImmediateValueIsThereWhenTheStartReturns() throws {
        let shared = shared(.whileObserved, scheduling: .immediate)
        let values = LockedBox<[Int]>([])
        let inner = LockedBox<[Int]>([])
        let cancellable = shared.start(
            onError: { _ in },
            onChange: { value in
                values.change { $0.append(value) }
                // Another subscription, of which nobody wants to know more.
                _ = shared.start(onError: { _ in }, onChange: { value in inner.change { $0.append(value) } })
            })
        #expect(values.value == [0])
        #expect(inner.value == [0])
        #expect(takeLog() == ["start", "fetch"])
        cancellable.cancel()
        #expect(takeLog() == ["cancel"])
    }

    @Test func tasksTellEachSubscriptionInOrder() async throws {
        let shared = shared(.whileObserved, scheduling: .task)
        let queue = queue
        async let writing: Void = {
            for _ in 0..<100 { try await queue.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") } }
        }()
        try await withThrowingTaskGroup(of: [Int].self) { group in
            for _ in 0..<10 {
                group.addTask {
                    var values: [Int] = []
                    for try await value in shared.values() {
                        values.append(value)
                        if value == 100 { break }
                    }
                    return values
                }
            }
            for try await values in group {
                #expect(values.last == 100)
                #expect(values == values.sorted())
                // No transaction is left out after the first value.
                #expect(Set(values) == Set((values.first ?? 0)...100))
            }
        }
        try await writing
    }
}
