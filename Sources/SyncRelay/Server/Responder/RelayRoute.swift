import HTTPTypes
import HummingbirdCore
import NIOCore
import SyncHTTP

/// What a request asks for.
enum RelayRoute: Equatable {
    /// What a token has to allow.
    enum Access {
        case read
        case write
    }

    /// What is done with a channel.
    enum Action: Equatable {
        case state
        case remove
        case list
        case watch
        case change
        case readFile(RelayFileName)
        case writeFile(RelayFileName)
        case removeFile(RelayFileName)
        case leaveInvitation(RelayInvitationID)
        case removeInvitation(RelayInvitationID)

        var access: Access {
            switch self {
            case .state, .list, .watch, .readFile: .read
            default: .write
            }
        }

        /// The name in metrics and logs.
        var kind: String {
            switch self {
            case .state: "state"
            case .remove: "remove-channel"
            case .list: "list"
            case .watch: "watch"
            case .change: "changes"
            case .readFile: "read"
            case .writeFile: "write"
            case .removeFile: "remove"
            case .leaveInvitation: "invite"
            case .removeInvitation: "remove-invitation"
            }
        }
    }

    case health
    case metrics
    case page(RelayResponder.PagePart)
    case makeChannel(RelayChannelID)
    case channel(RelayChannelID, Action)
    case invitation(RelayInvitationID)
    /// A request of those that there are, with names in it that can't be.
    case malformed(String)
    case none

    /// The name of requests for the relay's page in metrics and logs.
    static let pageKind = "page"

    /// The name in metrics and logs: one of few, whatever somebody sends.
    var kind: String {
        switch self {
        case .health: "health"
        case .metrics: "metrics"
        case .page: Self.pageKind
        case .makeChannel: "make-channel"
        case .channel(_, let action): action.kind
        case .invitation: "take-invitation"
        case .malformed, .none: "other"
        }
    }

    /// Whether it is there for this machine only. To others it is what there is nothing of.
    var isLocal: Bool {
        switch self {
        case .metrics, .page: true
        default: false
        }
    }

    /// Whether the answer is a file, unless it is a problem.
    var isFile: Bool {
        if case .channel(_, .readFile) = self { return true }
        return false
    }

    init(_ request: Request) {
        let path = request.uri.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        self.init(request.method, Array(path))
    }

    init(_ method: HTTPRequest.Method, _ path: [Substring]) {
        switch (method, path.first, path.count) {
        case (.get, "health", 1): self = .health
        case (.get, "metrics", 1): self = .metrics
        case (.get, "", 1), (.head, "", 1): self = .page(.html)
        case (.get, "page", 2), (.head, "page", 2):
            switch RelayResponder.PagePart(rawValue: String(path[1])) {
            case .html, nil: self = .none
            case let part?: self = .page(part)
            }
        case (_, "v1", 3) where path[1] == "invitations" && method == .post:
            self =
                RelayInvitationID(path[2]).map { .invitation($0) } ?? .malformed("that is no invitation")
        case (_, "v1", 3...) where path[1] == "channels":
            guard let channel = RelayChannelID(path[2]) else {
                self = .malformed("a channel is named by 32 hexadecimal digits in lower case")
                return
            }
            self = Self.route(method, channel, Array(path.dropFirst(3)))
        default: self = .none
        }
    }

    private static func route(
        _ method: HTTPRequest.Method, _ channel: RelayChannelID, _ path: [Substring]
    ) -> RelayRoute {
        switch (method, path.first, path.count) {
        case (.put, nil, 0): return .makeChannel(channel)
        case (.get, nil, 0): return .channel(channel, .state)
        case (.delete, nil, 0): return .channel(channel, .remove)
        case (.get, "files", 1): return .channel(channel, .list)
        case (.get, "watch", 1): return .channel(channel, .watch)
        case (.post, "changes", 1): return .channel(channel, .change)
        case (_, "files", 3) where [.get, .put, .delete].contains(method):
            guard let file = try? RelayFileName(folder: String(path[1]), name: String(path[2])) else {
                return .malformed(
                    "a folder is 32 hexadecimal digits in lower case, and a name 1 to 64 of 0-9, a-z, - and ."
                )
            }
            switch method {
            case .get: return .channel(channel, .readFile(file))
            case .put: return .channel(channel, .writeFile(file))
            default: return .channel(channel, .removeFile(file))
            }
        case (_, "invitations", 2) where [.put, .delete].contains(method):
            guard let invitation = RelayInvitationID(path[1]) else {
                return .malformed("that is no invitation")
            }
            return .channel(
                channel, method == .put ? .leaveInvitation(invitation) : .removeInvitation(invitation))
        default: return .none
        }
    }
}
