import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Where the handler writes to. A handler can reach nothing but globals.
private let relayPipe = Atomic<Int32>(-1)

/// Turns signals into bytes on a pipe until it is stopped, and then puts the handlers back that
/// were there before.
///
/// A signal can arrive on any thread, so that it does not reliably interrupt a read; a pipe beside
/// the terminal in one select(2) does. Only one relay runs at a time.
final class SignalRelay {
    /// Readable once a signal has arrived.
    let descriptor: Int32
    private let writeEnd: Int32
    private var previous: [(number: Int32, action: sigaction)] = []

    init(_ signals: [Int32]) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure.system("cannot watch for signals", code: errno) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        descriptor = ends[0]
        writeEnd = ends[1]
        let before = relayPipe.exchange(ends[1], ordering: .sequentiallyConsistent)
        precondition(before == -1, "Only one prompt is open at a time.")
        for number in signals {
            var action = sigaction()
            sigaction(number, nil, &action)
            previous.append((number, action))
            signal(number) { number in
                let saved = errno
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(relayPipe.load(ordering: .relaxed), &byte, 1)
                errno = saved
            }
        }
    }

    /// Puts the handlers back. Returns a signal that has arrived and was not asked for by `next`.
    func stop() -> Int32? {
        for (number, action) in previous {
            var action = action
            sigaction(number, &action, nil)
        }
        relayPipe.store(-1, ordering: .sequentiallyConsistent)
        defer {
            close(descriptor)
            close(writeEnd)
        }
        return next()
    }

    /// The signal that arrived first and was not taken yet.
    func next() -> Int32? {
        var byte: UInt8 = 0
        return read(descriptor, &byte, 1) == 1 ? Int32(byte) : nil
    }
}
