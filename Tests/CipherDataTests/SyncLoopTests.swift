import Foundation
import Synchronization
import Testing

@testable import CipherData

/// When a running engine synchronizes.
@Suite(.timeLimit(.minutes(10))) struct SyncLoopTests {
    @Test func aBellIsHeardAfterAWaitThatWasCancelled() async {
        let bell = Bell()
        let cancelled = Task { await bell.wait() }
        cancelled.cancel()
        #expect(await cancelled.value == false)
        let waiting = Task { await bell.wait() }
        bell.ring()
        #expect(await waiting.value)
    }

    @Test func aBellThatRangBeforeIsHeardOnce() async {
        let bell = Bell()
        bell.ring()
        bell.ring()
        #expect(await bell.wait())
        let waiting = Task { await bell.wait() }
        waiting.cancel()
        #expect(await waiting.value == false)
    }

    /// An engine that nobody writes for is idle between its intervals, however many have passed.
    @Test func afterQuietIntervalsAWriteIsStillWaitedFor() async throws {
        let pair = try SyncPair("CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, text TEXT)", ["note"])
        let (rounds, continuation) = AsyncStream.makeStream(of: [String].self)
        let intervals = Intervals(passing: 3)
        let loop = SyncLoop(
            pair.engine.synchronizer, SyncEngine.Options(), sleep: { try await intervals.sleep($0) }
        ).run {
            continuation.yield(try pair.here.strings("SELECT text FROM note"))
        }
        await intervals.havePassed()
        try pair.here.execute("INSERT INTO note VALUES ('\(UUID().uuidString.lowercased())', 'one')")
        for await texts in rounds where texts == ["one"] { break }
        loop.cancel()
        await loop.value
        // By what was there when the loop began, by the write, and by the end.
        #expect(intervals.cutShort <= 3)
    }

    /// An app that never polls says so by an interval without an end.
    @Test func timesThatCannotBeSleptAreBounded() async throws {
        let pair = try SyncPair("CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, text TEXT)", ["note"])
        let tenYears: Double = 315_360_000
        let times: [(given: Double, slept: Double)] = [
            (.infinity, tenYears), (1e300, tenYears), (-.infinity, 0), (.nan, 30),
        ]
        for time in times {
            var options = SyncEngine.Options()
            options.fetchInterval = time.given
            let (pauses, continuation) = AsyncStream.makeStream(of: Double.self)
            let loop = SyncLoop(
                pair.engine.synchronizer, options,
                sleep: { seconds in
                    continuation.yield(seconds)
                    _ = await Bell().wait()
                }
            ).run {}
            var first: Double?
            for await pause in pauses {
                first = pause
                break
            }
            loop.cancel()
            await loop.value
            #expect(first == time.slept)
        }
    }

    @Test func allTimesOfTheOptionsAreBounded() {
        var options = SyncEngine.Options()
        options.writeDelay = .nan
        options.longestPause = .infinity
        #expect(options.bounded.writeDelay == SyncEngine.Options().writeDelay)
        #expect(options.bounded.longestPause.isFinite)
    }
}

/// Intervals of which the first pass at once, and the others never: they last until something else happens.
private final class Intervals: Sendable {
    private struct State {
        var passing: Int
        var cutShort = 0
    }

    private let state: Mutex<State>
    private let (passed, continuation) = AsyncStream.makeStream(of: Void.self)

    init(passing count: Int) { state = Mutex(State(passing: count)) }

    /// How many were cut short.
    var cutShort: Int { state.withLock { $0.cutShort } }

    /// Waits until those have passed that pass.
    func havePassed() async { for await _ in passed { return } }

    func sleep(_ seconds: Double) async throws {
        guard seconds == SyncEngine.Options().fetchInterval else { return }
        let passes = state.withLock { state in
            state.passing -= 1
            return state.passing >= 0
        }
        if passes { return }
        continuation.yield()
        _ = await Bell().wait()
        state.withLock { $0.cutShort += 1 }
        try Task.checkCancellation()
    }
}
