import Crypto
import SyncHTTP

/// Sixteen random bytes that name something at a relay.
///
/// As text they are 32 hexadecimal digits in lower case. Nothing in them says what they name.
public protocol RelayIdentifier: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The bytes, of which there are sixteen.
    var bytes: [UInt8] { get }

    /// Makes an identifier.
    ///
    /// - returns: nil when there aren't sixteen bytes.
    init?(bytes: [UInt8])
}

extension RelayIdentifier {
    /// Reads 32 hexadecimal digits in lower case; nil for anything else.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 32, let bytes = ByteText.bytes(hex: String(text)) else { return nil }
        self.init(bytes: bytes)
    }

    /// Makes an identifier that nobody can guess.
    public static func random() -> Self {
        let bytes = SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }
        guard let result = Self(bytes: bytes) else { preconditionFailure("128 bits are 16 bytes") }
        return result
    }

    /// The digits.
    public var description: String { ByteText.hex(bytes) }

    /// Reads the digits.
    ///
    /// - throws: ``RelayProblem`` of code `malformed`.
    public init(from decoder: any Decoder) throws {
        guard let value = Self(try decoder.singleValueContainer().decode(String.self)) else {
            throw RelayProblem(.malformed, "an identifier is not 32 hexadecimal digits in lower case")
        }
        self = value
    }

    /// Writes the digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// Which channel of a relay is meant: the files of one database.
public struct RelayChannelID: RelayIdentifier {
    /// The bytes.
    public let bytes: [UInt8]

    /// Makes an identifier of sixteen bytes; nil for any other number of them.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }
}

/// The time in which the positions of a channel mean something.
///
/// Positions of two epochs have nothing to do with each other. See `Schemas/relay/v1.md`, section 1.
public struct RelayEpoch: RelayIdentifier {
    /// The bytes.
    public let bytes: [UInt8]

    /// Makes an epoch of sixteen bytes; nil for any other number of them.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }
}

/// Under what an invitation waits at a relay.
public struct RelayInvitationID: RelayIdentifier {
    /// The bytes.
    public let bytes: [UInt8]

    /// Makes an identifier of sixteen bytes; nil for any other number of them.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }
}

/// How many changes of a channel came before a moment, and with it.
public typealias RelayPosition = Int64
