#if os(Linux)
    import CipherStore
    import Foundation
    import TestSupport
    import Testing

    /// What goes wrong in a run, and at which of its calls that change files.
    struct Fault: Sendable {
        enum Mode: String, Sendable {
            /// The process is killed before the call.
            case kill
            /// Half of a write reaches the file, then the process is killed.
            case torn
            /// From the call on there is no space left.
            case full
            /// Nothing can be written there, at no call.
            case readOnly
            /// The user presses Ctrl-C before the call.
            case interrupt
            /// The user presses it twice.
            case interruptTwice
        }

        let mode: Mode
        let call: Int
    }

    /// The library that stands between `syncctl` and the C library.
    final class Interposer: Sendable {
        private let folder: TemporaryFolder
        private var library: String { folder.file("interposer.so") }

        /// Compiles the library with the compiler that the Swift toolchain brings along.
        init() throws {
            folder = try TemporaryFolder()
            let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("interposer.c").path
            let environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
            let result = try CommandRunner.run(
                "/usr/bin/env", ["clang", "-shared", "-fPIC", "-O1", "-o", library, source],
                environment: environment)
            guard result.status == 0 else { throw CommandRunner.Problem(text: result.errors) }
        }

        /// What loads the library into a process, and says what it does there.
        ///
        /// - parameter count: The file that gets the number of calls.
        func environment(below prefix: String, fault: Fault?, count: String) -> [String: String] {
            var environment = [
                "LD_PRELOAD": library, "FAULT_PATH_PREFIX": prefix, "FAULT_COUNT_FILE": count,
            ]
            if let fault {
                environment["FAULT_MODE"] = fault.mode.rawValue
                environment["FAULT_AT"] = "\(fault.call)"
            }
            return environment
        }

        /// Runs `syncctl` and counts its calls that change files.
        ///
        /// - parameters:
        ///     - prefix: How the paths of these files begin.
        ///     - countsReads: Whether reads count, too.
        /// - returns: The calls of a process that came to its end.
        func run(
            _ arguments: [String], below prefix: String, fault: Fault? = nil, countsReads: Bool = false
        ) throws -> (result: CommandResult, callCount: Int?) {
            let name = "count-" + UUID().uuidString
            var environment = environment(below: prefix, fault: fault, count: folder.file(name))
            if countsReads { environment["FAULT_READS"] = "1" }
            let result = try CommandRunner.run(arguments, environment: environment)
            let count = try? folder.text(name).trimmingCharacters(in: .newlines)
            return (result, count.flatMap { Int($0) })
        }
    }

    /// One run with a fault, on a copy of the prepared files of its own.
    struct FaultedRun: Sendable {
        let fault: Fault
        let place: Workplace
        let result: CommandResult
        /// Names the run in a failed expectation.
        var comment: Comment {
            "\(fault.mode) at call \(fault.call): status \(result.status), \(result.errors)"
        }
    }

    /// Runs one command many times on the same prepared files, with a fault at another call each time.
    struct FaultCampaign: Sendable {
        let interposer: Interposer
        /// The files, which are copied for each run.
        let prepared: Workplace
        let arguments: @Sendable (Workplace) -> [String]

        init(_ prepared: Workplace, _ arguments: @escaping @Sendable (Workplace) -> [String]) throws {
            interposer = try Interposer()
            self.prepared = prepared
            self.arguments = arguments
        }

        /// Runs the command without a fault, which must succeed.
        ///
        /// - parameter read: Reads what the command left.
        /// - returns: The number of calls at which a fault is possible, and what was read.
        func rehearse<T>(_ read: (Workplace) throws -> T) throws -> (count: Int, left: T) {
            let place = try prepared.copy()
            let (result, count) = try interposer.run(arguments(place), below: place.folder.path + "/")
            #expect(result.status == 0, "\(result.errors)")
            return (try #require(count), try read(place))
        }

        /// Runs the command with a fault at each of some calls, two runs at a time.
        func run(
            _ mode: Fault.Mode, at calls: [Int], _ check: @escaping @Sendable (FaultedRun) throws -> Void
        ) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<2 {
                    group.addTask {
                        for index in stride(from: worker, to: calls.count, by: 2) {
                            try runOnce(Fault(mode: mode, call: calls[index]), check)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }

        private func runOnce(_ fault: Fault, _ check: (FaultedRun) throws -> Void) throws {
            let place = try prepared.copy()
            let (result, _) = try interposer.run(
                arguments(place), below: place.folder.path + "/", fault: fault)
            let run = FaultedRun(fault: fault, place: place, result: result)
            do {
                try check(run)
            } catch {
                Issue.record(error, run.comment)
            }
        }

        /// Chooses calls from the first to the last, one at a random place in each of `limit` parts;
        /// the same ones each time.
        ///
        /// - parameters:
        ///     - limit: How many at night; a tenth of that whenever the tests run.
        ///     - least: How many there are whenever the tests run; two are the first and the last call.
        static func calls(of count: Int, limit: Int, least: Int = 4) -> [Int] {
            let limit = Campaign.count(max(least, limit / 10), nightly: limit)
            guard count > limit else { return Array(1...max(count, 1)) }
            var generator = SplitMix64(state: 4711)
            let middle = (1..<limit - 1).map { part in
                Int.random(in: part * count / limit + 1...(part + 1) * count / limit, using: &generator)
            }
            return [1] + middle + [count]
        }
    }

    extension Workplace {
        /// A copy of all files, which nobody has open.
        func copy() throws -> Workplace {
            let copy = try Workplace()
            for name in try contents() {
                try FileManager.default.copyItem(atPath: path(name), toPath: copy.path(name))
            }
            return copy
        }
    }
#endif
