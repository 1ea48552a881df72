/// Where a server is, and how its certificate is checked.
public struct ServerAddress: Equatable, Sendable, CustomStringConvertible {
    /// How a client knows that it speaks with the right server.
    public enum Trust: Equatable, Sendable {
        /// Its certificate has this SHA-256.
        case fingerprint([UInt8])
        /// The system's root certificates vouch for its certificate and name.
        case systemRoots
        /// There is no TLS: the server is on this machine.
        case loopback
    }

    /// A name or an address, without brackets.
    public let host: String
    /// The port.
    public let port: Int
    /// How its certificate is checked.
    public let trust: Trust

    /// Makes an address.
    ///
    /// - throws: ``RemoteError`` of code `invalidAddress`: for what is no host name or address, for a port
    ///   out of range, and for one without TLS that is not on this machine.
    public init(host: String, port: Int, trust: Trust) throws {
        let allowed = { (byte: UInt8) in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || [0x2D, 0x2E, 0x3A, 0x5F].contains(byte)
        }
        guard !host.isEmpty, host.utf8.count <= 253, host.utf8.allSatisfy(allowed) else {
            throw RemoteError(.invalidAddress, "\(host.debugDescription) is no name or address of a server")
        }
        guard (1...65535).contains(port) else {
            throw RemoteError(.invalidAddress, "\(port) is no port of a server")
        }
        if case .fingerprint(let bytes) = trust, bytes.count != 32 {
            throw RemoteError(.invalidAddress, "a fingerprint has 32 bytes")
        }
        guard trust != .loopback || Self.isLoopback(host) else {
            throw RemoteError(.invalidAddress, "without TLS only this machine itself is reached, not \(host)")
        }
        self.host = host
        self.port = port
        self.trust = trust
    }

    /// Whether a host is this machine, by an address that no other machine answers to.
    public static func isLoopback(_ host: String) -> Bool {
        host == "::1" || host == "localhost"
            || (host.hasPrefix("127.") && host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E })
    }

    /// Whether a host is an address of numbers, which has no name to ask for.
    static func isNumeric(_ host: String) -> Bool {
        host.contains(":") || host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E }
    }

    /// Host and port, as they stand in a URL.
    public var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// The start of the server's URLs.
    public var url: String { (trust == .loopback ? "http://" : "https://") + authority }

    /// The start of the server's URLs.
    public var description: String { url }

    /// Splits host and port: `hub.example:7443`, `[::1]:7443`; nil for anything else, and for a port above 65,535.
    public static func split(_ authority: String) -> (host: String, port: Int)? {
        guard let colon = authority.lastIndex(of: ":") else { return nil }
        var host = authority[..<colon]
        let digits = authority[authority.index(after: colon)...]
        guard !digits.isEmpty, digits.utf8.count <= 5, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(digits), port <= 65535
        else { return nil }
        if host.hasPrefix("[") && host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        return host.isEmpty ? nil : (String(host), port)
    }
}
