import HTTPTypes
import HummingbirdCore
import NIOCore

/// Who gets what a server or a relay tells of itself: programs and people on its machine.
package enum LocalRequest {
    /// Headers of proxies that say for whom they ask.
    private static let forwardingNames: Set<String> = [
        "cf-connecting-ip", "client-ip", "fastly-client-ip", "forwarded", "true-client-ip", "via",
        "x-client-ip",
        "x-cluster-client-ip", "x-original-forwarded-for", "x-real-ip",
    ]

    /// Whether a request comes from this machine and for it, and not through a proxy beside the server, which passes on what
    /// comes from elsewhere.
    package static func isFromHere(_ request: Request, _ channel: any Channel) -> Bool {
        guard !isForwarded(request), let address = channel.remoteAddress?.ipAddress,
            ServerAddress.isLoopback(address) || address.hasPrefix("::ffff:127."),
            let authority = request.head.authority
        else { return false }
        // A page in a browser on this machine can have a name of its own lead here (DNS rebinding).
        return isLoopbackAuthority(authority)
    }

    /// Whether a `Host` names this machine itself.
    static func isLoopbackAuthority(_ authority: String) -> Bool {
        let host =
            authority.hasPrefix("[")
            ? authority.dropFirst().prefix { $0 != "]" } : authority.prefix { $0 != ":" }
        return ServerAddress.isLoopback(host.lowercased())
    }

    private static func isForwarded(_ request: Request) -> Bool {
        // A proxy that is told nothing else, nginx, says for whom it asks in no header, names this machine as the host, and ends
        // the connection after each request. No browser does that.
        if request.headers[.connection]?.lowercased() == "close" { return true }
        return request.headers.contains { field in
            let name = field.name.canonicalName
            return forwardingNames.contains(name) || name.hasPrefix("x-forwarded")
        }
    }
}
