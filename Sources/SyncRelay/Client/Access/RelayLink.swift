import Crypto
import Foundation
import SyncEngine
import SyncHTTP

/// What lets one person or device into a channel, once: `cipherstore-relay://relay.example:7444/1f…?fp=9c…#5d…`.
///
/// It holds the address, the fingerprint of the relay's certificate, the name of an invitation, and a secret that opens what
/// the relay keeps under that name. The secret is not sent. Whoever has the link before the invited one does gets in, so it
/// goes a way that others do not see.
public struct RelayLink: Equatable, Sendable, LosslessStringConvertible {
    /// What a link begins with.
    public static let scheme = "cipherstore-relay://"
    private static let secretByteCount = 32
    private static let characterCountMax = 600

    /// Where the relay is.
    public let address: RelayAddress
    /// What the relay keeps the invitation under.
    public let invitation: RelayInvitationID
    /// What opens the invitation.
    private let secret: SymmetricKey

    init(address: RelayAddress) {
        let secret = SymmetricKey(size: .bits256)
        self.init(address: address, invitation: RelayLinkCheck.name(for: secret), secret: secret)
    }

    private init(address: RelayAddress, invitation: RelayInvitationID, secret: SymmetricKey) {
        (self.address, self.invitation, self.secret) = (address, invitation, secret)
    }

    /// Reads a link; nil when it is none, not complete, or not copied exactly. Of a link by an older program, a wrong
    /// character in its secret shows only when it is used.
    public init?(_ description: String) {
        guard description.utf8.count <= Self.characterCountMax, description.hasPrefix(Self.scheme) else {
            return nil
        }
        let rest = description.dropFirst(Self.scheme.count)
        guard let slash = rest.firstIndex(of: "/"), let hash = rest.firstIndex(of: "#"), slash < hash,
            let (host, port) = ServerAddress.split(String(rest[..<slash])),
            let secret = Self.digits(rest[rest.index(after: hash)...])
        else { return nil }
        let parts = rest[rest.index(after: slash)..<hash].split(
            separator: "?", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let invitation = RelayInvitationID(parts[0]) else { return nil }
        var fingerprint: [UInt8]?
        if parts.count == 2 {
            guard parts[1].hasPrefix("fp="), let bytes = Self.digits(parts[1].dropFirst(3)) else {
                return nil
            }
            fingerprint = bytes
        }
        guard let address = try? RelayAddress(host: host, port: port, fingerprint: fingerprint) else {
            return nil
        }
        let key = SymmetricKey(data: secret)
        guard RelayLinkCheck.isRight(key, in: invitation) != false else { return nil }
        self.init(address: address, invitation: invitation, secret: key)
    }

    private static func digits(_ text: some StringProtocol) -> [UInt8]? {
        text.utf8.count == 2 * secretByteCount ? ByteText.bytes(hex: String(text)) : nil
    }

    /// The link. It holds the secret.
    public var description: String {
        let fingerprint = address.fingerprint.map { "?fp=" + ByteText.hex($0) } ?? ""
        let secret = secret.withUnsafeBytes { ByteText.hex($0) }
        return "\(Self.scheme)\(address.authority)/\(invitation)\(fingerprint)#\(secret)"
    }

    // MARK: What the relay keeps

    private struct Content: Codable {
        let channel: RelayChannelID
        let key: String
        /// The founding statement and the keys of a device for one use, in a database with members.
        var founding: String?
        var device: String?
        /// The database; absent in links by older programs.
        var store: String?

        /// What makes the store a device of a member; nil in a database without members.
        func membership() throws -> MembershipInvitation? {
            guard founding != nil || device != nil else { return nil }
            let bytes = [founding, device, store].compactMap { $0 }.flatMap { ByteText.bytes(hex: $0) ?? [] }
            return try MembershipInvitation(rawRepresentation: bytes)
        }
    }

    /// Seals what lets somebody into a channel, and makes a member of the store.
    func seal(_ channel: RelayChannel, _ membership: MembershipInvitation? = nil) throws -> Data {
        var content = Content(channel: channel.id, key: channel.key.secretText)
        if let bytes = membership?.rawRepresentation {
            content.founding = ByteText.hex(bytes.prefix(32))
            content.device = ByteText.hex(bytes.dropFirst(32).prefix(64))
            let store = bytes.dropFirst(96)
            content.store = store.isEmpty ? nil : ByteText.hex(store)
        }
        return try ChaChaPoly.seal(
            RelayJSON.encode(content), using: sealingKey, authenticating: invitation.bytes
        ).combined
    }

    /// Opens what the relay handed out.
    ///
    /// - throws: ``RelayError`` of code `forgedInvitation` when it was not made with this link.
    func open(
        _ handed: RelayInvitation
    ) throws -> (channel: RelayChannel, membership: MembershipInvitation?) {
        let isExact = RelayLinkCheck.isRight(secret, in: invitation) == true
        let forged = RelayError(
            .forgedInvitation,
            "what the relay keeps under the invitation was not sealed by who made the link"
                + (isExact ? "" : ", or the link was not copied exactly"),
            hint: "ask for a new link; if that fails too, the relay should not be relied on")
        guard let box = try? ChaChaPoly.SealedBox(combined: handed.sealed),
            let plain = try? ChaChaPoly.open(box, using: sealingKey, authenticating: invitation.bytes),
            let content = try? RelayJSON.decode(Content.self, from: Array(plain)),
            let key = RelayChannelKey(secretText: content.key), content.channel == handed.channel,
            case .success(let membership) = Result(catching: content.membership)
        else { throw forged }
        return (RelayChannel(id: content.channel, key: key), membership)
    }

    private var sealingKey: SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret, info: Data("cipherstore relay 1 invitation".utf8), outputByteCount: 32)
    }
}
