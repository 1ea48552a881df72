/// Why a relay can't be used, and what to do about it.
///
/// What concerns one file of a channel is a `MailboxError`. No secret is part of a message.
public struct RelayError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: String, Sendable {
        /// The relay doesn't answer, or is too busy. It may have done what it was asked for.
        case unreachable
        /// The relay shows another certificate than the one that is known, or one that nobody vouches for.
        case wrongCertificate
        /// There is no such channel, or the key is another one; for a new channel: the relay wants another admission token.
        case unauthorized
        /// There is a channel of the identifier, with another key.
        case conflict
        /// The channel has no room for more bytes.
        case full
        /// The invitation was used, has expired, was taken back, or never was.
        case noSuchInvitation
        /// What the invitation holds was not sealed by whoever made its link, or a link by an older program was not copied exactly.
        case forgedInvitation
        /// The link is none, not complete, or not copied exactly.
        case invalidLink
        /// The address is none of a relay.
        case invalidAddress
        /// The store knows no relay of the name, or one already.
        case noSuchRelay
        /// The relay said something that can't be right, or refused something that it should take.
        case failed
    }

    /// What kind of failure it is.
    public let code: Code
    /// What happened, beginning in lower case.
    public let message: String
    /// What to do about it; nil when the message says so.
    public let hint: String?
    /// Whether it may be over without anybody doing anything: a clock that is wrong when a machine starts is set soon.
    package private(set) var mayPass = false

    /// Makes an error.
    ///
    /// - parameters:
    ///     - code: What kind of failure it is.
    ///     - message: What happened, beginning in lower case. It names no secret.
    ///     - hint: What to do about it.
    public init(_ code: Code, _ message: String, hint: String? = nil) {
        (self.code, self.message, self.hint) = (code, message, hint)
    }

    /// The same error as one that may be over without anybody doing anything.
    package var passing: RelayError {
        var error = self
        error.mayPass = true
        return error
    }

    /// What helps where the certificate of an authority was to be known by its fingerprint.
    package static let trustAuthority =
        "leave the fingerprint out, and let this system trust the authority, or take a link without one"

    /// The message.
    public var description: String { message }
}
