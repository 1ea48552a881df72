import Hummingbird
import HummingbirdCore
import NIOCore

/// The metrics of the server, for programs on this machine.
extension HubResponder {
    /// Whether a request comes from a program on this machine, and not through a proxy on it.
    static func isFromHere(_ request: Request, _ context: HubContext) -> Bool {
        let isForwarded = request.headers.contains { field in
            let name = field.name.canonicalName
            return name == "forwarded" || name == "via" || name.hasPrefix("x-forwarded")
        }
        guard !isForwarded, let host = context.channel.remoteAddress?.ipAddress else { return false }
        guard host == "::1" || host.hasPrefix("127.") || host.hasPrefix("::ffff:127.") else { return false }
        // A page in a browser on this machine can have a name of its own lead here (DNS rebinding).
        return request.head.authority.map { isLoopbackAuthority($0) } ?? false
    }

    /// Whether a `Host` names this machine itself.
    static func isLoopbackAuthority(_ authority: String) -> Bool {
        var host = Substring(authority)
        if host.hasPrefix("[") {
            host = host.dropFirst().prefix { $0 != "]" }
        } else {
            host = host.prefix { $0 != ":" }
        }
        return host.lowercased() == "localhost" || ServerAddress.isLoopback(String(host))
    }

    func metricsAnswer() -> Response {
        let text = metrics.text([
            .streams: Double(stores.values.reduce(0) { $0 + $1.feed.streamCount }),
            .sessions: Double(sessions.count), .stores: Double(stores.count),
        ])
        return Response(
            status: .ok,
            headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// The names of requests in metrics: of those that there are, whatever somebody sends.
    private static let names: Set<String> = [
        "acknowledgement", "answers", "definitions", "devices", "downloads", "greeting", "identity", "live",
        "repairs", "sessions", "snapshots", "state", "uploads",
    ]

    static func routeName(_ request: Request, _ status: Int) -> String {
        let path = request.uri.path.split(separator: "/").map(String.init)
        switch path.count {
        case 0: return "console"
        case _ where path[0] == "console": return path.last == "events" ? "console-events" : "console"
        case 1 where ["health", "ready", "metrics", "openapi.yaml"].contains(path[0]): return path[0]
        case 2 where path[0] == "v1" && ["hello", "challenges"].contains(path[1]): return path[1]
        case 4... where names.contains(path[3]): return path.last == "application" ? "application" : path[3]
        default: return "other"
        }
    }
}
