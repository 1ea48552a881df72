import Foundation
import SyncEngine
import SyncWire
import Testing

@testable import SyncHTTP

/// Requests as bytes, which no HTTP library would send.
@Suite(.serialized) struct RawRequestTests {
    /// Sends bytes to a server without TLS, and reads until it has been silent for a while or has closed.
    private func send(_ text: String, to port: Int) throws -> String {
        let connection = try #require(CuttingProxy.connection(to: port))
        defer { CuttingProxy.end(connection) }
        var timeout = timeval(tv_sec: 2, tv_usec: 0)
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let bytes = Array(text.utf8)
        #expect(Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
        var answer: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(connection, &piece, piece.count, 0)
            guard count > 0 else { break }
            answer += piece.prefix(count)
            if text.contains("Connection: close") == false, answer.count > 12 { break }
        }
        return String(decoding: answer, as: UTF8.self)
    }

    private func serving(_ body: @Sendable (RunningServer, StoreID) async throws -> Void) async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 3)
        let store = try hub.identity().store
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { try await body($0, store) }
    }

    /// Counting what a request only announces once ended the server.
    @Test func announcedLengthsAreNotCounted() async throws {
        try await serving { server, store in
            for _ in 0..<3 {
                let answer = try await blocking {
                    try send(
                        "POST /v1/stores/\(store)/greeting HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                            + "Content-Length: 9223372036854775807\r\n\r\n", to: server.port)
                }
                #expect(answer.hasPrefix("HTTP/1.1 4"), "\(answer)")
            }
            let alive = try await blocking {
                try send("GET /v1/hello HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", to: server.port)
            }
            #expect(alive.hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test(arguments: ["/v1/hello", "/v1/nothing", "/console", "/metrics"])
    func theAnswerToHEADHasNoBody(path: String) async throws {
        try await serving { server, _ in
            let answer = try await blocking {
                try send(
                    "HEAD \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", to: server.port)
            }
            #expect(answer.hasPrefix("HTTP/1.1 "))
            #expect(answer.hasSuffix("\r\n\r\n"), "\(answer)")
        }
    }

    @Test func aRequestForTwoHostsIsRefused() async throws {
        try await serving { server, _ in
            let answer = try await blocking {
                try send(
                    "GET /v1/hello HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: other.example\r\n\r\n",
                    to: server.port)
            }
            #expect(answer.hasPrefix("HTTP/1.1 400"), "\(answer)")
        }
    }

    /// A proxy may say for whom it asks in any of these ways. nginx, as it comes, says so in none but the last.
    @Test(arguments: [
        "Via: 1.1 x", "X-Real-IP: 127.0.0.1", "CF-Connecting-IP: 192.0.2.1", "Connection: close",
    ])
    func metricsAreNotForProxies(header: String) async throws {
        try await serving { server, _ in
            let answer = try await blocking {
                try send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\(header)\r\n\r\n", to: server.port)
            }
            #expect(answer.hasPrefix("HTTP/1.1 404"), "\(answer.prefix(20))")
        }
    }

    @Test func metricsAreNotForAPageWithANameOfItsOwn() async throws {
        try await serving { server, _ in
            for (host, status) in [
                ("evil.example", "404"), ("127.0.0.1:\(server.port)", "200"), ("localhost", "200"),
            ] {
                let answer = try await blocking {
                    try send("GET /metrics HTTP/1.1\r\nHost: \(host)\r\n\r\n", to: server.port)
                }
                #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(host): \(answer.prefix(20))")
            }
        }
    }
}
