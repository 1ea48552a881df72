import Foundation
import SyncEngine

/// An error in the words of the user, with what to do about it and the exit code of the process.
///
/// `message` starts in lower case and has no final period, for it follows `syncctl: error: `.
/// Neither the message nor a hint ever contains a passphrase, a key or the output of a passphrase
/// command.
package struct Failure: Error, Equatable, Sendable {
    package var message: String
    package var hints: [String]
    package var status: ExitStatus
    /// Whether it may be over without anybody doing anything, whatever the status says of others.
    private let passes: Bool

    package init(
        _ message: String, hints: [String] = [], status: ExitStatus = .failure, passes: Bool = false
    ) {
        self.message = message
        self.hints = hints
        self.status = status
        self.passes = passes
    }

    /// The command line is wrong.
    package static func usage(_ message: String, hints: [String] = []) -> Failure {
        Failure(message, hints: hints, status: .usage)
    }

    /// The user pressed Ctrl-C or answered with the end of input.
    package static let cancelled = Failure("cancelled", status: .cancelled)

    /// Whether another attempt may succeed without anybody doing anything about it.
    package var mayPass: Bool {
        passes
            || ![.usage, .noKeyOpens, .remoteRefused, .versionMismatch, .integrityFailed, .cancelled]
                .contains(status)
    }

    /// A failed system call, as `<message>: <the system's text>`.
    package static func system(_ message: String, code: Int32, hints: [String] = []) -> Failure {
        let limit = code == EFBIG ? FileSizeLimit.current : nil
        return Failure("\(message): \(systemText(code))", hints: hints + (limit.map { [$0.hint] } ?? []))
    }

    /// The system's text for an error number, in lower case like all other messages.
    package static func systemText(_ code: Int32) -> String {
        let text = String(cString: strerror(code))
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}

extension Failure: CancellingError {
    package var isCancellation: Bool { status == .cancelled }
}

/// Gives ArgumentParser the same words, should a failure reach it instead of the reporter.
extension Failure: CustomStringConvertible {
    package var description: String {
        ([message] + hints.map { "hint: \($0)" }).joined(separator: "\n")
    }
}
