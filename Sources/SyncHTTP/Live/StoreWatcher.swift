import CipherStore
import Dispatch
import Foundation
import Synchronization

/// Notices that somebody committed to a file: this process or another one, by whatever connection.
///
/// SQLite counts commits for each connection that looks (`PRAGMA data_version`), which in WAL mode costs a look at
/// shared memory. No system call tells of commits of other processes without watching files that SQLite may not
/// write to yet, so the watcher looks again and again, on a connection and a thread of its own.
package final class StoreWatcher: Sendable {
    private struct State {
        var isStopped = false
        var isForced = false
    }

    private let wake = DispatchSemaphore(value: 0)
    private let state = Mutex(State())

    /// Begins to watch.
    ///
    /// - parameters:
    ///     - path: The file.
    ///     - configuration: Opens it.
    ///     - seconds: How often it looks.
    ///     - heartbeatSeconds: How often `onHeartbeat` is called.
    ///     - onChange: Called on the watcher's thread: once at the start, and after commits. While it runs,
    ///       nobody looks, so many commits are one change. After an error it is called again.
    package init(
        path: String, configuration: Configuration, seconds: Double = 0.01, heartbeatSeconds: Double = 15,
        onHeartbeat: @escaping @Sendable () -> Void = {}, onChange: @escaping @Sendable () throws -> Void
    ) {
        var configuration = configuration
        configuration.readonly = true
        configuration.cacheKibibytes = 64
        let reader = configuration
        Thread.detachNewThread { [self] in
            var queue: DatabaseQueue?
            var version: Int64?
            var beat = ContinuousClock.now
            while !isStopped {
                do {
                    let current = try queue ?? DatabaseQueue(path: path, configuration: reader)
                    queue = current
                    let now = try current.read { try Int64.fetchOne($0, sql: "PRAGMA data_version") }
                    if now != version || isForced {
                        clearForce()
                        try onChange()
                        version = now
                    }
                } catch {
                    // The key was changed, the file replaced, or somebody writes for long. Whoever uses the store
                    // is told so there; here it is looked at again, so that no change is missed.
                    queue = nil
                    version = nil
                    pause(1)
                }
                if ContinuousClock.now - beat > .seconds(heartbeatSeconds) {
                    beat = .now
                    onHeartbeat()
                }
                pause(seconds)
            }
        }
    }

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    private var isForced: Bool { state.withLock { $0.isForced } }

    /// Before what is forced runs, so that a call meanwhile counts.
    private func clearForce() { state.withLock { $0.isForced = false } }

    private func pause(_ seconds: Double) {
        _ = wake.wait(timeout: .now() + seconds)
    }

    /// Looks at once, and counts as changed whatever it sees.
    package func look() {
        state.withLock { $0.isForced = true }
        wake.signal()
    }

    /// Ends it. What is being called goes on to its end.
    package func stop() {
        state.withLock { $0.isStopped = true }
        wake.signal()
    }
}
