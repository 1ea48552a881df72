import CipherStore
import Foundation
import SyncEngine

/// When a running engine synchronizes: at once, after writes, now and then, and later after failures.
struct SyncLoop: Sendable {
    private let synchronizer: Synchronizer
    private let options: SyncEngine.Options

    init(_ synchronizer: Synchronizer, _ options: SyncEngine.Options) {
        self.synchronizer = synchronizer
        self.options = options
    }

    /// Synchronizes until the task is cancelled.
    ///
    /// - parameter synchronize: Does it once.
    func run(_ synchronize: @escaping @Sendable () async throws -> Void) -> Task<Void, Never> {
        let (signals, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        // What is applied for a peer is not logged, so only writes of this side are seen, by whatever process.
        var observation = ValueObservation.tracking { db in try RowKnowledge.lastEntry(db) }
        observation.recoversFromErrors = true
        let writes = observation.removeDuplicates().start(
            in: synchronizer.writer, scheduling: .task, onError: { _ in },
            onChange: { _ in continuation.yield() })
        let options = options
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
                await Self.wait(pause, orFor: failureCount == 0 ? signals : nil)
                // Writes come in groups.
                try? await Task.sleep(for: .seconds(options.writeDelay))
            }
        }
    }

    /// Waits for a time, or for a signal.
    private static func wait(_ seconds: Double, orFor signals: AsyncStream<Void>?) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await Task.sleep(for: .seconds(seconds)) }
            if let signals {
                group.addTask {
                    for await _ in signals { return }
                }
            }
            await group.next()
            group.cancelAll()
        }
    }
}
