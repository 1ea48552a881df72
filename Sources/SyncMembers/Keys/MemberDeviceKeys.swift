import Crypto
import Foundation

/// The private keys of a device: one that signs, and one for which content keys are wrapped.
///
/// They belong into the encrypted store. Descriptions and mirrors do not show them.
public struct MemberDeviceKeys: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// How many bytes ``rawRepresentation`` has.
    public static let byteCount = 64

    let signing: Curve25519.Signing.PrivateKey
    let agreement: Curve25519.KeyAgreement.PrivateKey
    /// The public halves.
    public let card: DeviceCard

    /// Makes keys of random bytes.
    public init() throws(MembershipError) {
        try self.init(
            signing: Curve25519.Signing.PrivateKey(), agreement: Curve25519.KeyAgreement.PrivateKey())
    }

    init(
        signing: Curve25519.Signing.PrivateKey, agreement: Curve25519.KeyAgreement.PrivateKey
    ) throws(MembershipError) {
        self.signing = signing
        self.agreement = agreement
        card = try DeviceCard(
            signingKey: Array(signing.publicKey.rawRepresentation),
            agreementKey: Array(agreement.publicKey.rawRepresentation))
    }

    /// Takes keys that were kept.
    ///
    /// - throws: A ``MembershipError`` of code `keyInvalid`.
    public init(rawRepresentation bytes: [UInt8]) throws(MembershipError) {
        guard bytes.count == Self.byteCount else {
            throw MembershipError(.keyInvalid, "the keys of a device have \(Self.byteCount) bytes")
        }
        try self.init(signingSeed: Array(bytes[..<32]), agreementSeed: Array(bytes[32...]))
    }

    /// Makes keys of two secrets of 32 bytes.
    init(
        signingSeed: some ContiguousBytes, agreementSeed: some ContiguousBytes
    ) throws(MembershipError) {
        do {
            try self.init(
                signing: Curve25519.Signing.PrivateKey(rawRepresentation: signingSeed),
                agreement: Curve25519.KeyAgreement.PrivateKey(rawRepresentation: agreementSeed))
        } catch let error as MembershipError {
            throw error
        } catch {
            throw MembershipError(.keyInvalid, "a private key is not one")
        }
    }

    /// The secret bytes, to be kept in the encrypted store and nowhere else.
    public var rawRepresentation: [UInt8] {
        Array(signing.rawRepresentation) + Array(agreement.rawRepresentation)
    }

    /// Signs a message.
    func signature(of message: [UInt8]) throws(MembershipError) -> [UInt8] {
        do { return Array(try signing.signature(for: message)) } catch {
            throw MembershipError(.keyInvalid, "the key of \(card) can't sign")
        }
    }

    /// The name of the device, and no key.
    public var description: String { "keys of \(card)" }
    /// The same.
    public var debugDescription: String { description }
    /// A mirror that shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
