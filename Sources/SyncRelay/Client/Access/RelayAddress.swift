import SyncHTTP

/// Where a relay is, and how its certificate is checked: `https://relay.example:7444`.
public struct RelayAddress: Hashable, Sendable, CustomStringConvertible {
    /// A name or an address, without brackets.
    public let host: String
    /// The port.
    public let port: Int
    /// The SHA-256 of the relay's certificate, which it has signed itself; nil when the system's root certificates vouch for it
    /// and its name.
    public let fingerprint: [UInt8]?

    /// The port that is meant when none is named.
    public static let defaultPort = 7444

    private static let scheme = "https://"

    /// Makes an address.
    ///
    /// - throws: ``RelayError`` of code `invalidAddress`.
    public init(host: String, port: Int = RelayAddress.defaultPort, fingerprint: [UInt8]? = nil) throws {
        do {
            _ = try ServerAddress(
                host: host, port: port, trust: fingerprint.map { .fingerprint($0) } ?? .systemRoots)
        } catch let error as RemoteError {
            throw RelayError(.invalidAddress, error.message)
        }
        (self.host, self.port, self.fingerprint) = (host, port, fingerprint)
    }

    /// Reads the URL of a relay, with a port or without.
    ///
    /// - parameters:
    ///     - url: What follows `https://` is a host, perhaps a port, and at most a slash.
    ///     - fingerprint: The fingerprint of its certificate.
    /// - throws: ``RelayError`` of code `invalidAddress`.
    public init(url: String, fingerprint: [UInt8]? = nil) throws {
        let wrong = RelayError(
            .invalidAddress, "that is no address of a relay",
            hint: "write it as https://relay.example:\(Self.defaultPort)")
        guard url.utf8.count <= 512, url.lowercased().hasPrefix(Self.scheme) else { throw wrong }
        var authority = url.dropFirst(Self.scheme.count)
        if authority.hasSuffix("/") { authority = authority.dropLast() }
        if let (host, port) = ServerAddress.split(String(authority)) {
            try self.init(host: host, port: port, fingerprint: fingerprint)
            return
        }
        if authority.hasPrefix("[") && authority.hasSuffix("]") {
            authority = authority.dropFirst().dropLast()
        } else if authority.contains(":") {
            throw wrong
        }
        try self.init(host: String(authority), fingerprint: fingerprint)
    }

    /// Reads a fingerprint as programs print it: 64 hexadecimal digits, perhaps with colons between; nil for anything else.
    public static func fingerprint(_ text: String) -> [UInt8]? {
        let digits = text.filter { $0 != ":" }.lowercased()
        return digits.utf8.count == 64 ? ByteText.bytes(hex: digits) : nil
    }

    /// Host and port, as they stand in a URL.
    public var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// The start of the relay's URLs.
    public var url: String { Self.scheme + authority }

    /// The start of the relay's URLs.
    public var description: String { url }

    /// The same place with another fingerprint.
    public func pinning(_ fingerprint: [UInt8]?) throws -> RelayAddress {
        try RelayAddress(host: host, port: port, fingerprint: fingerprint)
    }

    /// Finds out which certificate whoever answers here shows. Nothing is sent to him, and he is not trusted for it: a
    /// person has to compare.
    ///
    /// Only a certificate that a relay has made for itself can be pinned. One of an authority can't.
    ///
    /// - returns: The SHA-256 of the certificate; nil when nobody answers with TLS.
    public func shownFingerprint() -> [UInt8]? { CertificateProbe.fingerprint(host: host, port: port) }
}

extension RelayAddress {
    /// A certificate that somebody shows, who is not trusted for it.
    package struct ShownCertificate: Sendable {
        /// Its SHA-256.
        package let fingerprint: [UInt8]
        /// Whether it vouches for itself, so that it can be pinned.
        package let isSelfSigned: Bool
    }

    /// Finds out what ``shownFingerprint()`` does, and whether the certificate can be pinned.
    ///
    /// - parameter check: Called all the time while this waits; what it throws ends the look.
    /// - returns: nil when nobody answers with TLS.
    /// - throws: What `check` throws.
    package func shownCertificate(check: () throws -> Void = {}) throws -> ShownCertificate? {
        try CertificateProbe.shown(host: host, port: port, check: check).map { certificate in
            ShownCertificate(
                fingerprint: ServerCertificate.fingerprint(certificate),
                isSelfSigned: ServerCertificate.isSelfSigned(certificate))
        }
    }
}

extension RelayAddress {
    /// The address as certificates are looked for.
    func server(_ fingerprint: [UInt8]) throws -> ServerAddress {
        try ServerAddress(host: host, port: port, trust: .fingerprint(fingerprint))
    }
}
