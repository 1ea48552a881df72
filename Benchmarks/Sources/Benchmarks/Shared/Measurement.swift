import Foundation

/// How long something took, in seconds.
struct Elapsed {
    /// By the clock on the wall.
    let wall: Double
    /// By the processor, for this process alone.
    let processor: Double

    /// The one that the options ask for.
    func seconds(_ options: Options) -> Double { options.usesProcessorTime ? processor : wall }
}

/// Measures a block.
func measure(_ block: () throws -> Void) rethrows -> Elapsed {
    let start = processorSeconds()
    let wall = try ContinuousClock().measure(block)
    return Elapsed(wall: wall / .seconds(1), processor: processorSeconds() - start)
}

/// The time that this process has had on a processor.
private func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// One of the ways to do the same work.
struct Contestant {
    /// What the report calls it.
    let name: String
    /// Prepares the work, does it once, and returns how long the work alone took.
    let run: () throws -> Elapsed
}

/// How long a contestant took.
struct Timing: Codable {
    let name: String
    let seconds: Double
}

/// Two contestants, one against the other.
struct Comparison: Codable {
    let figure: String
    let rowCount: Int
    let baseline: Timing
    let measured: Timing
    /// The measured time in times of the baseline's.
    let ratio: Double
    /// The most that the ratio should be, or nil when there is no such bar.
    private(set) var bar: Double?
    /// Whether the ratio is within the bar; nil without a bar.
    private(set) var isWithinBar: Bool?

    init(_ figure: Figure, rowCount: Int, _ measured: Timing, against baseline: Timing, bar: Double? = nil) {
        self.figure = figure.rawValue
        self.rowCount = rowCount
        self.baseline = baseline
        self.measured = measured
        ratio = measured.seconds / baseline.seconds
        self.bar = bar
        isWithinBar = bar.map { measured.seconds <= $0 * baseline.seconds }
    }

    /// The same without a bar.
    var withoutBar: Comparison {
        var copy = self
        (copy.bar, copy.isWithinBar) = (nil, nil)
        return copy
    }
}

/// Lets the contestants take turns, so that what disturbs the machine disturbs them all, and
/// returns the median of each. The first turn warms up and does not count.
func medianTimings(_ options: Options, _ contestants: [Contestant]) throws -> [Timing] {
    var times = [[Double]](repeating: [], count: contestants.count)
    for turn in 0...options.runCount {
        for (index, contestant) in contestants.enumerated() {
            let elapsed = try contestant.run()
            if turn > 0 { times[index].append(elapsed.seconds(options)) }
        }
    }
    return zip(contestants, times).map { Timing(name: $0.name, seconds: median($1)) }
}

private func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
}
