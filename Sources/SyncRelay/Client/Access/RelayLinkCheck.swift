import Crypto
import Foundation

/// What shows, before a link is used up, that its secret was copied exactly: the end of the invitation's name.
///
/// Programs before this check read such links as any other, for to them the name is random.
enum RelayLinkCheck {
    private static let (randomByteCount, checkByteCount) = (8, 4)

    /// A new name for the invitation of a link with a secret.
    static func name(for secret: SymmetricKey) -> RelayInvitationID {
        let random = Array(RelayInvitationID.random().bytes.prefix(randomByteCount))
        return RelayInvitationID(bytes: random + digest(random) + digest(random, secret)) ?? .random()
    }

    /// Whether a secret is the one that a name was made for; nil for a name by a program before this check.
    static func isRight(_ secret: SymmetricKey, in invitation: RelayInvitationID) -> Bool? {
        let random = Array(invitation.bytes.prefix(randomByteCount))
        let checks = Array(invitation.bytes.dropFirst(randomByteCount))
        guard checks.starts(with: digest(random)) else { return nil }
        return Array(checks.dropFirst(checkByteCount)) == digest(random, secret)
    }

    /// Of a secret of 32 random bytes, four bytes of a digest tell nothing.
    private static func digest(_ random: [UInt8], _ secret: SymmetricKey? = nil) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: Data("cipherstore relay 1 link".utf8))
        hash.update(data: random)
        secret?.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return Array(hash.finalize().prefix(checkByteCount))
    }
}
