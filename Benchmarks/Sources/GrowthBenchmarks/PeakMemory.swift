import Foundation

/// The most memory that the process has had since it was asked to look anew. Where the system can't do that, it is the most
/// that it has had at any time.
struct PeakMemory {
    init() { reset() }

    /// Looks anew.
    func reset() {
        #if os(Linux)
            // The peak becomes what there is: proc(5), "/proc/pid/clear_refs".
            try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        #endif
    }

    func megabytes() -> Double {
        #if os(Linux)
            let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
            let kilobytes = line.flatMap { Double($0.split(separator: " ").dropFirst().first ?? "") }
            if let kilobytes { return kilobytes / 1024 }
        #endif
        // RUSAGE_SELF is 0 everywhere, but of another type in each C library.
        var usage = rusage()
        getrusage(0, &usage)
        #if os(Linux)
            return Double(usage.ru_maxrss) / 1024
        #else
            return Double(usage.ru_maxrss) / 1_048_576
        #endif
    }
}
