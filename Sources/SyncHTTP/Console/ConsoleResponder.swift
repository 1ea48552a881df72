import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import SyncWire

/// Answers browsers: a page for people, and what it shows.
///
/// The page is the same for everybody. What it shows is for sessions only, which a one-time link opens, see
/// ``ConsoleRegister``; a session sees the store of its link and no other one.
struct ConsoleResponder: Sendable {
    /// A store, its links and its pages.
    struct Served: Sendable {
        let store: HubStore
        let register: ConsoleRegister
        let feed: ConsoleFeed
        /// Of reading the store for a page.
        let readings = RateLimit(
            perSecond: 5, burst: 50, "the page is loaded too often; try again in a moment")
        /// Of conflicts that are dealt with, each of which is a write.
        let choices = RateLimit(
            perSecond: 5, burst: 50, "too many conflicts are resolved at once; try again in a moment")
    }

    let served: [StoreID: Served]
    let sessions: ConsoleSessions
    let limits: HubServer.Limits
    let logger: Logger
    /// Whether browsers reach the server over TLS.
    let isEncrypted: Bool
    /// Of people with a link; none of them opens ten a second.
    private let admissions = RateLimit(
        perSecond: 10, burst: 100, "too many links are tried; try again in a moment")
    /// The same of one address, so that nobody takes the place of all.
    private let addresses = AddressRates(
        perSecond: 5, "too many links are tried from this address; try again in a moment")

    init(
        _ stores: [HubStore], limits: HubServer.Limits, isEncrypted: Bool, logger: Logger,
        milliseconds: @escaping @Sendable () -> Int64
    ) throws {
        let served = try stores.map { store in
            let register = try ConsoleRegister(store.synchronizer)
            return (
                store.store,
                Served(store: store, register: register, feed: ConsoleFeed(store, register, logger: logger))
            )
        }
        self.served = Dictionary(served, uniquingKeysWith: { first, _ in first })
        self.limits = limits
        self.isEncrypted = isEncrypted
        self.logger = logger
        sessions = ConsoleSessions(milliseconds: milliseconds)
    }

    /// Counts somebody who tries a link.
    ///
    /// - throws: ``RemoteError`` of code `busy`.
    func countStranger(_ address: SocketAddress?) throws {
        try addresses.take(address)
        try admissions.take()
    }

    /// Ends the streams of all pages.
    func endAll() { for served in served.values { served.feed.endAll() } }

    /// Whether a path is the page's.
    static func isResponsible(for path: [String]) -> Bool { path == [""] || path.first == "console" }

    // MARK: Answers

    /// Answers a request.
    func answer(
        _ request: Request, _ path: [String], _ channel: any Channel, _ hub: HubResponder
    ) async throws -> Response {
        switch (request.method, Array(path.dropFirst())) {
        case (.get, []): return file("text/html", ConsolePage.html)
        case (.get, ["page.css"]): return file("text/css", ConsolePage.css)
        case (.get, ["page.js"]): return file("text/javascript", ConsolePage.script)
        case (.get, ["sessions"]): return try await list(request, hub)
        case (.post, ["sessions"]): return try await openSession(request, channel, hub)
        case (.get, let rest) where rest.count == 3 && rest[0] == "stores" && rest[2] == "data":
            let (served, _, _) = try await admitted(request, rest[1], hub)
            try served.readings.take()
            return try hub.document(try await hub.onThread { try served.feed.read().document })
        case (.get, let rest) where rest.count == 3 && rest[0] == "stores" && rest[2] == "events":
            let (served, session, token) = try await admitted(request, rest[1], hub)
            return try events(served.feed, session, token, channel)
        case (.get, let rest) where rest.count == 4 && rest[0] == "stores" && rest[2] == "conflicts":
            return try await conflict(request, store: rest[1], rest[3], hub)
        case (.post, let rest) where rest.count == 4 && rest[0] == "stores" && rest[2] == "conflicts":
            return try await resolve(request, store: rest[1], rest[3], hub)
        case (.delete, let rest) where rest.count == 3 && rest[0] == "stores" && rest[2] == "session":
            let (_, session, token) = try await admitted(request, rest[1], hub)
            try Self.requireOwnPage(request)
            sessions.end(token)
            return Response(status: .noContent, headers: [.setCookie: cookie(session.store, nil)])
        default: throw RemoteError(.notFound, "there is nothing here")
        }
    }

    private func file(_ type: String, _ text: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: "\(type); charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    // MARK: Live

    private func events(
        _ feed: ConsoleFeed, _ session: ConsoleSessions.Session, _ token: [UInt8], _ channel: any Channel
    ) throws -> Response {
        let (number, signals) = try feed.open()
        channel.closeFuture.whenComplete { _ in feed.close(number) }
        let (seconds, sessions) = (limits.silenceSeconds, sessions)
        let body = ResponseBody { writer in
            defer { feed.close(number) }
            var progress = ConsoleFeed.Progress()
            for await _ in signals {
                guard sessions.session(token) != nil,
                    let events = try feed.news(since: &progress, generation: session.generation)
                else { break }
                guard !events.isEmpty else { continue }
                // A browser that does not read on must not hold the stream for ever.
                let deadline = channel.eventLoop.scheduleTask(in: .milliseconds(Int64(seconds * 1000))) {
                    channel.close(promise: nil)
                }
                defer { deadline.cancel() }
                try await writer.write(ByteBuffer(bytes: events.flatMap(Self.text)))
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"], body: body)
    }

    /// An event as it is sent. JSON has no line ends.
    private static func text(_ event: ConsoleFeed.Event) -> [UInt8] {
        Array("event: \(event.name)\ndata: ".utf8) + event.data + Array("\n\n".utf8)
    }
}

extension Response {
    /// Adds what has every answer to a browser: nothing but the server's own files runs or is loaded, nobody frames it, and
    /// nothing is guessed, kept or told to others.
    package mutating func protectForBrowsers() {
        let policy = [
            "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
            "img-src 'self' data:", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'",
            "require-trusted-types-for 'script'", "trusted-types 'none'",
        ]
        headers[.contentSecurityPolicy] = policy.joined(separator: "; ")
        headers[.xContentTypeOptions] = "nosniff"
        for (name, value) in [
            ("referrer-policy", "no-referrer"), ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
    }
}
