import CipherStore
import Foundation

/// One simulated run: replicas of a database over real encrypted files, in simulated time.
///
/// A seed determines everything that happens, so a failure can be replayed:
///
/// ```swift
/// for seed in 1...200 {
///     let result = try Simulation(seed: seed, app: app).run()
///     #expect(result.violation == nil, "\(result)")
/// }
/// ```
///
/// Nothing of the engine is replaced: synchronizers, transports and bundles are the real ones, and
/// only the way between two replicas has faults. After each step the replicas are compared with a
/// model of what they have to be.
public struct Simulation: Sendable {
    /// What determines the run.
    public var seed: UInt64
    /// The app; the simulator makes one up when it is nil.
    public var app: SimulatedApp?
    /// What is allowed to happen.
    public var features: Set<SimulationFeature>
    /// How many steps there are.
    public var stepCount: Int
    /// The steps that are taken, when not all are: what each does does not depend on the others.
    public var steps: [Int]?
    /// The folder for the files. They are removed at the end.
    public var folder: String
    /// Makes the mailbox of a run in which replicas meet in one; nil for one in memory.
    var meeting: (@Sendable (_ seed: UInt64) throws -> any MeetingMailbox)?
    /// Breaks the engine on purpose, to see whether that is found out.
    var sabotage: Sabotage?

    /// Describes a run.
    ///
    /// - parameters:
    ///     - seed: What determines the run.
    ///     - app: The app; when it is nil, the simulator makes one up, of tables and edits that
    ///       reach the edges of the features.
    ///     - features: What is allowed to happen; a run chooses some of it.
    ///     - stepCount: How many steps there are.
    ///     - folder: Where files are made, in a folder of their own. Memory is best.
    public init(
        seed: UInt64, app: SimulatedApp? = nil, features: Set<SimulationFeature> = SimulationFeature.stable,
        stepCount: Int = 60, folder: String = Simulation.defaultFolder
    ) {
        self.seed = seed
        self.app = app
        self.features = features
        self.stepCount = stepCount
        self.folder = folder
    }

    /// A folder in memory where the system has one, or the folder for temporary files.
    public static let defaultFolder: String = {
        let memory = "/dev/shm"
        return FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory()
    }()

    /// The library that the files are made with, such as "SQLCipher 3.4.1".
    public static let engine = "SQLCipher \(EngineFeatures.current.cipherVersion ?? "?")"

    /// Runs it.
    ///
    /// - returns: What happened, and the violation that ended it, if there was one.
    /// - throws: An error of the file system, when the run could not be set up.
    public func run() throws -> SimulationResult {
        var random = SimulationRandom(seed: seed, part: 7)
        let factory = try StoreFactory(in: folder, spills: random.oneIn(4))
        defer { factory.remove() }
        let run: any SimulationCourse =
            if features.contains(.hostileDevice) {
                HostileRun(self, factory)
            } else if features.contains(.mailbox) {
                try WitnessedRun(self, factory, meetsInMailbox: true)
            } else if features.contains(.witnessed) {
                try WitnessedRun(self, factory)
            } else {
                SimulationRun(self, factory)
            }
        var violation: SimulationViolation?
        do {
            try run.run()
        } catch let found as SimulationViolation {
            violation = found
        } catch {
            violation = SimulationViolation(.failure, "\(error)")
        }
        return SimulationResult(
            seed: seed, violation: violation, trace: run.trace, stepsTaken: run.stepsTaken)
    }

    /// Leaves out steps as long as a violation of the same rule stays.
    ///
    /// - parameters:
    ///     - result: A run that failed.
    ///     - attemptCountMax: How many runs that may take.
    /// - returns: A shorter run that fails, or `result`.
    /// - throws: As ``run()``.
    public func shrink(_ result: SimulationResult, attemptCountMax: Int = 300) throws -> SimulationResult {
        guard let rule = result.violation?.rule else { return result }
        var best = result
        var attempts = 0
        // What came after the violation had no part in it.
        var length = max(1, best.stepsTaken.count / 2)
        while length > 0 {
            var start = 0
            while start < best.stepsTaken.count, attempts < attemptCountMax {
                attempts += 1
                var simulation = self
                simulation.steps = best.stepsTaken
                simulation.steps?.removeSubrange(start..<min(start + length, best.stepsTaken.count))
                let shorter = try simulation.run()
                if shorter.violation?.rule == rule { best = shorter } else { start += length }
            }
            length /= 2
        }
        return best
    }
}

/// What a run does, step by step.
protocol SimulationCourse {
    /// What was done.
    var trace: [String] { get }
    /// The numbers of the steps that were taken.
    var stepsTaken: [Int] { get }
    /// Does it.
    ///
    /// - throws: ``SimulationViolation``, or what failed.
    func run() throws
}

/// What happened in a run.
public struct SimulationResult: Sendable, CustomStringConvertible {
    /// What determined the run.
    public let seed: UInt64
    /// What ended it before its time, or nil.
    public let violation: SimulationViolation?
    /// What was done, step by step.
    public let trace: [String]
    /// The numbers of the steps that were taken.
    public let stepsTaken: [Int]

    /// The seed, what was done, and the violation.
    public var description: String {
        guard let violation else { return "seed \(seed): no violation in \(stepsTaken.count) steps" }
        return (["seed \(seed): \(violation)"] + trace).joined(separator: "\n  ")
    }
}

/// Ways to break the engine on purpose.
enum Sabotage {
    /// A write is undone behind the back of the engine after it was merged.
    case losesRow
    /// A merge is followed by a write of the older value.
    case prefersOlderValue
    /// A trigger is missing.
    case missesUpdates
    /// The journal is emptied.
    case forgetsConflicts
    /// The vector moves on without the changes.
    case skipsBundle
    /// All points of the chains of replicas have one hash, so that files which wrote the same number
    /// of changes under one identity look the same.
    case forgesChains
    /// Whoever meets others in a mailbox gets what they have, whether it may read it or not.
    case tellsRemoved
}
