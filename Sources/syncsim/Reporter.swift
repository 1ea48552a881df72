import Foundation
import SyncTesting

/// Prints what runs found.
final class Reporter {
    private struct Failure: Encodable {
        let seed: UInt64
        let rule: String
        let message: String
        let steps: [Int]
        let replay: String
        let trace: [String]
    }

    private struct Summary: Encodable {
        let runs: UInt64
        let failures: Int
        let runsPerSecond: Double
        let seconds: Double
        let firstSeed: UInt64
        let steps: Int
        let engine: String
        let features: [String]
    }

    private let simulation: Simulation
    private let isJSON: Bool
    private let showsTrace: Bool
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private var runCount: UInt64 = 0
    private var lastProgress = Date.distantPast

    /// - parameter simulation: The first run.
    init(_ simulation: Simulation, isJSON: Bool, showsTrace: Bool) {
        self.simulation = simulation
        self.isJSON = isJSON
        self.showsTrace = showsTrace
    }

    func report(_ result: SimulationResult, replay: String) throws {
        clear()
        guard let violation = result.violation else { return }
        if isJSON {
            try write(
                Failure(
                    seed: result.seed, rule: violation.rule.rawValue, message: violation.message,
                    steps: result.stepsTaken, replay: replay, trace: result.trace))
        } else {
            emit("\(result)")
            emit("replay: \(replay)")
        }
    }

    func passed(_ result: SimulationResult) {
        guard showsTrace, !isJSON else { return }
        clear()
        for line in result.trace { emit(line) }
        emit("seed \(result.seed): no violation")
    }

    func progress(_ done: UInt64, of total: UInt64, _ failureCount: Int, since start: Date) {
        runCount = done
        guard isTerminal, total > 1, Date().timeIntervalSince(lastProgress) > 0.2 else { return }
        lastProgress = Date()
        let text = "\r\(done) of \(total) runs, \(failureCount) failures, \(rate(since: start)) runs/s "
        FileHandle.standardError.write(Data(text.utf8))
    }

    private func rate(since start: Date) -> Double {
        let seconds = max(0.001, Date().timeIntervalSince(start))
        return (Double(runCount) / seconds * 10).rounded() / 10
    }

    func finish(failureCount: Int, since start: Date) throws {
        clear()
        let seconds = (Date().timeIntervalSince(start) * 10).rounded() / 10
        guard !isJSON else {
            return try write(
                Summary(
                    runs: runCount, failures: failureCount, runsPerSecond: rate(since: start),
                    seconds: seconds, firstSeed: simulation.seed, steps: simulation.stepCount,
                    engine: Simulation.engine, features: simulation.features.map(\.rawValue).sorted()))
        }
        emit("\(runCount) runs, \(failureCount) failures, \(rate(since: start)) runs/s, \(seconds) s")
        emit(
            "seeds from \(simulation.seed), \(simulation.stepCount) steps, \(Simulation.engine), features: \(features)"
        )
    }

    /// The features, in one word where there is one.
    private var features: String {
        if simulation.features == SimulationFeature.stable { return "all" }
        return simulation.features.map(\.rawValue).sorted().joined(separator: " ")
    }

    /// Prints a line at once, so that it is there when the process is killed.
    private func emit(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    private func clear() {
        if isTerminal { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }
    }

    private func write(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        emit(String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}
