import Foundation

/// A bucket, and what the names of files in it begin with.
public struct BucketAddress: Hashable, Sendable {
    /// The name of the bucket.
    public let bucket: String
    /// What all names begin with, without a slash at the end; empty for the whole bucket.
    public let prefix: String
    /// Where the bucket is, as signatures name it.
    public let region: String

    /// The scheme, the host and the port of requests.
    let origin: String
    /// The host and, when it is not the usual one, the port.
    let host: String
    /// What the path begins with, not encoded and without a slash at the end.
    let basePath: String

    /// The region that is meant when none is named.
    public static let defaultRegion = "us-east-1"

    /// Makes an address.
    ///
    /// - parameters:
    ///     - bucket: The name of the bucket.
    ///     - prefix: What the names of files begin with, such as `notes` or `teams/a/notes`.
    ///     - endpoint: The address of the provider: `https://s3.example.com`; nil for Amazon's in the region. With
    ///       `http`, everybody on the way sees names and sizes; contents are sealed, and the secret is not sent.
    ///     - region: Where the bucket is.
    ///     - isPathStyle: Whether the bucket's name is in the path of requests and not in their host. That is so in any
    ///       case when the endpoint has an address instead of a name, or when the bucket's name can't be that of a host.
    /// - throws: ``BucketError`` of code `invalidAddress`.
    public init(
        bucket: String, prefix: String = "", endpoint: String? = nil,
        region: String = BucketAddress.defaultRegion, isPathStyle: Bool = false
    ) throws {
        try Self.check(bucket, prefix, region)
        let usual = "https://s3.\(region).amazonaws.com"
        let place = try Self.parse(endpoint ?? usual)
        let isInHost = !isPathStyle && Self.isHostLabel(bucket) && place.isNamed
        self.bucket = bucket
        self.prefix = prefix.hasSuffix("/") ? String(prefix.dropLast()) : prefix
        self.region = region
        host = (isInHost ? "\(bucket)." : "") + place.authority
        origin = "\(place.scheme)://\(host)"
        basePath = place.path + (isInHost ? "" : "/\(bucket)")
    }

    /// As `syncctl` spells it.
    public var name: String { "s3://\(bucket)" + (prefix.isEmpty ? "" : "/\(prefix)") }

    /// What the names of files begin with.
    var keyPrefix: String { prefix.isEmpty ? "" : prefix + "/" }

    /// The path of a key, not encoded; that of the bucket for nil.
    func path(of key: String?) -> String { "\(basePath)/\(key ?? "")" }

    private static func check(_ bucket: String, _ prefix: String, _ region: String) throws {
        func isWord(_ byte: UInt8) -> Bool {
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        }
        guard (1...255).contains(bucket.utf8.count), bucket.utf8.first.map(isWord) == true,
            bucket.utf8.allSatisfy({ isWord($0) || [0x2D, 0x2E, 0x5F].contains($0) })
        else { throw BucketError(.invalidAddress, "'\(withoutSecrets(bucket))' is no name of a bucket") }
        let segments = prefix.split(separator: "/", omittingEmptySubsequences: false)
        let isSound = segments.dropLast(prefix.hasSuffix("/") ? 1 : 0)
            .allSatisfy { !["", ".", ".."].contains($0) }
        guard prefix.isEmpty || isSound, prefix.utf8.count <= 800,
            prefix.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
        else {
            throw BucketError(
                .invalidAddress,
                "'\(printable(prefix))' is no prefix: it has up to 800 bytes, and no empty part")
        }
        guard (1...64).contains(region.utf8.count), region.utf8.allSatisfy({ isWord($0) || $0 == 0x2D })
        else {
            throw BucketError(
                .invalidAddress, "'\(printable(region))' is no region, such as \(defaultRegion)")
        }
    }

    /// Whether a bucket that Amazon makes can have a name. Those of before 2018 in ``defaultRegion`` may have others.
    package static func isNameAtAmazon(_ bucket: String) -> Bool {
        isHostLabel(bucket.replacing(".", with: "-"))
    }

    /// Whether a name can be the first label of a host. One with a dot would not be covered by a certificate.
    private static func isHostLabel(_ bucket: String) -> Bool {
        (3...63).contains(bucket.utf8.count) && !bucket.hasSuffix("-")
            && bucket.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D
            }
    }

    private struct Place {
        let scheme: String
        let authority: String
        let path: String
        /// Whether the host is a name with several parts.
        let isNamed: Bool
    }

    private static func parse(_ endpoint: String) throws -> Place {
        let wrong = BucketError(
            .invalidAddress, "'\(withoutSecrets(endpoint))' is no endpoint",
            hint:
                "write it as https://s3.example.com, with a port if it has one, and no user, password or query"
        )
        guard endpoint.utf8.count <= 1024, let parts = URLComponents(string: endpoint),
            let scheme = parts.scheme?.lowercased(), ["https", "http"].contains(scheme),
            let host = parts.host,
            !host.isEmpty, parts.user == nil, parts.password == nil, parts.query == nil,
            parts.fragment == nil,
            host.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x25 && $0 != 0x5C })
        else { throw wrong }
        let usualPort = scheme == "https" ? 443 : 80
        let port = parts.port.flatMap { $0 == usualPort ? nil : $0 }
        guard port.map({ (1...65_535).contains($0) }) ?? true else { throw wrong }
        var path = parts.path
        while path.hasSuffix("/") { path.removeLast() }
        let isAddress = host.contains(":") || host.split(separator: ".").last.map { Int($0) != nil } == true
        return Place(
            scheme: scheme, authority: host.lowercased() + (port.map { ":\($0)" } ?? ""), path: path,
            isNamed: !isAddress && host.contains("."))
    }

    /// A text for messages, without what may be a user and a password, before the last `@` or after a colon, and without a query.
    private static func withoutSecrets(_ text: String) -> String {
        let end = text.lastIndex(of: "@").map { "…" + text[$0...] } ?? text
        let shown = end.prefix { $0 != "?" && $0 != "#" }
        guard let first = shown.firstIndex(of: ":") else { return printable(shown) }
        let hasScheme = shown[first...].hasPrefix("://")
        let rest = hasScheme ? shown[first...].dropFirst(3) : shown
        guard let colon = rest.firstIndex(of: ":") else { return printable(shown) }
        let port = rest[colon...].dropFirst().prefix { $0 != "/" }
        let isPort = (1...5).contains(port.count) && port.allSatisfy { $0.isASCII && $0.isNumber }
        // What is no port may be a password whose host is missing.
        guard hasScheme || shown.hasPrefix("…"), isPort else { return printable(shown[...colon]) + "…" }
        // A secret may have a slash behind some digits.
        return printable(shown[..<port.endIndex]) + (port.endIndex < shown.endIndex ? "/…" : "")
    }

    private static func printable(_ text: some StringProtocol) -> String {
        String(
            text.prefix(100).map {
                $0 == "…" || $0.isASCII && !($0.asciiValue ?? 0 < 0x20) && $0 != "\u{7F}" ? $0 : "?"
            })
    }
}
