import Crypto
import Foundation
import SyncWire

/// What names a device: the first 16 bytes of a SHA-256 over both of its public keys.
public typealias DeviceID = Identifier128

/// The public halves of a recovery key, which have the form of a device's.
public typealias RecoveryCard = DeviceCard

/// The public halves of a device's keys.
public struct DeviceCard: Hashable, Sendable, CustomStringConvertible {
    static let keyByteCount = 32

    /// The Ed25519 key that the device signs with.
    public let signingKey: [UInt8]
    /// The X25519 key for which content keys are wrapped.
    public let agreementKey: [UInt8]
    /// What names the device.
    public let id: DeviceID

    /// Makes a card of two public keys.
    ///
    /// - throws: A ``MembershipError`` of code `keyInvalid`: a key has another length, or is not in its one form.
    public init(signingKey: [UInt8], agreementKey: [UInt8]) throws(MembershipError) {
        guard signingKey.count == Self.keyByteCount, agreementKey.count == Self.keyByteCount else {
            throw MembershipError(.keyInvalid, "a public key has \(Self.keyByteCount) bytes")
        }
        // X25519 ignores the highest bit, so a key with it would be a second name of one without.
        guard agreementKey[Self.keyByteCount - 1] < 0x80 else {
            throw MembershipError(.keyInvalid, "the highest bit of an agreement key is set")
        }
        let digest = Domain.device.hash([signingKey, agreementKey])
        guard let id = digest.prefix(16).withUnsafeBytes({ Identifier128(bytes: $0) }) else {
            throw MembershipError(.keyInvalid, "a digest has too few bytes")
        }
        self.signingKey = signingKey
        self.agreementKey = agreementKey
        self.id = id
    }

    /// The name of the device, and no key.
    public var description: String { "device \(id)" }

    /// Checks that something can be wrapped for the device: the key is no point of small order.
    ///
    /// What is wrapped for such a key, anybody can open; where the library notices, nobody could make a new
    /// epoch.
    func checkAgreement() throws(MembershipError) {
        guard !Self.smallOrderKeys.contains(agreementKey) else { throw Self.smallOrder }
    }

    /// All keys with which every private key agrees on zeros, without the highest bit: 0, 1, the two points of order 8, and
    /// −1, 0 and 1 once more with the prime added (https://cr.yp.to/ecdh.html#validate).
    private static let smallOrderKeys = Set(
        [
            "00\(zeros)", "01\(zeros)", "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157", "ec\(ones)7f", "ed\(ones)7f",
            "ee\(ones)7f",
        ].compactMap { Hexadecimal.bytes($0, count: keyByteCount) })
    private static let zeros = String(repeating: "00", count: keyByteCount - 1)
    private static let ones = String(repeating: "ff", count: keyByteCount - 2)

    private static let smallOrder = MembershipError(
        .keyInvalid, "nothing can be wrapped for an agreement key that is a point of small order")

    /// Whether a signature is by this device.
    func isValid(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: signingKey) else { return false }
        return key.isValidSignature(signature, for: message)
    }
}
