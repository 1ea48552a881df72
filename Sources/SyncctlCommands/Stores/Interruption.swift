import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Ctrl-C: the first one lets the running step roll back, the second one ends
/// the process at once.
package enum Interruption {
    private static let count = Atomic<Int>(0)

    /// Begins to listen. Called after the passphrases were read, because their
    /// prompt handles signals itself.
    package static func listen() {
        guard CommandSurroundings.current == nil else { return }
        for number in [SIGINT, SIGTERM] {
            signal(number) { number in
                // An atomic add and _exit are safe in a signal handler.
                if Interruption.count.add(1, ordering: .relaxed).newValue > 1 { _exit(128 + number) }
            }
        }
    }

    /// Calls something once when the user cancels, on a thread of its own.
    package static func onRequest(_ body: @escaping @Sendable () -> Void) {
        Thread.detachNewThread {
            while count.load(ordering: .relaxed) == 0 { usleep(50_000) }
            body()
        }
    }

    /// Waits, unless the user cancels or has done so.
    ///
    /// - returns: Whether the user cancelled.
    package static func wait(seconds: Int) -> Bool {
        let end = ContinuousClock.now + .seconds(seconds)
        while count.load(ordering: .relaxed) == 0 {
            if ContinuousClock.now >= end { return false }
            usleep(50_000)
        }
        return true
    }

    /// Throws when the user cancelled.
    package static func check() throws {
        if count.load(ordering: .relaxed) > 0 {
            throw Failure.interrupted
        }
    }
}
