import Crypto
import SyncWire

/// What a new device needs to reach a server, once: `cipherstore://hub.example:7443/AQ…`.
///
/// It holds the address, the fingerprint of the server's certificate, the database, and a secret
/// that enrols one device. Whoever has it before its device does gets in, so it goes a way that others do
/// not see, and expires soon. Four bytes of a hash over all of it catch typing errors.
public struct InviteLink: Equatable, Sendable, LosslessStringConvertible {
    private static let scheme = "cipherstore://"
    private static let version: UInt8 = 1
    static let secretByteCount = 16
    private static let checkByteCount = 4

    /// Where the server is.
    public let address: ServerAddress
    /// The database that the device becomes a replica of.
    public let store: StoreID
    /// What enrols the device.
    let secret: [UInt8]

    init(address: ServerAddress, store: StoreID, secret: [UInt8]) {
        self.address = address
        self.store = store
        self.secret = secret
    }

    /// Reads a link; nil when it is none, or has a typing error.
    public init?(_ description: String) {
        guard description.utf8.count <= 1000, description.hasPrefix(Self.scheme) else { return nil }
        let rest = description.dropFirst(Self.scheme.count)
        guard let slash = rest.firstIndex(of: "/"),
            let bytes = ByteText.bytes(base64: String(rest[rest.index(after: slash)...])),
            let (host, port) = ServerAddress.split(String(rest[..<slash]))
        else { return nil }
        let authority = String(rest[..<slash])
        let content = Array(bytes.dropLast(Self.checkByteCount))
        guard bytes.count > Self.checkByteCount,
            Array(bytes.suffix(Self.checkByteCount)) == Self.check(authority, content)
        else { return nil }
        self.init(host: host, port: port, content: content)
    }

    private init?(host: String, port: Int, content: [UInt8]) {
        guard content.count >= 2 + 16 + Self.secretByteCount, content[0] == Self.version else { return nil }
        let fingerprint = Array(content[(2 + 16 + Self.secretByteCount)...])
        let trust: ServerAddress.Trust
        switch (content[1], fingerprint.count) {
        case (0, 32): trust = .fingerprint(fingerprint)
        case (1, 0): trust = .systemRoots
        case (2, 0): trust = .loopback
        default: return nil
        }
        guard let address = try? ServerAddress(host: host, port: port, trust: trust),
            let store = content[2..<18].withUnsafeBytes({ StoreID(bytes: $0) })
        else { return nil }
        self.init(
            address: address, store: store, secret: Array(content[18..<(18 + Self.secretByteCount)]))
    }

    /// The link. It holds the secret.
    public var description: String {
        var content = [Self.version]
        switch address.trust {
        case .fingerprint(let fingerprint):
            content += [0] + store.bytes + secret + fingerprint
        case .systemRoots: content += [1] + store.bytes + secret
        case .loopback: content += [2] + store.bytes + secret
        }
        let authority = address.authority
        return Self.scheme + authority + "/" + ByteText.base64(content + Self.check(authority, content))
    }

    private static func check(_ authority: String, _ content: [UInt8]) -> [UInt8] {
        let label = Array("cipherstore invite 1\0".utf8)
        return Array(
            SHA256.hash(data: label + Array(authority.utf8) + [0] + content).prefix(checkByteCount))
    }
}
