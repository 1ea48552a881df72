import AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL
import Testing

@testable import SyncHTTP

/// Requests as a browser makes them, with the cookies that it was given.
final class Browser {
    struct Answer {
        let status: Int
        let headers: [String: String]
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }

        var problem: Message.Problem? { try? JSONDocument.decode(Message.Problem.self, from: body) }

        func document() throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
        }
    }

    /// An event of a stream.
    struct Event {
        let name: String
        let data: Data

        func document() throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        }
    }

    private let url: String
    private let client: HTTPClient
    /// What it sends as `Cookie`.
    var cookies: [String] = []
    /// The store of its session.
    private(set) var store = ""

    init(_ server: RunningServer) throws {
        url = try server.address.url
        var configuration = HTTPClient.Configuration()
        var tls = TLSConfiguration.makeClientConfiguration()
        // A person decides that; what the certificate is worth is tested elsewhere.
        tls.certificateVerification = .none
        configuration.tlsConfiguration = tls
        // The server closes what is idle for 30 seconds, which a busy machine may take between two requests: a
        // connection must not be used again at that moment.
        configuration.connectionPool = .init(idleTimeout: .seconds(5))
        client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    }

    func close() async throws { try await client.shutdown() }

    private func request(
        _ method: String, _ path: String, _ headers: [String: String], _ body: [UInt8]
    ) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url + path)
        request.method = .init(rawValue: method)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if !cookies.isEmpty { request.headers.add(name: "cookie", value: cookies.joined(separator: "; ")) }
        if !body.isEmpty { request.body = .bytes(ByteBuffer(bytes: body)) }
        return request
    }

    func send(
        _ method: String, _ path: String, _ headers: [String: String] = [:], body: String = ""
    ) async throws -> Answer {
        let response = try await client.execute(
            request(method, path, headers, Array(body.utf8)), timeout: .seconds(30))
        let fields = Dictionary(
            response.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { "\($0), \($1)" })
        return Answer(
            status: Int(response.status.code), headers: fields,
            body: Array(buffer: try await response.body.collect(upTo: 8 << 20)))
    }

    /// Opens a link, and keeps the cookie that it is given.
    @discardableResult
    func open(_ secret: [UInt8], _ headers: [String: String] = [:]) async throws -> Answer {
        let answer = try await send(
            "POST", "/console/sessions", headers, body: #"{"secret":"\#(ByteText.base64(secret))"}"#)
        if answer.status == 201 {
            store = try #require(try answer.document()["store"] as? String)
            let cookie = try #require(answer.headers["set-cookie"])
            cookies.append(String(cookie.prefix { $0 != ";" }))
        }
        return answer
    }

    func data(_ store: String? = nil) async throws -> Answer {
        try await send("GET", "/console/stores/\(store ?? self.store)/data")
    }

    /// Follows the stream until a closure says that it saw enough, or the stream ends.
    ///
    /// - returns: Whether the stream ended first.
    @discardableResult
    func follow(_ onEvent: (Event) async throws -> Bool) async throws -> Bool {
        let response = try await client.execute(
            request("GET", "/console/stores/\(store)/events", [:], []), timeout: .seconds(30))
        #expect(response.status == .ok && response.headers["content-type"] == ["text/event-stream"])
        var text: [UInt8] = []
        for try await buffer in response.body {
            text += Array(buffer: buffer)
            while let end = text.firstRange(of: Array("\n\n".utf8)) {
                let lines = String(decoding: text[..<end.lowerBound], as: UTF8.self)
                    .split(separator: "\n")
                text.removeSubrange(..<end.upperBound)
                guard lines.count == 2, lines[0].hasPrefix("event: "), lines[1].hasPrefix("data: ") else {
                    Issue.record("that is no event: \(lines)")
                    return false
                }
                let event = Event(name: String(lines[0].dropFirst(7)), data: Data(lines[1].dropFirst(6).utf8))
                if try await onEvent(event) { return false }
            }
        }
        return true
    }
}

extension RunningServer {
    /// Makes a link to the page.
    func link(milliseconds: Int64 = 600_000) throws -> ConsoleLink {
        try ConsoleRegister(hub).makeLink(expiresAfter: milliseconds, address: address)
    }

    /// Runs a closure with a browser.
    func browsing(_ body: (Browser) async throws -> Void) async throws {
        let browser = try Browser(self)
        do {
            try await body(browser)
        } catch {
            try await browser.close()
            throw error
        }
        try await browser.close()
    }
}
