#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Sends signals to the calling thread.
enum ThreadSignal {
    /// Raises a signal and has it delivered before this returns.
    ///
    /// The threads of Dispatch and of Swift's executors block almost all signals, and on them a
    /// plain raise(3) only leaves the signal pending. One sent to the process goes to another
    /// thread, while this one runs on.
    static func raiseNow(_ number: Int32) {
        var signals = sigset_t()
        var before = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, number)
        pthread_sigmask(SIG_UNBLOCK, &signals, &before)
        raise(number)
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}
