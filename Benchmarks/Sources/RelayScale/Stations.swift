import Foundation

/// The processors of all nodes: whoever comes first is served first by the one that is free first.
struct ProcessorStation {
    /// When each of them is free, as a heap.
    private var free: [Double]

    init(count: Int) { free = Array(repeating: 0, count: max(1, count)) }

    /// Serves a request.
    ///
    /// - returns: When it is done.
    mutating func serve(at time: Double, seconds: Double) -> Double {
        let end = max(time, free[0]) + seconds
        free[0] = end
        var parent = 0
        while true {
            var least = parent
            let left = 2 * parent + 1
            if left < free.count, free[left] < free[least] { least = left }
            if left + 1 < free.count, free[left + 1] < free[least] { least = left + 1 }
            guard least != parent else { return end }
            free.swapAt(parent, least)
            parent = least
        }
    }
}

/// The log of a database: what comes while a commit runs is committed together, next.
struct CommitStation {
    private let commitSeconds: Double
    private let changeSeconds: Double
    private var runningEnd = 0.0
    private var waitingCount = 0
    private(set) var commitCount = 0
    private(set) var busySeconds = 0.0

    init(commitSeconds: Double, changeSeconds: Double) {
        (self.commitSeconds, self.changeSeconds) = (commitSeconds, changeSeconds)
    }

    private mutating func begin(at time: Double, count: Int) {
        let seconds = commitSeconds + Double(count) * changeSeconds
        runningEnd = time + seconds
        busySeconds += seconds
        commitCount += 1
    }

    /// Commits a change.
    ///
    /// - returns: When it is durable.
    mutating func commit(at time: Double) -> Double {
        while time >= runningEnd, waitingCount > 0 {
            let count = waitingCount
            waitingCount = 0
            begin(at: runningEnd, count: count)
        }
        guard time < runningEnd else {
            begin(at: time, count: 1)
            return runningEnd
        }
        waitingCount += 1
        return runningEnd + commitSeconds + Double(waitingCount) * changeSeconds
    }
}

/// How long things took: few buckets, each a tenth longer than the one before.
struct Durations {
    private var counts = [Int](repeating: 0, count: 200)
    private(set) var count = 0
    private(set) var longest = 0.0

    mutating func add(_ seconds: Double) {
        count += 1
        longest = max(longest, seconds)
        let bucket = seconds <= 1e-5 ? 0 : Int(log(seconds / 1e-5) / log(1.1))
        counts[min(max(bucket, 0), counts.count - 1)] += 1
    }

    /// What a share of them did not take longer than.
    func quantile(_ share: Double) -> Double {
        var left = Int((Double(count) * share).rounded(.up))
        for (bucket, number) in counts.enumerated() {
            left -= number
            if left <= 0 { return min(longest, 1e-5 * pow(1.1, Double(bucket + 1))) }
        }
        return longest
    }
}
