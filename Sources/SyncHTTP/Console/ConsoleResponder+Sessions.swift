import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import SyncWire

/// How links become sessions, and requests belong to them.
extension ConsoleResponder {
    private struct LinkRequest: Decodable {
        let secret: String
    }

    private struct Opened: Codable {
        let store: String
        /// The name of the store's file.
        let name: String
    }

    private struct List: Codable {
        let stores: [Opened]
    }

    /// The most bytes of a body.
    private static let byteCountMax = 1 << 10
    /// The most cookies that are looked at.
    private static let cookieCountMax = 100

    // MARK: Opening

    /// Opens a session by a link.
    func openSession(
        _ request: Request, _ channel: any Channel, _ hub: HubResponder
    ) async throws -> Response {
        try countStranger(channel.remoteAddress)
        try Self.requireOwnPage(request)
        let body = try await RequestReading(limits).body(of: request, upTo: Self.byteCountMax)
        let secret = try Message.bytes(
            try JSONDocument.decode(LinkRequest.self, from: body).secret, count: ConsoleLink.secretByteCount,
            "the secret")
        let stores = Array(served.values)
        let found = try await hub.onThread {
            for served in stores {
                if let generation = try served.register.take(secret) { return (served.store, generation) }
            }
            throw RemoteError(
                .invalidLink, "the link was used already, has expired, or is not this server's")
        }
        let (store, generation) = found
        let token = sessions.open(store: store.store, generation: generation)
        logger.notice("somebody opened the page", metadata: ["store": "\(store.store)"])
        var response = try hub.document(opened(store), .created)
        response.headers[.setCookie] = cookie(store.store, token)
        return response
    }

    private func opened(_ store: HubStore) -> Opened {
        let name = store.synchronizer.writer.path.split(separator: "/").last
        return Opened(store: store.store.description, name: name.map(String.init) ?? "")
    }

    /// Refuses what another site's page sent: a browser says where a request comes from. What does not come from a page
    /// says nothing.
    static func requireOwnPage(_ request: Request) throws {
        let isOwn: Bool
        if let site = HTTPField.Name("sec-fetch-site").flatMap({ request.headers[$0] }) {
            isOwn = site == "same-origin"
        } else if let origin = request.headers[.origin] {
            let host = request.head.authority ?? ""
            isOwn = origin == "https://\(host)" || origin == "http://\(host)"
        } else {
            isOwn = true
        }
        guard isOwn else { throw RemoteError(.malformed, "the request is not from this server's page") }
    }

    // MARK: Cookies

    /// The cookie of a store's session. Browsers take one named so over TLS only, and for this host only.
    private func cookieName(_ store: StoreID) -> String {
        (isEncrypted ? "__Host-" : "") + "cipherstore-" + store.description.prefix(16)
    }

    /// A cookie as it is set.
    ///
    /// - parameter token: The session's; nil removes the cookie.
    func cookie(_ store: StoreID, _ token: [UInt8]?) -> String {
        [
            "\(cookieName(store))=\(token.map(ByteText.base64) ?? "")", "Path=/", "HttpOnly",
            "SameSite=Strict", isEncrypted ? "Secure" : nil, token == nil ? "Max-Age=0" : nil,
        ].compactMap { $0 }.joined(separator: "; ")
    }

    /// The session of a store that a request comes with.
    private func session(
        _ request: Request, _ store: StoreID
    ) -> (session: ConsoleSessions.Session, token: [UInt8])? {
        let start = cookieName(store) + "="
        let cookies = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }
        for cookie in cookies.prefix(Self.cookieCountMax) {
            let text = cookie.drop { $0 == " " }
            guard text.hasPrefix(start),
                let token = ByteText.bytes(base64: String(text.dropFirst(start.count)))
            else { continue }
            if let session = sessions.session(token), session.store == store { return (session, token) }
        }
        return nil
    }

    // MARK: Using

    /// The stores whose sessions a browser has.
    func list(_ request: Request, _ hub: HubResponder) async throws -> Response {
        var stores: [Opened] = []
        for served in served.values {
            guard let (session, token) = session(request, served.store.store),
                (try? await check(session, token, served, hub)) != nil
            else { continue }
            stores.append(opened(served.store))
        }
        return try hub.document(List(stores: stores.sorted { $0.name < $1.name }))
    }

    /// The store and the session of a request.
    ///
    /// - throws: ``RemoteError`` of code `sessionEnded`, also where there is no such store: nobody learns which there are.
    func admitted(
        _ request: Request, _ name: String, _ hub: HubResponder
    ) async throws -> (served: Served, session: ConsoleSessions.Session, token: [UInt8]) {
        guard let store = try? Message.identifier(name) as StoreID, let served = served[store],
            let (session, token) = session(request, store)
        else { throw Self.ended }
        try await check(session, token, served, hub)
        return (served, session, token)
    }

    /// Throws when a session was revoked.
    private func check(
        _ session: ConsoleSessions.Session, _ token: [UInt8], _ served: Served, _ hub: HubResponder
    ) async throws {
        let generation = try await hub.onThread { try served.register.generation() }
        guard generation == session.generation else {
            sessions.end(token)
            throw Self.ended
        }
    }

    private static var ended: RemoteError {
        RemoteError(.sessionEnded, "there is no session, or it has ended; make a link with: syncctl console")
    }
}
