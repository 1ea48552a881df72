import Dispatch
import Foundation
import Synchronization

/// Work on a thread of its own, for whose result somebody waits.
final class BackgroundWork<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)
    private let end = DispatchGroup()

    /// Begins it.
    init(_ body: @escaping @Sendable () throws -> Value) {
        end.enter()
        Thread.detachNewThread {
            let result = Result { try body() }
            self.result.withLock { $0 = result }
            self.end.leave()
        }
    }

    /// Throws the error with which it has ended, if it has.
    func check() throws {
        if case .failure(let error) = result.withLock({ $0 }) { throw error }
    }

    /// Waits until it has ended.
    func wait() { end.wait() }

    /// Waits for the result.
    func value() throws -> Value {
        end.wait()
        guard let result = result.withLock({ $0 }) else {
            throw RemoteError(.failed, "a thread ended without a result")
        }
        return try result.get()
    }
}
