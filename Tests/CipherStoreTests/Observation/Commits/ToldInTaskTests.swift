import Testing

@testable import CipherStore

/// Values that are told in tasks, of changes that other tasks make.
@Suite(.timeLimit(.minutes(20))) struct ToldInTaskTests {
    private enum Context {
        @TaskLocal static var number = 0
    }

    @Test func whoIsToldGetsNoTaskLocalValueOfWhoWrites() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { try $0.execute(sql: "CREATE TABLE t (a INTEGER)") }
        let observation = ValueObservation.tracking { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM t") ?? 0
        }
        let numbers = LockedBox<Set<Int>>([])
        let recording = ObservationRecording<Int>()
        let cancellable = observation.start(in: queue, scheduling: .task) { _ in
        } onChange: { value in
            numbers.change { _ = $0.insert(Context.number) }
            recording.receive(.value(value))
        }
        try await recording.expect(0)
        for number in 1...3 {
            try await Context.$number.withValue(number) {
                try await queue.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
            }
            try await recording.expect(number)
        }
        #expect(numbers.value == [0])
        cancellable.cancel()
    }
}
