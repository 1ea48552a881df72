import Hummingbird
import HummingbirdCore
import NIOCore

/// The metrics of the server, for programs on this machine.
extension HubResponder {
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
