/// A failure between a device and a server.
public struct RemoteError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of failure. New kinds may be added.
    public enum Code: String, Sendable {
        /// An address that can't be one.
        case invalidAddress
        /// The server can't be reached, or the connection broke again and again. A retry may help.
        case unreachable
        /// The server's certificate is not the one that was expected.
        case wrongCertificate
        /// The server does not speak this program's version of the protocol.
        case unsupportedVersion
        /// The invitation is not known, was used by another device, or has expired.
        case invalidInvite
        /// The link to the server's page is not known, was used, or has expired.
        case invalidLink
        /// The server does not know the device.
        case unknownDevice
        /// The device was revoked.
        case revokedDevice
        /// The device may not send changes.
        case readOnlyDevice
        /// The device says that it is a replica that another device is.
        case otherReplica
        /// The server does not serve the database.
        case noSuchStore
        /// The session has ended; a new one is opened.
        case sessionEnded
        /// A request was not signed by its device, or came twice.
        case invalidSignature
        /// A request that can't be right.
        case malformed
        /// A request or what it asks for is larger than the server allows.
        case tooLarge
        /// A request or its answer took too long.
        case tooSlow
        /// What was asked for is not there, or no longer.
        case notFound
        /// The server has too much to do. A retry later helps.
        case busy
        /// The server's disk is full.
        case full
        /// The server failed.
        case failed
        /// The store knows no such remote.
        case noSuchRemote
        /// The server could not be started.
        case cannotServe
    }

    /// The kind of failure.
    public let code: Code
    /// What happened.
    public let message: String

    /// Makes an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// What happened.
    public var description: String { message }
}
