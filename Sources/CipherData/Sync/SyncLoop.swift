import CipherStore
import Foundation
import SyncEngine

/// When a running engine synchronizes: at once, after writes, now and then, and later after failures.
struct SyncLoop: Sendable {
    private let synchronizer: Synchronizer
    private let options: SyncEngine.Options
    private let sleep: @Sendable (Double) async throws -> Void

    /// Makes a loop that does not run yet.
    ///
    /// - parameter sleep: Waits for some seconds, or until the task is cancelled.
    init(
        _ synchronizer: Synchronizer, _ options: SyncEngine.Options,
        sleep: @escaping @Sendable (Double) async throws -> Void = { try await Task.sleep(for: .seconds($0)) }
    ) {
        self.synchronizer = synchronizer
        self.options = options.bounded
        self.sleep = sleep
    }

    /// Synchronizes until the task is cancelled.
    ///
    /// - parameter synchronize: Does it once.
    func run(_ synchronize: @escaping @Sendable () async throws -> Void) -> Task<Void, Never> {
        let bell = Bell()
        // What is applied for a peer is not logged, so only writes of this side are seen, by whatever process.
        var observation = ValueObservation.tracking { db in try RowKnowledge.lastEntry(db) }
        observation.recoversFromErrors = true
        let writes = observation.removeDuplicates().start(
            in: synchronizer.writer, scheduling: .task, onError: { _ in },
            onChange: { _ in bell.ring() })
        return Task {
            defer { writes.cancel() }
            var failureCount = 0
            while !Task.isCancelled {
                do {
                    try await synchronize()
                    failureCount = 0
                } catch {
                    // The delegate was told.
                    failureCount += 1
                }
                let pause =
                    failureCount == 0
                    ? options.fetchInterval
                    : min(options.longestPause, options.writeDelay * pow(2, Double(min(failureCount, 20))))
                await wait(pause, orFor: failureCount == 0 ? bell : nil)
                // Writes come in groups.
                try? await sleep(options.writeDelay)
            }
        }
    }

    /// Waits for a time, or until a bell rings.
    private func wait(_ seconds: Double, orFor bell: Bell?) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await sleep(seconds) }
            if let bell { group.addTask { _ = await bell.wait() } }
            await group.next()
            group.cancelAll()
        }
    }
}

extension SyncEngine.Options {
    /// The options with times that can be slept: a `Duration` of a number that isn't finite ends the process.
    var bounded: Self {
        let standard = Self()
        var options = self
        options.writeDelay = Self.bounded(writeDelay, default: standard.writeDelay)
        options.fetchInterval = Self.bounded(fetchInterval, default: standard.fetchInterval)
        options.longestPause = Self.bounded(longestPause, default: standard.longestPause)
        return options
    }

    private static func bounded(_ seconds: Double, default standard: Double) -> Double {
        let tenYears: Double = 10 * 365 * 86_400
        return seconds.isNaN ? standard : min(max(seconds, 0), tenYears)
    }
}
