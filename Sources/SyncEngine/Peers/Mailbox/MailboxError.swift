import CipherStore

/// Why a ``Mailbox`` did not do what it was asked for.
///
/// A synchronization goes on without a file that is `missing`, or that it is `notPermitted` to read. An error
/// of writing becomes a `StoreError`, as for any file. `unreachable` ends a synchronization with this
/// error.
public struct MailboxError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: String, Sendable {
        /// There is no such file.
        case missing
        /// There is a file already, which was not to be replaced.
        case exists
        /// The place refuses it to this user.
        case notPermitted
        /// There is no room.
        case full
        /// The place doesn't answer. It may have done what it was asked for.
        case unreachable
        /// Anything else, which the message says.
        case failed
    }

    /// What kind of failure it is.
    public let code: Code
    /// What happened, as the middle of a sentence. It names no secret.
    public let message: String
    /// The file or the folder concerned, as the user knows it; nil for the one that was asked for.
    public let location: String?

    /// Makes an error.
    ///
    /// - parameters:
    ///     - code: What kind of failure it is.
    ///     - message: What happened, as the middle of a sentence.
    ///     - location: The file or the folder concerned; nil for the one that was asked for.
    public init(_ code: Code, _ message: String, location: String? = nil) {
        self.code = code
        self.message = message
        self.location = location
    }

    /// The message, after what it is about.
    public var description: String { location.map { "\($0): \(message)" } ?? message }
}

extension MailboxError {
    /// The error as one of a file, which is what callers know how to treat; itself when the place doesn't answer.
    ///
    /// - parameters:
    ///     - location: What was asked for.
    ///     - isWriting: Whether something was to change.
    func asFileError(_ location: String, isWriting: Bool) -> any Error {
        let place = self.location ?? location
        switch code {
        case .unreachable: return MailboxError(.unreachable, message, location: place)
        case .missing: return StoreError(.missing, message, path: place)
        case .exists: return StoreError(.exists, message, path: place)
        case .full: return StoreError(.full, message, path: place)
        case .notPermitted, .failed:
            return StoreError(isWriting ? .cannotWrite : .cannotRead, message, path: place)
        }
    }
}
