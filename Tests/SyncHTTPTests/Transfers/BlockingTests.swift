import Dispatch
import Foundation
import TestSupport
import Testing

@testable import SyncHTTP

@Suite(.anyEngine) struct BlockingTests {
    /// Whoever calls what blocks from a task takes a thread of the pool, all of them in the end.
    @Test func waitersOnAllThreadsOfThePoolGetTheirResults() async throws {
        let count = ProcessInfo.processInfo.activeProcessorCount * 4
        let results = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<count {
                group.addTask {
                    try Blocking.run {
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

    @Test func anErrorOfTheTaskIsThrown() {
        let error = #expect(throws: RemoteError.self) {
            try Blocking.run { () -> Int in throw RemoteError(.busy, "later") }
        }
        #expect(error?.code == .busy)
    }
}
