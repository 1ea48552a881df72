import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The zone in which people are shown times. JSON is always in UTC.
enum DisplayZone: UInt8, Sendable {
    /// That of the machine, or of the variable `TZ`.
    case local
    /// Universal time, as `--utc` asks for.
    case utc

    /// The zone of the commands of this task, for commands that run within another program.
    @TaskLocal static var ofTask: DisplayZone?
    private static let ofProcess = Atomic<UInt8>(DisplayZone.local.rawValue)

    /// The zone in effect.
    static var current: DisplayZone {
        ofTask ?? DisplayZone(rawValue: ofProcess.load(ordering: .relaxed)) ?? .local
    }

    /// Runs a command with a zone. The threads that a command of a process starts see it too.
    func apply<T>(_ body: () throws -> T) rethrows -> T {
        guard CommandSurroundings.current == nil else {
            return try Self.$ofTask.withValue(self, operation: body)
        }
        Self.ofProcess.store(rawValue, ordering: .relaxed)
        return try body()
    }

    /// How many seconds the zone's clocks were ahead of UTC at a moment, given in milliseconds since 1970.
    func offset(at milliseconds: Int64) -> Int64 {
        guard self == .local else { return 0 }
        var seconds = time_t(milliseconds / 1000)
        if milliseconds % 1000 < 0 { seconds -= 1 }
        var parts = tm()
        // Years that the system cannot show are shown in UTC.
        guard localtime_r(&seconds, &parts) != nil else { return 0 }
        let shown = timegm(&parts)
        return Int64(shown) - Int64(seconds)
    }

    /// The moment, in milliseconds since 1970, at which the zone's clocks show something.
    ///
    /// - returns: nil for a date that the system cannot work with.
    func milliseconds(of shown: tm) -> Int64? {
        var parts = shown
        parts.tm_isdst = -1
        let seconds = self == .utc ? timegm(&parts) : mktime(&parts)
        // A day such as February 30 is moved to March, which is not what was asked for.
        guard parts.tm_mday == shown.tm_mday, parts.tm_mon == shown.tm_mon else { return nil }
        return Int64(seconds) * 1000
    }
}
