import AsyncHTTPClient
import Foundation
import NIOCore
import Testing

@testable import SyncHTTP

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Clients that hold a connection and do next to nothing.
@Suite(.serialized) struct SlowClientTests {
    private var limits: HubServer.Limits {
        var limits = HubServer.Limits()
        limits.silenceSeconds = 1
        return limits
    }

    @Test func aBodyThatTricklesIsCutOff() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback, limits: limits) { server in
            let attacker = try await Attacker(server)
            let headers = try attacker.headers(1, "POST", attacker.base + "/downloads", [1])
            var request = HTTPClientRequest(url: attacker.url + attacker.base + "/downloads")
            request.method = .POST
            for (name, value) in headers { request.headers.add(name: name, value: value) }
            request.body = .stream(Trickle(), length: .known(Int64(1_000_000)))
            do {
                let status = try await HTTPClient.shared.execute(request, timeout: .seconds(300)).status.code
                #expect(status == 408)
            } catch let error as HTTPClientError {
                #expect(error != .deadlineExceeded, "the server waited for ever")
            } catch {
                // The connection was closed while the body was being sent.
            }
        }
    }

    /// One byte now and then, for ever.
    private struct Trickle: AsyncSequence, Sendable {
        typealias Element = ByteBuffer
        struct AsyncIterator: AsyncIteratorProtocol {
            func next() async throws -> ByteBuffer? {
                try await Task.sleep(for: .milliseconds(50))
                return ByteBuffer(bytes: [1])
            }
        }
        func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
    }

    /// The start of a head.
    private static let head =
        Array("GET /health HTTP/1.1\r\nx: ".utf8) + [UInt8](repeating: 0x61, count: 3000)
    /// The start of a TLS handshake of 512 bytes.
    private static let handshake: [UInt8] =
        [0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3] + [UInt8](repeating: 1, count: 490)

    @Test(arguments: [true, false])
    func aHeadOrHandshakeThatTricklesIsCutOff(isEncrypted: Bool) async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        let tls = isEncrypted ? HubServer.TLS.selfSigned : .plaintextOnLoopback
        try await RunningServer.serving(hub, tls: tls, limits: limits) { server in
            let connection = try #require(CuttingProxy.connection(to: server.port))
            let count = try await blocking {
                Self.trickle(isEncrypted ? Self.handshake : Self.head, connection)
            }
            CuttingProxy.end(connection)
            // It was closed, and not because of what the first bytes are.
            #expect(try #require(count) > 5)
        }
    }

    /// Sends bytes one by one.
    ///
    /// - returns: After how many of them the server had closed the connection; nil when it had not.
    private static func trickle(_ bytes: [UInt8], _ connection: Int32) -> Int? {
        for (index, byte) in bytes.enumerated() {
            var one = byte
            guard send(connection, &one, 1, Int32(MSG_NOSIGNAL)) == 1 else { return index }
            var answer = [UInt8](repeating: 0, count: 1024)
            let count = recv(connection, &answer, answer.count, Int32(MSG_DONTWAIT))
            if count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK) { return index }
            usleep(50_000)
        }
        return nil
    }
}
