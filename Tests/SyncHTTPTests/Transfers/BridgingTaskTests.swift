import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import SyncEngine
@testable import SyncHTTP

@Suite(.anyEngine, .timeLimit(.minutes(10))) struct BridgingTaskTests {
    /// Whoever calls what blocks from a task takes a thread of the pool, all of them in the end.
    @Test func waitersOnAllThreadsOfThePoolGetTheirResults() async throws {
        let count = ProcessInfo.processInfo.activeProcessorCount * 4
        let results = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<count {
                group.addTask {
                    try BridgingTask(nil).run {
                        await withCheckedContinuation { continuation in
                            DispatchQueue.global().async { continuation.resume() }
                        }
                        return number
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.sorted() == Array(0..<count))
    }

    @Test func allPiecesOfATransferComeOutOfOneTask() async throws {
        let (results, tasks) = try await blocking {
            let bridge = BridgingTask(nil)
            var results: [Int] = []
            var tasks: Set<Int> = []
            for number in 0..<1000 {
                let (result, task) = try bridge.run {
                    await Task.yield()
                    return (number, withUnsafeCurrentTask { $0.map(\.hashValue) ?? 0 })
                }
                results.append(result)
                tasks.insert(task)
            }
            return (results, tasks)
        }
        #expect(results == Array(0..<1000))
        #expect(tasks.count == 1)
    }

    @Test func anErrorOfTheTaskIsThrownAndTheNextWorkIsDone() async throws {
        try await blocking {
            let bridge = BridgingTask(nil)
            let error = #expect(throws: RemoteError.self) {
                try bridge.run { () -> Int in throw RemoteError(.busy, "later") }
            }
            #expect(error?.code == .busy)
            let next = try bridge.run { 7 }
            #expect(next == 7)
        }
    }

    @Test func aCancellationEndsWhatTheTaskWaitsFor() async throws {
        let cancellation = SyncCancellation()
        let (silence, speaker) = AsyncStream.makeStream(of: Int.self)
        try await blocking {
            let bridge = BridgingTask(cancellation)
            let hasBegun = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                hasBegun.wait()
                cancellation.cancel()
            }
            #expect(throws: CancellationError.self) {
                try bridge.run { () -> Int in
                    hasBegun.signal()
                    for await number in silence { return number }
                    // The stream ends as if it had nothing more to say.
                    return 0
                }
            }
            #expect(throws: CancellationError.self) { try bridge.run { 1 } }
        }
        speaker.finish()
    }

    @Test func aTaskThatWasEndedDoesNothingMore() async throws {
        try await blocking {
            let bridge = BridgingTask(nil)
            let result = try bridge.run { 1 }
            #expect(result == 1)
            bridge.end()
            bridge.end()
            let error = #expect(throws: RemoteError.self) { try bridge.run { 2 } }
            #expect(error?.code == .unreachable)
        }
    }

    @Test func theTaskDoesNotKeepWhatEndsIt() async throws {
        let isGone = try await blocking {
            weak var bridge: BridgingTask?
            do {
                let made = BridgingTask(SyncCancellation())
                bridge = made
                try made.run {}
            }
            return bridge == nil
        }
        #expect(isGone)
    }
}
