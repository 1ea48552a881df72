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

    /// Switches core dumps off, and on Linux reading the memory of the process by others of the same
    /// user. Called once, before anything else.
    static func apply() {
        startingCoreLimit = coreLimit() ?? 0
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        #if canImport(Glibc)
            _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        #else
            _ = setrlimit(RLIMIT_CORE, &none)
        #endif
        #if os(Linux)
            _ = control(setDumpable, 0)
        #endif
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
