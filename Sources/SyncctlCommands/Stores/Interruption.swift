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
    private static let firstMilliseconds = Atomic<Int>(0)
    /// A supervisor may signal a process and its group, which is one wish and not two.
    private static let repetitionMilliseconds = 300

    /// What gives a terminal back that shows a screen of its own.
    static let screenEnd: StaticString = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"
    private static let screenDescriptor = Atomic<Int32>(-1)

    /// Has the terminal given back when the process is ended at once.
    ///
    /// - parameter descriptor: The terminal; nil when nothing has to be given back any more.
    static func restoresScreen(of descriptor: Int32?) {
        screenDescriptor.store(descriptor ?? -1, ordering: .relaxed)
    }

    /// Begins to listen. Called after the passphrases were read, because their
    /// prompt handles signals itself.
    package static func listen() {
        guard CommandSurroundings.current == nil else { return }
        // Both are made here, and not in a signal handler.
        restoresScreen(of: nil)
        _ = screenEnd
        for number in [SIGINT, SIGTERM] {
            signal(number) { number in
                // Atomics, clock_gettime, write and _exit are safe in a signal handler.
                var time = timespec()
                clock_gettime(CLOCK_MONOTONIC, &time)
                let now = Int(time.tv_sec) &* 1000 &+ Int(time.tv_nsec) / 1_000_000
                guard Interruption.count.add(1, ordering: .relaxed).newValue > 1 else {
                    return Interruption.firstMilliseconds.store(now, ordering: .relaxed)
                }
                let first = Interruption.firstMilliseconds.load(ordering: .relaxed)
                guard now &- first > Interruption.repetitionMilliseconds else { return }
                let screen = Interruption.screenDescriptor.load(ordering: .relaxed)
                let end = Interruption.screenEnd
                if screen >= 0 { _ = write(screen, end.utf8Start, end.utf8CodeUnitCount) }
                _exit(128 + number)
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
