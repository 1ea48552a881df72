import SyncWire

/// What is wrong with a statement, a key or a text, or why something can't be done.
///
/// No error holds a secret.
public struct MembershipError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of failure. New kinds may be added.
    public enum Code: String, Sendable {
        /// The bytes are not what the format says.
        case malformed
        /// A count or a length is over its bound.
        case tooLarge
        /// The bytes are of a version, kind or role that this program does not know. A newer one reads them.
        case newerProgramNeeded
        /// A signature is not by the key that the statement names.
        case signatureInvalid
        /// A public or private key is not one.
        case keyInvalid
        /// The text of a recovery key has a typing error.
        case recoveryKeyInvalid
        /// A name is empty, too long, or has characters that names don't have.
        case nameInvalid
        /// A statement names another database.
        case otherStore
        /// A statement would not count.
        case notAllowed
        /// A key of an epoch can't be opened, or is not the one that the statement promises.
        case cannotOpen
    }

    /// The kind of failure.
    public let code: Code
    /// What is wrong.
    public let message: String

    /// Makes an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Says the same of bytes as SyncWire's reader says.
    init(_ error: WireError) {
        let code: Code =
            switch error.code {
            case .truncated, .malformed, .corrupted: .malformed
            case .tooLarge: .tooLarge
            case .unsupported: .newerProgramNeeded
            }
        self.init(code, error.message)
    }

    /// The kind and the message.
    public var description: String { "\(code.rawValue): \(message)" }
}
