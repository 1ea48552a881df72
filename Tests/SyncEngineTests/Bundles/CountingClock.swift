import Synchronization

/// Time that passes with each look at it.
final class CountingClock: Sendable {
    private let rest: Mutex<Int>

    init(_ count: Int) { rest = Mutex(count) }

    func isOver() -> Bool {
        rest.withLock { rest in
            guard rest > 0 else { return true }
            if rest < .max { rest -= 1 }
            return false
        }
    }
}
