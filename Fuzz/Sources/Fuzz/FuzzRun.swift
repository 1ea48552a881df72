import Foundation

/// Runs inputs, and ends the process when one takes too long or too much memory.
enum FuzzRun {
    /// The most processor time of an input, in seconds.
    static let secondsMax = 1.0

    /// By how much an input may raise the most memory that the process ever had, in bytes.
    static let memoryGrowthMax = 256 << 20

    /// The address space beyond what the process has at its start: an allocation of a size that
    /// only a hostile length explains fails at once.
    private static let addressSpaceMax: rlim_t = 4 << 30

    // libFuzzer runs one input after the other on one thread.
    nonisolated(unsafe) private static var target: FuzzTarget?

    static func start(_ target: FuzzTarget) {
        self.target = target
        var limit = rlimit(rlim_cur: addressSpaceMax, rlim_max: addressSpaceMax)
        setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
    }

    static func one(_ input: [UInt8]) {
        guard let target else { fatalError("no target was chosen") }
        let (time, memory) = usage()
        do {
            try target.run(input)
        } catch {
            fatalError("an error that no reader of this format may throw: \(error)")
        }
        let (timeAfter, memoryAfter) = usage()
        require(timeAfter - time < secondsMax, "an input took \(timeAfter - time) s")
        require(
            memoryAfter - memory < memoryGrowthMax, "an input took \((memoryAfter - memory) >> 20) MiB")
    }

    /// The processor time of the process in seconds, and the most memory it ever had in bytes.
    private static func usage() -> (seconds: Double, byteCount: Int) {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return (seconds(usage.ru_utime) + seconds(usage.ru_stime), Int(usage.ru_maxrss) << 10)
    }
}
