import Crypto
import Foundation

/// A random key on paper that puts a device in as an admin when no admin is left.
///
/// It has 256 bits, of which a pair of keys derives. It is printed in Crockford's base 32, as fourteen groups
/// of four, of which the last 24 bits find typing errors.
public struct MembershipRecoveryKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    static let byteCount = 32
    static let checkByteCount = 3

    private let secret: SymmetricKey
    let keys: MemberDeviceKeys

    /// Makes a key of random bytes.
    public init() throws(MembershipError) {
        try self.init(secret: SymmetricKey(size: .bits256))
    }

    /// Takes a key of 32 bytes.
    ///
    /// - throws: A ``MembershipError`` of code `keyInvalid`.
    public init(rawRepresentation bytes: [UInt8]) throws(MembershipError) {
        guard bytes.count == Self.byteCount else {
            throw MembershipError(.keyInvalid, "a recovery key has \(Self.byteCount) bytes")
        }
        try self.init(secret: SymmetricKey(data: bytes))
    }

    private init(secret: SymmetricKey) throws(MembershipError) {
        self.secret = secret
        keys = try MemberDeviceKeys(
            signingSeed: Domain.recoverySigning.key(of: secret),
            agreementSeed: Domain.recoveryAgreement.key(of: secret))
    }

    /// Reads a key as a person typed it: in upper or lower case, with spaces, hyphens or none, `O` for 0, `I`
    /// and `L` for 1.
    ///
    /// - throws: A ``MembershipError`` of code `recoveryKeyInvalid`. It does not repeat what was typed.
    public init(_ text: String) throws(MembershipError) {
        let bytes = try GroupedBase32.bytes(of: text, count: Self.byteCount + Self.checkByteCount)
        let key = Array(bytes[..<Self.byteCount])
        guard Self.check(of: key) == Array(bytes[Self.byteCount...]) else {
            throw MembershipError(.recoveryKeyInvalid, "the recovery key has a typing error")
        }
        try self.init(rawRepresentation: key)
    }

    /// The key as it is printed. Whoever reads it has the key.
    public var text: String { GroupedBase32.text(of: rawRepresentation + Self.check(of: rawRepresentation)) }

    /// The secret bytes.
    public var rawRepresentation: [UInt8] { secret.withUnsafeBytes { Array($0) } }

    /// The public halves, which statements name.
    public var card: RecoveryCard { keys.card }

    /// What names the key, and not the key.
    public var description: String { "recovery key \(card.id)" }
    /// The same.
    public var debugDescription: String { description }
    /// A mirror that shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }

    private static func check(of key: [UInt8]) -> [UInt8] {
        Array(Domain.recoveryCheck.hash([key]).prefix(checkByteCount))
    }
}
