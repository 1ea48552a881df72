import Foundation

/// Does something again and again until Ctrl-C: one run after the other, and later each time while it fails.
struct Repetition {
    /// The longest pause after failures, unless a longer one was asked for.
    private static let secondsMax = 3600

    let seconds: Int
    let context: CommandContext

    private struct Document: Encodable {
        let messageType = "failed"
        let time: String
        let reason: String
        let code: Int32
        let retrySeconds: Int
    }

    /// Runs until the user cancels.
    ///
    /// - throws: A ``Failure`` that would come again.
    func run(_ body: () throws -> ExitStatus) throws -> ExitStatus {
        var failures = 0
        repeat {
            do {
                _ = try body()
                failures = 0
            } catch {
                let failure = Failure(explaining: error)
                if failure.status == .cancelled { break }
                guard failure.mayPass else { throw error }
                failures += 1
                try report(failure, retryingIn: pause(after: failures))
            }
        } while !Interruption.wait(seconds: pause(after: failures))
        context.note("stopped")
        return .success
    }

    /// The time until the next run.
    func pause(after failures: Int) -> Int {
        guard failures > 1 else { return seconds }
        let longest = max(seconds, Self.secondsMax)
        return min(longest, seconds << min(failures - 1, 12))
    }

    private func report(_ failure: Failure, retryingIn seconds: Int) throws {
        let document = Document(
            time: HumanFormat.timestamp(Self.now), reason: failure.message, code: failure.status.rawValue,
            retrySeconds: seconds)
        let reason = PrintableText.escapedLines(failure.message)
        try context.print(document, text: Self.stamped("\(reason); trying again in \(seconds) s"))
    }

    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    /// A line with the time before it.
    static func stamped(_ text: String) -> String {
        "\(HumanFormat.timestamp(now, style: .second))  \(text)"
    }
}
