import Foundation

/// The command line: runs the model for each number of devices, and prints what a relay needs.
enum ScaleProgram {
    static let help = """
        usage: RelayScale [--devices N,N,…] [--edits N] [--team N] [--times FILE] [--seed N] [--json] [--help]
               RelayScale --measure [--count N]

        A day of devices and their databases with a relay, request by request, and an outage of half an hour at the
        busiest time: what it costs, and how many nodes it takes.

          --devices N,…   how many (1000,10000,100000)
          --full          a million, too: several minutes
          --edits N       edits in an hour of use (12)
          --team N        the devices of the largest databases (50)
          --processors N  how many a node has (2)
          --times FILE    what requests cost, as --measure prints it; without it, the figures of docs/scale.md
          --seed N        another day
          --json          lines of JSON
          --measure       measure what requests cost instead, with a relay on a file of this folder
          --count N       how many requests of each kind (2000)
        """

    /// What the model found for a number of devices.
    struct Outcome: Codable {
        var devices = 0
        var requests = 0
        var requestsPerDevice = 0.0
        var processorSecondsPerDevice = 0.0
        var kilobytesPerDevice = 0.0
        var busiestProcessors = 0.0
        var nodes = 0
        var watchesMax = 0
        var watchMegabytesPerNode = 0.0
        var commitsPerSecondMax = 0.0
        var commitBusyShare = 0.0
        var arrivalMedianMilliseconds = 0.0
        var arrivalLateMilliseconds = 0.0
        var requestsOfBusiestSecond = 0
        var recoverySeconds = 0.0
        var modelSeconds = 0.0
    }

    /// - returns: The exit code.
    static func run(_ arguments: [String]) -> Int32 {
        do {
            if let code = Measurement.role(arguments) { return code }
            guard let options = try ScaleOptions(arguments) else {
                print(help)
                return 0
            }
            if let count = options.measuredCount {
                let times = try Measurement.run(count: count)
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
                print(String(decoding: try encoder.encode(times), as: UTF8.self))
                return 0
            }
            try printOutcomes(options)
            return 0
        } catch {
            FileHandle.standardError.write(Data("RelayScale: error: \(error)\n".utf8))
            return 64
        }
    }

    private static func printOutcomes(_ options: ScaleOptions) throws {
        if !options.isJSON { print(header) }
        for count in options.deviceCounts {
            let outcome = outcome(count, options)
            if options.isJSON {
                print(String(decoding: try JSONEncoder().encode(outcome), as: UTF8.self))
            } else {
                print(row(outcome))
            }
            // All files: standard output, which may be a pipe.
            fflush(nil)
        }
    }

    /// Finds out how many processors the busiest minute takes, and what a day with an outage is like with so many.
    private static func outcome(_ count: Int, _ options: ScaleOptions) -> Outcome {
        let begin = ContinuousClock.now
        var setting = ScaleRun.Setting(
            deviceCount: count, day: options.day, times: options.times, processorCount: 1 << 20,
            seed: options.seed)
        var calm = ScaleRun(setting)
        calm.run()
        // Six tenths busy at the worst minute, so that there is room for what is not foreseen, and never one node alone.
        let processors = Int((calm.tally.busiestProcessors / 0.6).rounded(.up))
        let nodes = max(2, (processors + options.processorsOfNode - 1) / options.processorsOfNode)
        setting.processorCount = nodes * options.processorsOfNode
        setting.outage = (13 * 3_600, 13.5 * 3_600)
        var outage = ScaleRun(setting)
        outage.run()
        let (tally, each) = (calm.tally, Double(count))
        return Outcome(
            devices: count, requests: tally.requestCount,
            requestsPerDevice: Double(tally.requestCount) / each,
            processorSecondsPerDevice: tally.processorSeconds / each,
            kilobytesPerDevice: tally.byteCount / 1000 / each,
            busiestProcessors: tally.busiestProcessors, nodes: nodes, watchesMax: tally.openWatchesMax,
            watchMegabytesPerNode: Double(tally.openWatchesMax) * options.times.watchKilobytes / 1000
                / Double(nodes),
            commitsPerSecondMax: tally.commitsOfBusiestMinute / 60, commitBusyShare: calm.commitBusyShare,
            arrivalMedianMilliseconds: outage.tally.arrivals.quantile(0.5) * 1000,
            arrivalLateMilliseconds: outage.tally.arrivals.quantile(0.95) * 1000,
            requestsOfBusiestSecond: outage.tally.requestsOfBusiestSecond,
            recoverySeconds: outage.recoverySeconds,
            modelSeconds: (ContinuousClock.now - begin) / .seconds(1))
    }

    private static let header = """
        devices    requests/device  CPU s/device  kB/device  CPUs at peak  nodes  watches   MB/node  writes/s at peak  \
        disk busy  arrival p50, p95 ms  after an outage: requests/s, s
        """

    private static func row(_ outcome: Outcome) -> String {
        func text(_ value: Double, _ width: Int, _ digits: Int = 1) -> String {
            let text = String(format: "%.\(digits)f", value)
            return String(repeating: " ", count: max(0, width - text.count)) + text
        }
        return text(Double(outcome.devices), 9, 0) + text(outcome.requestsPerDevice, 17)
            + text(outcome.processorSecondsPerDevice, 14, 3) + text(outcome.kilobytesPerDevice, 11, 0)
            + text(outcome.busiestProcessors, 14, 2) + text(Double(outcome.nodes), 7, 0)
            + text(Double(outcome.watchesMax), 9, 0) + text(outcome.watchMegabytesPerNode, 10, 0)
            + text(outcome.commitsPerSecondMax, 18) + text(outcome.commitBusyShare * 100, 10, 2) + "%"
            + text(outcome.arrivalMedianMilliseconds, 13, 1) + text(outcome.arrivalLateMilliseconds, 8, 1)
            + text(Double(outcome.requestsOfBusiestSecond), 22, 0) + text(outcome.recoverySeconds, 7, 1)
    }
}
