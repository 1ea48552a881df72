import Foundation

/// The most memory that the process has had.
public enum PeakMemory {
    /// Counts from now on, where the system can do that. Otherwise the most stays that the process has had at any time.
    public static func reset() {
        #if os(Linux)
            // What was freed goes back to the system, or it would count still.
            // Swift's module of the C library does not declare the function.
            if let trim = dlsym(nil, "malloc_trim") {
                _ = unsafeBitCast(trim, to: (@convention(c) (Int) -> CInt).self)(0)
            }
            // The peak becomes what there is: proc(5), "/proc/pid/clear_refs".
            try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        #endif
    }

    /// The peak in MB.
    public static func megabytes() -> Double {
        #if os(Linux)
            let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
            let words = line?.split(whereSeparator: \.isWhitespace) ?? []
            if words.count > 1, let kilobytes = Double(words[1]) { return kilobytes / 1024 }
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
