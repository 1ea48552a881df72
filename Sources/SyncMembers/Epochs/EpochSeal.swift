import Crypto
import Foundation
import SyncWire

/// How the content key of an epoch is wrapped for those who take part, and how earlier keys are sealed
/// under it.
struct EpochSeal {
    /// For whom a key is wrapped.
    enum Recipient: UInt8 {
        case device = 1
        case recovery = 2
    }

    private static let suite = HPKE.Ciphersuite.Curve25519_SHA256_ChachaPoly
    private static let encapsulatedByteCount = 32

    let store: StoreID
    let generation: Int64
    let commitment: [UInt8]

    /// Wraps the key for one recipient (RFC 9180, base mode).
    func wrap(
        _ key: EpochKey, for card: DeviceCard, as recipient: Recipient
    ) throws(MembershipError) -> Epoch.WrappedKey {
        do {
            let publicKey = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: card.agreementKey)
            var sender = try HPKE.Sender(
                recipientKey: publicKey, ciphersuite: Self.suite, info: info(card.id, recipient))
            let sealed = try sender.seal(key.bytes, authenticating: commitment)
            return Epoch.WrappedKey(recipient: card.id, bytes: Array(sender.encapsulatedKey) + Array(sealed))
        } catch {
            throw MembershipError(.keyInvalid, "nothing can be wrapped for \(card)")
        }
    }

    /// Opens what was wrapped, and checks that it is the key that the statement promises.
    func unwrap(
        _ wrapped: Epoch.WrappedKey, with keys: MemberDeviceKeys, as recipient: Recipient
    ) throws(MembershipError) -> EpochKey {
        let opened: Data
        do {
            var receiver = try HPKE.Recipient(
                privateKey: keys.agreement, ciphersuite: Self.suite, info: info(keys.card.id, recipient),
                encapsulatedKey: Data(wrapped.bytes.prefix(Self.encapsulatedByteCount)))
            opened = try receiver.open(
                wrapped.bytes.dropFirst(Self.encapsulatedByteCount), authenticating: commitment)
        } catch {
            throw MembershipError(.cannotOpen, "the key of an epoch was not wrapped for \(keys.card)")
        }
        return try checked(EpochKey(opened))
    }

    /// Seals the keys of earlier epochs. The key for that is used once, so the nonce is zero.
    func seal(_ keys: [EpochKey], named names: [StatementID], under key: EpochKey) throws(MembershipError)
        -> [UInt8]
    {
        guard !keys.isEmpty else { return [] }
        do {
            let box = try ChaChaPoly.seal(
                keys.flatMap(\.bytes), using: key.historyKey, nonce: ChaChaPoly.Nonce(data: Data(count: 12)),
                authenticating: context(names))
            return Array(box.ciphertext) + Array(box.tag)
        } catch {
            throw MembershipError(.cannotOpen, "the keys of earlier epochs can't be sealed")
        }
    }

    /// Opens the keys of earlier epochs. Whether each is the right one is for the caller to check.
    func open(_ epoch: Epoch, under key: EpochKey) throws(MembershipError) -> [StatementID: EpochKey] {
        guard !epoch.earlier.isEmpty else { return [:] }
        let opened: Data
        do {
            let box = try ChaChaPoly.SealedBox(
                nonce: ChaChaPoly.Nonce(data: Data(count: 12)),
                ciphertext: epoch.sealedKeys.dropLast(Epoch.tagByteCount),
                tag: epoch.sealedKeys.suffix(Epoch.tagByteCount))
            opened = try ChaChaPoly.open(box, using: key.historyKey, authenticating: context(epoch.earlier))
        } catch {
            throw MembershipError(.cannotOpen, "the keys of earlier epochs were not sealed under this one's")
        }
        let bytes = Array(opened)
        guard bytes.count == epoch.earlier.count * Epoch.keyByteCount else {
            throw MembershipError(.cannotOpen, "there are not as many keys as earlier epochs")
        }
        var keys: [StatementID: EpochKey] = [:]
        for (index, name) in epoch.earlier.enumerated() {
            let start = index * Epoch.keyByteCount
            keys[name] = try EpochKey(Array(bytes[start..<(start + Epoch.keyByteCount)]))
        }
        return keys
    }

    /// Checks that a key is the one that the statement promises.
    func checked(_ key: EpochKey) throws(MembershipError) -> EpochKey {
        guard key.commitment(in: store) == commitment else {
            throw MembershipError(
                .cannotOpen, "the key of an epoch is not the one that its statement promises")
        }
        return key
    }

    private var place: [UInt8] {
        store.bytes + withUnsafeBytes(of: UInt64(bitPattern: generation).littleEndian) { Array($0) }
    }

    private func info(_ id: DeviceID, _ recipient: Recipient) -> Data {
        Data(Domain.epochWrap.bytes + place + [recipient.rawValue] + id.bytes)
    }

    private func context(_ names: [StatementID]) -> Data {
        Data(Domain.epochHistory.bytes + place + names.flatMap(\.bytes))
    }
}
