import CipherData
import Foundation
import Synchronization

/// Where fetches wait while it is closed.
final class Gate: Hashable, Sendable {
    private struct State {
        var isClosed = false
        var waitsAfterReading = false
        var waiting = 0
    }

    private let state = Mutex(State())
    private let waiting = DispatchSemaphore(value: 0)
    private let (reached, continuation) = AsyncStream.makeStream(of: Void.self)

    /// Lets who comes wait.
    ///
    /// - parameter after: Whether they read first.
    func close(after: Bool = false) {
        state.withLock { ($0.isClosed, $0.waitsAfterReading) = (true, after) }
    }

    /// Lets those pass who come from now on.
    func letOthersPass() { state.withLock { $0.isClosed = false } }

    /// Lets everybody pass.
    func open() {
        let count = state.withLock { state in
            state.isClosed = false
            defer { state.waiting = 0 }
            return state.waiting
        }
        for _ in 0..<count { waiting.signal() }
    }

    /// Waits until somebody waits.
    func isReached() async { for await _ in reached { return } }

    func pass(hasRead: Bool) {
        let isClosed = state.withLock { state in
            guard state.isClosed, state.waitsAfterReading == hasRead else { return false }
            state.waiting += 1
            return true
        }
        guard isClosed else { return }
        continuation.yield()
        waiting.wait()
    }

    static func == (left: Gate, right: Gate) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The titles, which are fetched through a gate.
struct GatedTitles: FetchKeyRequest {
    let gate: Gate

    func fetch(_ db: Database) throws -> [String] {
        gate.pass(hasRead: false)
        defer { gate.pass(hasRead: true) }
        return try OpenTitles().fetch(db)
    }
}
