import Foundation

/// What makes a channel: the digests of its tokens.
public struct RelayRegistration: Hashable, Sendable, Codable {
    /// The digest of the token that reads.
    public let readToken: RelayDigest
    /// The digest of the token that writes.
    public let writeToken: RelayDigest

    /// Makes a document.
    public init(readToken: RelayDigest, writeToken: RelayDigest) {
        self.readToken = readToken
        self.writeToken = writeToken
    }
}

/// The position that a change has, or that a channel has after it.
public struct RelayPlace: Hashable, Sendable, Codable {
    /// The position.
    public let position: RelayPosition

    /// Makes a document.
    public init(position: RelayPosition) { self.position = position }

    private enum CodingKeys: String, CodingKey {
        case position
    }

    /// Reads and checks a document.
    ///
    /// - throws: ``RelayProblem`` of code `malformed`; `DecodingError`.
    public init(from decoder: any Decoder) throws {
        position = try decoder.container(keyedBy: CodingKeys.self).natural(.position)
    }
}

/// An invitation, as it is left at a relay.
public struct RelayInvitationDeposit: Hashable, Sendable, Codable {
    /// What is sealed in it.
    public let sealed: Data
    /// How long it is kept.
    public let seconds: Int64

    /// Makes a document.
    ///
    /// - throws: ``RelayProblem``: `tooLarge`, `malformed`.
    public init(sealed: Data, seconds: Int64) throws {
        guard sealed.count <= RelayBounds.invitationByteCountMax else {
            throw RelayProblem(
                .tooLarge, "the invitation has too many bytes", byteCount: Int64(sealed.count),
                byteCountMax: Int64(RelayBounds.invitationByteCountMax))
        }
        guard !sealed.isEmpty else { throw RelayProblem(.malformed, "the invitation is empty") }
        guard (1...RelayBounds.invitationSecondsMax).contains(seconds) else {
            throw RelayProblem(
                .malformed, "an invitation is kept from 1 to \(RelayBounds.invitationSecondsMax) seconds")
        }
        (self.sealed, self.seconds) = (sealed, seconds)
    }

    private enum CodingKeys: String, CodingKey {
        case sealed, seconds
    }

    /// Reads and checks a document.
    ///
    /// - throws: ``RelayProblem``: `tooLarge`, `malformed`; `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            sealed: container.decode(Data.self, forKey: .sealed),
            seconds: container.decode(Int64.self, forKey: .seconds))
    }
}

/// An invitation, as a relay hands it out.
public struct RelayInvitation: Hashable, Sendable, Codable {
    /// The channel that it is for.
    public let channel: RelayChannelID
    /// What is sealed in it.
    public let sealed: Data

    /// Makes a document.
    public init(channel: RelayChannelID, sealed: Data) {
        self.channel = channel
        self.sealed = sealed
    }

    private enum CodingKeys: String, CodingKey {
        case channel, sealed
    }

    /// Reads and checks a document.
    ///
    /// - throws: ``RelayProblem``: `tooLarge`, `malformed`; `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        channel = try container.decode(RelayChannelID.self, forKey: .channel)
        sealed = try container.decode(Data.self, forKey: .sealed)
        guard sealed.count <= RelayBounds.invitationByteCountMax else {
            throw RelayProblem(.tooLarge, "the invitation has too many bytes")
        }
    }
}
