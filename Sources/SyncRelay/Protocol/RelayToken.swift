import Crypto
import Foundation
import SyncHTTP

/// What proves to a relay that somebody may read or write a channel: 32 secret bytes.
///
/// Descriptions and mirrors don't show it.
public struct RelayToken: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    private let key: SymmetricKey

    /// Makes a token of 32 bytes; nil for any other number of them.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        key = SymmetricKey(data: bytes)
    }

    /// Makes a token of a key that was derived.
    ///
    /// - returns: nil when the key has not 256 bits.
    public init?(_ key: SymmetricKey) {
        guard key.bitCount == 256 else { return nil }
        self.key = key
    }

    /// Reads 64 hexadecimal digits in lower case; nil for anything else.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 64, let bytes = ByteText.bytes(hex: String(text)) else { return nil }
        self.init(bytes: bytes)
    }

    /// Makes a token that nobody can guess.
    public static func random() -> RelayToken { RelayToken(random: SymmetricKey(size: .bits256)) }

    private init(random key: SymmetricKey) { self.key = key }

    /// What a relay keeps of it.
    public var digest: RelayDigest {
        RelayDigest(key.withUnsafeBytes { SHA256.hash(data: $0) })
    }

    /// The digits, as they travel. This shows the secret.
    public var secretText: String { key.withUnsafeBytes { ByteText.hex(Array($0)) } }

    /// The value of the header `Authorization`. This shows the secret.
    public var authorization: String { "Bearer " + secretText }

    /// Reads the value of the header `Authorization`; nil when it has no token.
    public init?(authorization: String) {
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        self.init(parts[1])
    }

    /// Names no secret.
    public var description: String { "RelayToken" }

    /// Shows no secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The SHA-256 of something.
public struct RelayDigest: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The bytes, of which there are 32.
    public let bytes: [UInt8]

    /// Makes a digest of 32 bytes; nil for any other number of them.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Takes what was computed.
    public init(_ digest: SHA256Digest) { bytes = Array(digest) }

    /// Computes the digest of bytes.
    public init(of bytes: some DataProtocol) { self.init(SHA256.hash(data: bytes)) }

    /// Reads 64 hexadecimal digits in lower case; nil for anything else.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 64, let bytes = ByteText.bytes(hex: String(text)) else { return nil }
        self.init(bytes: bytes)
    }

    /// The digits.
    public var description: String { ByteText.hex(bytes) }

    /// Reads the digits.
    ///
    /// - throws: ``RelayProblem`` of code `malformed`.
    public init(from decoder: any Decoder) throws {
        guard let value = Self(try decoder.singleValueContainer().decode(String.self)) else {
            throw RelayProblem(.malformed, "a digest is not 64 hexadecimal digits in lower case")
        }
        self = value
    }

    /// Writes the digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// Compares in a time that doesn't tell where the two differ.
    public func isSame(as other: RelayDigest) -> Bool {
        var difference: UInt8 = 0
        for (one, two) in zip(bytes, other.bytes) { difference |= one ^ two }
        return difference == 0
    }

    // MARK: In headers

    /// The value of the header `Content-Digest` (RFC 9530).
    public var contentDigest: String { "sha-256=:\(Data(bytes).base64EncodedString()):" }

    /// Reads the value of the header `Content-Digest`, which may have digests of other kinds too; nil when it has none of
    /// this kind.
    public init?(contentDigest: String) {
        for part in contentDigest.split(separator: ",") {
            let text = part.drop(while: { $0 == " " || $0 == "\t" })
            guard text.hasPrefix("sha-256=:") else { continue }
            let rest = text.dropFirst("sha-256=:".count)
            guard let end = rest.firstIndex(of: ":"), let data = Data(base64Encoded: String(rest[..<end]))
            else { return nil }
            self.init(bytes: Array(data))
            return
        }
        return nil
    }
}
