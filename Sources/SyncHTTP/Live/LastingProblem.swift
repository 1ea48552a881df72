import Logging
import Synchronization

/// Logs a problem that is met again and again, as by somebody who looks each second: once when it begins, or becomes
/// another one, and once when it is over.
final class LastingProblem: Sendable {
    private let logger: Logger
    private let summary: Logger.Message
    private let present = Mutex<String?>(nil)

    /// - parameter summary: What can't be done.
    init(_ logger: Logger, _ summary: Logger.Message) {
        self.logger = logger
        self.summary = summary
    }

    /// It is met.
    func meet(_ error: any Error) {
        let text = "\(error)"
        let isNews = present.withLock { present in
            defer { present = text }
            return present != text
        }
        if isNews { logger.error(summary, metadata: ["error": "\(text)"]) }
    }

    /// What could not be done was done.
    func end() {
        let past = present.withLock { present in
            defer { present = nil }
            return present
        }
        guard let past else { return }
        logger.notice("over: \(summary)", metadata: ["error": "\(past)"])
    }
}
