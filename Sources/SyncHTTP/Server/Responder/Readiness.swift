import Synchronization

/// Whether the stores of a server can be read. Anybody may ask, so they are looked at once a second at most.
final class Readiness: Sendable {
    private struct Answer {
        var milliseconds: Int64
        let failure: (any Error)?
    }

    /// How long an answer stands, in milliseconds.
    private static let millisecondsMax: Int64 = 1_000

    private let milliseconds: @Sendable () -> Int64
    private let state = Mutex<Answer?>(nil)

    init(milliseconds: @escaping @Sendable () -> Int64) { self.milliseconds = milliseconds }

    /// Looks at the stores, if nobody has done so a moment ago.
    ///
    /// - parameter look: Throws when one of them can't be read.
    /// - throws: What the last look threw.
    func check(_ look: () async throws -> Void) async throws {
        let now = milliseconds()
        let known = state.withLock { state -> Answer? in
            // A clock that is set back doesn't make an answer last.
            if let answer = state, (0..<Self.millisecondsMax).contains(now - answer.milliseconds) {
                return answer
            }
            // Whoever asks during the look gets the former answer.
            state?.milliseconds = now
            return nil
        }
        if let known {
            if let failure = known.failure { throw failure }
            return
        }
        do {
            try await look()
            note(Answer(milliseconds: now, failure: nil))
        } catch {
            note(Answer(milliseconds: now, failure: error))
            throw error
        }
    }

    private func note(_ answer: Answer) { state.withLock { $0 = answer } }
}
