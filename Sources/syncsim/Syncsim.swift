import ArgumentParser
import CipherStore
import Foundation
import SyncTesting

/// Runs simulations and reports the first violation.
@main
struct Syncsim: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "syncsim",
        abstract: "Simulate replicas that synchronize under faults, and hold them to a model.",
        discussion: """
            A seed determines a run. When a run violates a rule, the steps that have no part in it \
            are left out, and the command that replays the rest is printed.

            EXAMPLES:
              syncsim --seed 17 --trace
              syncsim --seed 1 --count 1000
              syncsim --seed 1 --count 100 --feature network --feature uniques
              syncsim --seed 1 --count 100 --feature hostile-device --steps 12
              syncsim --seed 1 --count 100 --feature mailbox --steps 40

            EXIT CODES:
              0  no violation    1  a violation, or no run was possible    64  usage
            """)

    @Option(help: "The seed of the first run.")
    var seed: UInt64 = 1

    @Option(help: "How many runs, with one seed after the other.")
    var count: UInt64 = 1

    @Option(help: "How many steps each run has.")
    var steps = 60

    @Option(help: "The steps that are taken, such as 3,7,12: all when it is not given.")
    var only: String?

    @Option(
        name: .customLong("feature"),
        help: """
            Something that may happen, or 'all'. Repeatable; all when not given. A run with hostile-device has no \
            other faults; one with witnessed has scopes and faults without a model; in one with mailbox, replicas meet \
            in a mailbox, which lies, and members come and go. They are in no 'all'.
            """)
    var features: [String] = []

    @Option(help: "The folder for the files of the runs; in memory where the system allows it.")
    var folder: String = Simulation.defaultFolder

    @Flag(help: "Print what happened, also when nothing was violated.")
    var trace = false

    @Flag(help: "Go on after a violation.")
    var keepGoing = false

    @Flag(help: "Don't leave out steps of a run that failed.")
    var noShrink = false

    @Flag(help: "Print one JSON object for each violation, and one at the end.")
    var json = false

    func validate() throws {
        guard steps > 0 else { throw ValidationError("--steps is a number from 1") }
        guard count > 0, count < 1 << 40, seed <= UInt64.max - count else {
            throw ValidationError("--count is a number from 1, and --seed + --count has 64 bits")
        }
        _ = try onlySteps()
        _ = try allowed()
    }

    private func onlySteps() throws -> [Int]? {
        guard let only else { return nil }
        return try only.split(separator: ",").map { part in
            guard let step = Int(part), step >= 0 else {
                throw ValidationError("--only is a list of step numbers, such as 3,7,12; '\(part)' is none")
            }
            return step
        }
    }

    private func allowed() throws -> Set<SimulationFeature> {
        if features.isEmpty { return SimulationFeature.stable }
        return Set(
            try features.flatMap { name -> [SimulationFeature] in
                // A hostile device has runs of its own.
                if name == "all" || name == "stable" { return Array(SimulationFeature.stable) }
                guard let feature = SimulationFeature(rawValue: name) else {
                    let names = SimulationFeature.allCases.map(\.rawValue).joined(separator: ", ")
                    throw ValidationError("there is no feature '\(name)'; there are \(names), and all")
                }
                return [feature]
            })
    }

    func run() throws {
        // Keys of epochs are asked for at each synchronization.
        DerivedKeyMemo.enable()
        var simulation = Simulation(seed: seed, features: try allowed(), stepCount: steps, folder: folder)
        simulation.steps = try onlySteps()
        let reporter = Reporter(simulation, isJSON: json, showsTrace: trace)
        var failureCount = 0
        let start = Date()
        for offset in 0..<count {
            simulation.seed = seed &+ offset
            var result = try simulation.run()
            if result.violation != nil {
                failureCount += 1
                if !noShrink { result = try simulation.shrink(result) }
                try reporter.report(result, replay: replay(result))
            } else {
                reporter.passed(result)
            }
            reporter.progress(offset + 1, of: count, failureCount, since: start)
            if failureCount > 0, !keepGoing { break }
        }
        try reporter.finish(failureCount: failureCount, since: start)
        if failureCount > 0 { throw ExitCode.failure }
    }

    /// The command that does the same again.
    private func replay(_ result: SimulationResult) -> String {
        var command = "swift run syncsim --seed \(result.seed)"
        if result.stepsTaken.count < steps {
            command += " --only \(result.stepsTaken.map(String.init).joined(separator: ","))"
        }
        if steps != 60 { command += " --steps \(steps)" }
        for feature in features { command += " --feature \(feature)" }
        return command + " --trace --no-shrink"
    }
}
