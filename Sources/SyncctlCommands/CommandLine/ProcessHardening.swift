#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Keeps the memory of the process out of files and of other processes of the user.
enum ProcessHardening {
    /// The limit of core dumps that the process was started with.
    nonisolated(unsafe) private(set) static var startingCoreLimit: UInt64 = 0

    #if os(Linux)
        /// `PR_SET_DUMPABLE`, from the system's headers.
        private static let setDumpable: Int32 = 4
    #endif

    /// The signals on which Swift's runtime reports a crash.
    private static let crashSignals = [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP]

    /// Lets a crash end the process without a report of Swift's runtime: it prints registers and the memory that they
    /// point to, which can be a key, to where a server's log goes. Whoever sets `SWIFT_BACKTRACE` wants one.
    private static func endCrashReports() {
        guard getenv("SWIFT_BACKTRACE") == nil else { return }
        for number in crashSignals {
            let former = signal(number, SIG_DFL)
            // What was ignored when the process began stays so: SIG_IGN is 1 everywhere.
            if unsafeBitCast(former, to: Int.self) == 1 { _ = signal(number, SIG_IGN) }
        }
    }

    /// Switches core dumps and reports of crashes off, and on Linux reading the memory of the process by others of the
    /// same user. Called once, before anything else but ``ProcessArguments``.
    static func apply() {
        startingCoreLimit = coreLimit() ?? 0
        endCrashReports()
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        #if canImport(Glibc)
            _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        #else
            _ = setrlimit(RLIMIT_CORE, &none)
        #endif
        #if os(Linux)
            _ = control(setDumpable, 0)
        #endif
        // A file that may not grow any more is an error of the write then, which is undone and explained.
        signal(SIGXFSZ, SIG_IGN)
    }

    /// The largest file that the process may write, in bytes; nil when there is no limit.
    static func fileSizeLimit() -> UInt64? {
        var limit = rlimit()
        #if canImport(Glibc)
            let code = getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        #else
            let code = getrlimit(RLIMIT_FSIZE, &limit)
        #endif
        // RLIM_INFINITY is not imported: it is the largest number of its type.
        guard code == 0, UInt64(limit.rlim_cur) < UInt64(Int64.max) else { return nil }
        return UInt64(limit.rlim_cur)
    }

    /// The limit of core dumps now, in bytes; nil when it can't be told.
    static func coreLimit() -> UInt64? {
        var limit = rlimit()
        #if canImport(Glibc)
            let code = getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        #else
            let code = getrlimit(RLIMIT_CORE, &limit)
        #endif
        return code == 0 ? UInt64(limit.rlim_cur) : nil
    }

    #if os(Linux)
        /// Calls `prctl`, which Swift can't import because its arguments vary.
        @discardableResult
        static func control(_ option: Int32, _ argument: UInt) -> Int32 {
            typealias Function = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
            guard let symbol = dlsym(nil, "prctl") else { return -1 }
            return unsafeBitCast(symbol, to: Function.self)(option, argument, 0, 0, 0)
        }
    #endif
}
