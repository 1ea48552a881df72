import Foundation
import SyncBucket
import SyncEngine
import Synchronization

@testable import SyncRelay

/// A relay in memory that answers as the protocol has it, unless a test changes its answers.
final class MemoryRelay: RelayCarrier {
    struct File {
        var content: Data
        var position: RelayPosition
    }

    /// What a channel is at one moment.
    struct Channel {
        var registration: RelayRegistration
        var epoch = RelayEpoch.random()
        var position: RelayPosition = 0
        var files: [RelayFileName: File] = [:]
        var removed: [RelayFileName: RelayPosition] = [:]

        mutating func write(_ name: RelayFileName, _ content: Data) -> RelayPosition {
            position += 1
            files[name] = File(content: content, position: position)
            removed[name] = nil
            return position
        }

        mutating func remove(_ name: RelayFileName) -> RelayPosition {
            guard files.removeValue(forKey: name) != nil else { return position }
            position += 1
            removed[name] = position
            return position
        }
    }

    struct State {
        var channels: [String: Channel] = [:]
        var invitations: [String: RelayInvitation] = [:]
        var requests: [String] = []
        /// The most entries of a page.
        var pageCount = 1000
    }

    let state = Mutex(State())
    /// Changes an answer, or throws instead of it.
    let tamper = Mutex<(@Sendable (RelayRequest, RelayAnswer) throws -> RelayAnswer)?>(nil)

    /// Lets all answers go through a function from now on.
    func lie(_ body: (@Sendable (RelayRequest, RelayAnswer) throws -> RelayAnswer)?) {
        tamper.withLock { $0 = body }
    }

    /// The only channel, which a test may put back to what it was.
    var channel: Channel {
        get {
            state.withLock { $0.channels.values.first }
                ?? Channel(registration: RelayChannelKey().registration)
        }
        set { state.withLock { state in for id in state.channels.keys { state.channels[id] = newValue } } }
    }

    /// What was asked, as `GET /files`.
    var requests: [String] { state.withLock { $0.requests } }

    func send(_ request: RelayRequest, check: () throws -> Void) throws -> RelayAnswer {
        try check()
        let answer = try state.withLock { state in
            state.requests.append("\(request.method) \(request.path)")
            return try Self.answer(request, &state)
        }
        return try tamper.withLock { $0 }?(request, answer) ?? answer
    }

    // MARK: Answers

    static func document(_ value: some Encodable, status: Int = 200) throws -> RelayAnswer {
        RelayAnswer(status: status, headers: [], body: Data(try RelayJSON.encode(value)))
    }

    static func problem(_ code: RelayProblem.Code, _ headers: [(name: String, value: String)] = [])
        -> RelayAnswer
    {
        let body = (try? RelayJSON.encode(RelayProblem(code, "no"))) ?? []
        return RelayAnswer(status: code.status, headers: headers, body: Data(body))
    }

    private static func content(_ body: RelayRequest.Body) throws -> Data {
        switch body {
        case .none: Data()
        case .document(let data): data
        case .file(let spool): try spool.read(at: 0, upTo: spool.byteCount)
        }
    }

    private static func answer(_ request: RelayRequest, _ state: inout State) throws -> RelayAnswer {
        let parts = request.path.split(separator: "?", maxSplits: 1)
        let path = parts[0].split(separator: "/").map(String.init)
        let query = parts.count > 1 ? String(parts[1]) : ""
        let body = try content(request.body)
        guard path[1] == "channels" else {
            guard let handed = state.invitations.removeValue(forKey: path[2]) else {
                return problem(.missing)
            }
            return try document(handed)
        }
        if path.count == 3, request.method == "PUT" {
            let registration = try RelayJSON.decode(RelayRegistration.self, from: Array(body))
            if let known = state.channels[path[2]], known.registration != registration {
                return problem(.conflict)
            }
            if state.channels[path[2]] == nil {
                state.channels[path[2]] = Channel(registration: registration)
            }
            return RelayAnswer(status: 201, headers: [], body: Data())
        }
        guard var channel = state.channels[path[2]], let token = request.token,
            token.digest == channel.registration.writeToken
                || (request.method == "GET" && token.digest == channel.registration.readToken)
        else { return problem(.unauthorized) }
        defer { if state.channels[path[2]] != nil { state.channels[path[2]] = channel } }
        switch path.count > 3 ? path[3] : "" {
        case "files" where path.count == 4: return try listing(channel, query, state.pageCount)
        case "files":
            return try file(RelayFileName(folder: path[4], name: path[5]), request, body, &channel)
        case "changes":
            return try changes(RelayJSON.decode(RelayChanges.self, from: Array(body)).changes, &channel)
        case "invitations" where request.method == "PUT":
            let deposit = try RelayJSON.decode(RelayInvitationDeposit.self, from: Array(body))
            guard let id = RelayChannelID(path[2]) else { return problem(.malformed) }
            state.invitations[path[4]] = RelayInvitation(channel: id, sealed: deposit.sealed)
            return RelayAnswer(status: 201, headers: [], body: Data())
        case "invitations":
            state.invitations[path[4]] = nil
            return RelayAnswer(status: 204, headers: [], body: Data())
        case "" where request.method == "DELETE":
            state.channels[path[2]] = nil
            return RelayAnswer(status: 204, headers: [], body: Data())
        default:
            return try document(
                RelayChannelState(
                    epoch: channel.epoch, position: channel.position, byteCount: 0, byteCountMax: 1 << 30,
                    fileCount: Int64(channel.files.count)))
        }
    }

    private static func changes(_ changes: [RelayChanges.Change], _ channel: inout Channel) throws
        -> RelayAnswer
    {
        let former = channel
        for change in changes {
            switch change {
            case .write(let name, let isReplacing, let content):
                if !isReplacing, let file = channel.files[name] {
                    guard file.content == content else {
                        channel = former
                        return problem(.exists)
                    }
                    continue
                }
                _ = channel.write(name, content)
            case .remove(let name): _ = channel.remove(name)
            }
        }
        return try document(RelayPlace(position: channel.position))
    }

    private static func listing(_ channel: Channel, _ query: String, _ pageCount: Int) throws -> RelayAnswer {
        let items = Dictionary(
            query.split(separator: "&").map { item in
                let pair = item.split(separator: "=", maxSplits: 1)
                return (String(pair[0]), String(pair[1]))
            }, uniquingKeysWith: { first, _ in first })
        let after = items["after"].flatMap { Int64($0) } ?? .max
        // A page is named by where its listing began, and by how much came before it.
        let page = items["page"].map { $0.split(separator: "-").compactMap { Int64($0) } }.flatMap {
            $0.count == 3 ? $0 : nil
        }
        let isComplete =
            page.map { $0[0] == 1 }
            ?? (items["epoch"] != channel.epoch.description || after > channel.position)
        let start = page?[1] ?? (isComplete ? 0 : after)
        let entries = channel.files.map {
            (name: $0.key, file: File?.some($0.value), position: $0.value.position)
        }
        let removals = channel.removed.map { (name: $0.key, file: File?.none, position: $0.value) }
        let all = (entries + (isComplete ? [] : removals)).filter { $0.position > start }
            .sorted { $0.position < $1.position }
        let first = Int(page?[2] ?? 0)
        let shown = all.dropFirst(first).prefix(pageCount)
        return try document(
            RelayListing(
                epoch: channel.epoch, position: channel.position, isComplete: isComplete,
                files: shown.compactMap { item in
                    item.file.map {
                        .init(
                            file: item.name, byteCount: Int64($0.content.count), position: $0.position,
                            milliseconds: 1)
                    }
                }, removed: shown.filter { $0.file == nil }.map(\.name),
                next: first + shown.count < all.count
                    ? "\(isComplete ? 1 : 0)-\(start)-\(first + shown.count)" : nil))
    }

    private static func file(
        _ name: RelayFileName, _ request: RelayRequest, _ body: Data, _ channel: inout Channel
    ) throws -> RelayAnswer {
        func header(_ name: String) -> String? { request.headers.first { $0.name == name }?.value }
        switch request.method {
        case "PUT":
            guard header("content-digest") == RelayDigest(of: body).contentDigest else {
                return problem(.digestMismatch)
            }
            if header("if-none-match") == "*", let file = channel.files[name] {
                return file.content == body
                    ? try document(RelayPlace(position: file.position)) : problem(.exists)
            }
            return try document(RelayPlace(position: channel.write(name, body)), status: 201)
        case "DELETE": return try document(RelayPlace(position: channel.remove(name)))
        default:
            guard let file = channel.files[name] else { return problem(.missing) }
            if let match = header("if-match"), match != "\"\(file.position)\"" { return problem(.exists) }
            return range(file, header("range") ?? "bytes=0-")
        }
    }

    private static func range(_ file: File, _ text: String) -> RelayAnswer {
        let bounds = text.dropFirst(6).split(separator: "-").compactMap { Int($0) }
        let count = file.content.count
        let tag = (name: "ETag", value: "\"\(file.position)\"")
        guard count > 0 else { return RelayAnswer(status: 200, headers: [tag], body: Data()) }
        let end = min(bounds.count > 1 ? bounds[1] : count - 1, count - 1)
        return RelayAnswer(
            status: 206, headers: [tag, ("Content-Range", "bytes \(bounds[0])-\(end)/\(count)")],
            body: Data(file.content[bounds[0]...end]))
    }
}

extension MemoryRelay {
    /// A new client of this relay, which waits for nothing between two attempts.
    func client(attempts: Int = 6, _ sleeps: Sleeps = Sleeps()) throws -> RelayClient {
        var retry = RequestRetry(random: { 0 })
        retry.attemptCountMax = attempts
        retry.sleep = { seconds, check in
            sleeps.note(seconds)
            try check()
        }
        return RelayClient(try RelayAddress(host: "relay.example"), .init(), carrier: self, retry: retry)
    }

    /// The mailbox of a channel.
    func mailbox(_ channel: RelayChannel, _ options: RelayMailbox.Options = .init()) throws -> RelayMailbox {
        let client = try client()
        try client.make(channel)
        return RelayMailbox(channel, client: client, options: options)
    }
}

/// How long a client would have waited.
final class Sleeps: Sendable {
    private let noted = Mutex<[Double]>([])

    var all: [Double] { noted.withLock { $0 } }

    func note(_ seconds: Double) { noted.withLock { $0.append(seconds) } }
}
