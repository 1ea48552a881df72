import AsyncHTTPClient
import CipherStore
import NIOCore
import SyncEngine
import SyncWire

@testable import SyncHTTP
@testable import SyncTesting

/// A device that sends signed messages of every kind, with what it likes in them.
struct HostileClient {
    struct Answer {
        let request: String
        /// nil when the connection ended without an answer.
        let status: Int?
        let detail: String
        /// Whether the server refused a long body and hung up while it was still being sent, which a client may notice
        /// before it reads the answer.
        var isCutOff = false
    }

    private struct Request {
        var method = "POST"
        var path: String
        var body: [UInt8] = []
        var headers: [String: String] = [:]
        /// Whether the answer goes on until somebody ends it.
        var isStream = false
    }

    let attacker: Attacker
    let hub: Synchronizer
    private let replica: ReplicaID
    private var sequence: Int64 = 0
    private var number: UInt64 = 0
    /// Bundles that were begun, and downloads that were offered.
    private var uploads: [(name: String, frames: [[UInt8]])] = []
    private var downloads: [String] = []

    init(_ attacker: Attacker, _ hub: Synchronizer, _ random: inout SimulationRandom) {
        (self.attacker, self.hub) = (attacker, hub)
        replica = ReplicaID(high: random.next(), low: random.next())
    }

    /// Sends one message.
    mutating func send(_ random: SimulationRandom) async throws -> Answer {
        var words = HostileWords(random)
        let view = try HostileView(hub)
        var request: Request
        if number == 0 {
            // Without that, nothing that it uploads is looked at.
            let greeting = Greeting(
                store: view.store, replica: replica, vector: VersionVector(), ownSequence: 0)
            request = Request(path: "/greeting", body: greeting.encode())
        } else {
            request = try self.request(view, &words)
            // The client refuses to send a body with TRACE.
            if words.random.oneIn(6), request.method != "TRACE" { mutate(&request.body, &words) }
            if words.random.oneIn(8) { adorn(&request, &words) }
        }
        return try await send(request, &words)
    }

    // MARK: What is asked

    private mutating func request(_ view: HostileView, _ words: inout HostileWords) throws -> Request {
        switch words.random.number(below: 100) {
        case 0..<14:
            return Request(path: "/greeting", body: words.greeting(view, of: replica).encode())
        case 14..<18: return Request(method: "GET", path: "/greeting")
        case 18..<48: return try upload(view, &words)
        case 48..<60: return continued(&words)
        case 60..<68:
            let transfer = Message.Transfer(words.request(view, of: replica))
            let query = words.random.oneIn(2) ? "?codec=deflate" : ""
            return Request(path: "/downloads" + query, body: try JSONDocument.encode(transfer))
        case 68..<74: return download(&words)
        case 74..<78: return Request(path: "/answers", body: words.question(view).encode())
        case 78..<81:
            let kinds = ["kept", "recomputed", "other", ""]
            let kind = words.random.element(of: kinds) ?? ""
            return Request(path: "/state", body: Array("{\"kind\":\"\(kind)\"}".utf8))
        case 81..<85:
            return Request(
                path: "/acknowledgement", body: try JSONDocument.encode(Message.Vector(words.vector(view))))
        case 85..<88: return try renewal(view, &words)
        case 88..<91: return repair(view, &words)
        case 91: return Request(path: "/snapshots", body: Array("{\"recipient\":\"csr1-00\"}".utf8))
        case 92: return Request(method: "GET", path: "/definitions")
        case 93: return Request(method: "GET", path: "/live", isStream: true)
        default: return elsewhere(view, &words)
        }
    }

    private mutating func upload(_ view: HostileView, _ words: inout HostileWords) throws -> Request {
        var bundle = words.bundle(view, of: replica, next: &sequence)
        if words.random.oneIn(50) { bundle.sender = words.replica(view) }
        guard let frames = try? bundle.frames(), let first = frames.first else {
            return Request(path: "/uploads")
        }
        if words.random.oneIn(3) {
            let part = try? first.withUnsafeBytes { try BundleParts.part(of: $0) }
            if case .header(let identifier) = part {
                uploads.append((ByteText.hex(identifier), frames))
                if uploads.count > 8 { uploads.removeFirst() }
            }
            return Request(path: "/uploads", body: first)
        }
        let query = words.random.oneIn(10) ? "?apply=perhaps" : "?apply=true"
        return Request(path: "/uploads" + query, body: Array(frames.joined()))
    }

    /// Goes on with an upload that was begun, in any order.
    private mutating func continued(_ words: inout HostileWords) -> Request {
        let unknown = String(repeating: "0", count: 64)
        guard let upload = words.random.element(of: uploads), !words.isOdd() else {
            return Request(method: "PUT", path: "/uploads/" + unknown, body: [2, 1, 0, 0, 0, 0])
        }
        if words.random.oneIn(2) { return Request(path: "/uploads/\(upload.name)/application") }
        var frames = Array(upload.frames.dropFirst())
        if words.isOdd() { frames.shuffle(using: &words.random) }
        if words.isOdd(), !frames.isEmpty { frames.removeLast() }
        if words.isOdd(), let other = uploads.first { frames += other.frames }
        return Request(method: "PUT", path: "/uploads/\(upload.name)", body: Array(frames.joined()))
    }

    private mutating func download(_ words: inout HostileWords) -> Request {
        let name = words.random.element(of: downloads) ?? String(repeating: "0", count: 32)
        let queries = [
            "", "?offset=0", "?offset=1", "?offset=-1", "?offset=99999999999999999999", "?offset=",
            "?offset=x",
            "?offset=0&offset=5", "?offset=9223372036854775807", "?%00", "?offset=1e3",
        ]
        if words.random.oneIn(4) {
            downloads.removeAll { $0 == name }
            return Request(method: "DELETE", path: "/downloads/" + name)
        }
        return Request(method: "GET", path: "/downloads/\(name)\(words.random.element(of: queries) ?? "")")
    }

    private func renewal(_ view: HostileView, _ words: inout HostileWords) throws -> Request {
        let forks = (0..<words.random.number(below: 4)).map { _ in
            Fork(replica: words.replica(view), common: words.number(upTo: AdmissionLimits.sequenceMax))
        }
        let message = Message.Renewal(
            request: words.isOdd() ? words.strangeName() : "\(words.identifier())",
            forks: Message.Forks(forks).forks)
        return Request(path: "/identity", body: try JSONDocument.encode(message))
    }

    private func repair(_ view: HostileView, _ words: inout HostileWords) -> Request {
        let keys = (0..<words.random.number(below: 4)).map { _ in
            words.random.element(of: view.rows).map { StateRowKey(bytes: $0.key, isText: $0.isTextKey) }
                ?? StateRowKey(bytes: [UInt8](repeating: 1, count: 16), isText: false)
        }
        let table = words.name(like: words.random.element(of: view.tables)?.name ?? "")
        return Request(path: "/repairs", body: StateRows.encode([StateRows(table: [table], keys: keys)]))
    }

    /// Something that is not for devices, or is nothing at all.
    private func elsewhere(_ view: HostileView, _ words: inout HostileWords) -> Request {
        let methods = ["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS", "TRACE", "QUERY"]
        let paths = [
            "/console", "/console/sessions", "/console/stores/\(view.store)/data",
            "/console/stores/\(view.store)/events", "/console/stores/\(view.store)/devices", "/console/../v1",
            "/console/%2e%2e/", "/console/app.js", "/v1/stores/\(view.store)/devices",
            "/v1/stores/\(view.store)/sessions", "/v1/stores/\(view.store)",
            "/v1/stores/\(words.identifier())/greeting",
            "/v1/challenges", "/v1/hello", "/v2/hello", "/health", "/ready", "/metrics", "/openapi.yaml", "/",
            "//", "/%", "/%00", "/v1/stores/\(view.store)/uploads/%2F/application",
            "/" + String(repeating: "a/", count: 500),
            "/v1/stores/\(view.store)/greeting?" + String(repeating: "a=1&", count: 300),
        ]
        var request = Request(
            method: words.random.element(of: methods) ?? "GET", path: words.random.element(of: paths) ?? "/")
        if words.random.oneIn(2), request.method != "TRACE" {
            let bodies = [
                "{}", "[]", "{\"secret\":\"AAAA\"}", "{\"key\":\"\",\"challenge\":\"\",\"signature\":\"\"}",
                "nul",
                String(repeating: "[", count: 20_000), "{\"a\":1e999}", "{\"secret\":\"\\ud800\"}",
            ]
            request.body = Array((words.random.element(of: bodies) ?? "").utf8)
        }
        return request
    }

    // MARK: What becomes of it on the way

    private func mutate(_ body: inout [UInt8], _ words: inout HostileWords) {
        for _ in 0..<(1 + words.random.number(below: 3)) {
            let place = words.random.number(below: body.count + 1)
            switch words.random.number(below: 6) {
            case 0 where place < body.count: body[place] ^= 1 << UInt8(words.random.number(below: 8))
            case 1 where place < body.count: body[place] = words.random.oneIn(2) ? 0xFF : 0x80
            case 2: body.removeSubrange(place...)
            case 3: body.insert(contentsOf: body.suffix(from: place).prefix(40), at: place)
            case 4: body.insert(contentsOf: Array("9223372036854775808".utf8), at: place)
            default: body += [UInt8](repeating: 0, count: words.random.number(below: 100))
            }
        }
    }

    private func adorn(_ request: inout Request, _ words: inout HostileWords) {
        let headers: [(String, String)] = [
            ("content-encoding", "gzip"), ("accept-encoding", "deflate, gzip;q=0"), ("range", "bytes=0-,5-1"),
            ("content-type", "text/html; charset=?"), ("expect", "100-continue"),
            ("cookie", "session=; a"),
            ("x-forwarded-for", "127.0.0.1"), ("origin", "null"), ("referer", "http://example.com/"),
            ("cipherstore-number", "18446744073709551616"), ("cipherstore-signature", "%%%"),
            ("cipherstore-session", String(repeating: "A", count: 5000)), ("if-none-match", "*"),
            ("x-long", String(repeating: "x", count: 6000)), ("sec-fetch-site", "cross-site"),
        ]
        guard let (name, value) = words.random.element(of: headers) else { return }
        request.headers[name] = value
    }

    private mutating func send(
        _ request: Request, _ words: inout HostileWords, isRepeated: Bool = false
    ) async throws -> Answer {
        number += words.random.oneIn(100) ? 1000 : 1
        let isAbsolute =
            ["/console", "/v1", "/v2", "/health", "/ready", "/metrics", "/openapi", "//", "/%", "/a/"]
            .contains { request.path.hasPrefix($0) } || request.path == "/"

        let target = isAbsolute ? request.path : attacker.base + request.path
        var headers = try attacker.headers(number, request.method, target, request.body)
        headers.merge(request.headers) { $1 }
        let text = "\(request.method) \(request.path.prefix(100)) \(request.body.count) bytes"
        do {
            var message = HTTPClientRequest(url: attacker.url + target)
            message.method = .init(rawValue: request.method)
            for (name, value) in headers { message.headers.add(name: name, value: value) }
            if !request.body.isEmpty { message.body = .bytes(ByteBuffer(bytes: request.body)) }
            let response = try await HTTPClient.shared.execute(message, timeout: .seconds(60))
            let status = Int(response.status.code)
            let isEndless = request.isStream || request.path.hasSuffix("/events")
            guard !isEndless || status >= 300 else {
                return Answer(request: text, status: status, detail: "")
            }
            let body = Array(buffer: try await response.body.collect(upTo: 64 << 20))
            if let offer = try? JSONDocument.decode(Message.Download.self, from: body) {
                downloads.append(offer.download)
                if downloads.count > 8 { downloads.removeFirst() }
            }
            return Answer(
                request: text, status: status,
                detail: status < 400 ? "" : String(decoding: body.prefix(400), as: UTF8.self))
        } catch {
            let isHungUp = Attacker.isHungUp(error)
            // A connection that ends may be used until this client hears of it. Of one that a request broke, the same request
            // breaks the next one too.
            if isHungUp && !isRepeated { return try await send(request, &words, isRepeated: true) }
            let isCutOff = isHungUp && request.body.count > 1 << 20
            return Answer(request: text, status: nil, detail: "\(error)", isCutOff: isCutOff)
        }
    }
}
