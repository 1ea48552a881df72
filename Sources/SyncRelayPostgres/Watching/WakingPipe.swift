#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Wakes a thread that waits for descriptors.
final class WakingPipe: Sendable {
    /// What can be read after ``wake()``.
    let reading: CInt
    private let writing: CInt

    /// - throws: ``PostgresFailure`` when the process has no descriptors left.
    init() throws {
        var ends: [CInt] = [0, 0]
        guard pipe(&ends) == 0 else {
            throw PostgresFailure(kind: .unexpected, message: "the process has too many files open")
        }
        (reading, writing) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
    }

    deinit {
        close(reading)
        close(writing)
    }

    func wake() {
        var byte: UInt8 = 1
        // A pipe that is full wakes as well.
        _ = write(writing, &byte, 1)
    }

    /// Takes what was written, so that the next one wakes again.
    func clear() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(reading, &bytes, bytes.count) > 0 {}
    }

    /// Waits until it is woken or the time is over.
    func wait(seconds: Double) {
        var request = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        _ = poll(&request, 1, CInt(max(0, min(seconds, 60)) * 1000))
    }
}
