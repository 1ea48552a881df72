import AsyncHTTPClient
import CipherStore
import Foundation
import NIOCore
import NIOSSL
import SyncWire
import Testing

@testable import SyncEngine
@testable import SyncHTTP

#if os(Linux)
    /// Many streams at once. With `CIPHERSTORE_STREAMS=1000`, and no other test beside it, their memory is
    /// measured: at most 150 MB, of both ends together.
    @Suite(.serialized) struct IdleStreamTests {
        private static let measured =
            ProcessInfo.processInfo.environment["CIPHERSTORE_STREAMS"].flatMap { Int($0) }
        private static let count = measured ?? 60

        private static let firstCount = 20

        private static func residentByteCount() throws -> Int {
            let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            return try #require(Int(text.split(separator: " ")[1])) * 4096
        }

        @Test func manyIdleStreamsAreHeld() async throws {
            let stores = try ServedStores()
            let hub = try stores.create("hub.db", rows: 10)
            var limits = HubServer.Limits()
            limits.deviceStreamCountMax = Self.count
            limits.deviceRequestsPerSecond = 100_000
            try await RunningServer.serving(hub, limits: limits) { server in
                let key = DeviceKey()
                _ = try server.register.enrol(key: key.publicKey, secret: server.invite("one").secret)
                let connection = try RemoteConnection(
                    server.address, certificate: hub.certificate(), store: hub.identity().store, key: key,
                    options: .hasty, environment: stores.clock.environment)
                nonisolated(unsafe) let open = connection
                try await blocking { try open.open() }
                defer { connection.close() }
                let session = try #require(connection.session)
                // The certificate was checked above; here are many connections of the same.
                var tls = TLSConfiguration.makeClientConfiguration()
                tls.certificateVerification = .none
                var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
                configuration.httpVersion = .http1Only
                configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Self.count + 10
                let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
                // The first ones make what all of them use.
                var before = 0
                var bodies: [HTTPClientResponse.Body] = []
                for number in 1...UInt64(Self.count) {
                    if number == UInt64(Self.firstCount) + 1 { before = try Self.residentByteCount() }
                    let target = connection.base + "/live"
                    let text = SignedText.request(
                        session: session.token, number: number, method: "GET", target: target, body: [UInt8]()
                    )
                    var request = HTTPClientRequest(url: try server.address.url + target)
                    request.headers.add(name: "cipherstore-session", value: ByteText.base64(session.token))
                    request.headers.add(name: "cipherstore-number", value: String(number))
                    request.headers.add(
                        name: "cipherstore-signature", value: ByteText.base64(try key.signature(of: text)))
                    let response = try await client.execute(request, timeout: .seconds(60))
                    #expect(response.status == .ok)
                    bodies.append(response.body)
                }
                // Each has said where the store is.
                for body in bodies.prefix(20) + bodies.suffix(20) {
                    for try await piece in body where piece.readableBytes > 0 { break }
                }
                let each = (try Self.residentByteCount() - before) / (Self.count - Self.firstCount)
                print("\(Self.count) idle streams: \(each / 1024) KiB each, of both ends together")
                // Other tests in this process have memory too.
                if Self.measured != nil { #expect(each <= 150 << 10) }
                try await client.shutdown()
            }
        }
    }

    extension Synchronizer {
        fileprivate func certificate() throws -> [UInt8]? {
            try database.read { try Data.fetchOne($0, sql: "SELECT certificate FROM _sync_server") }.map {
                Array($0)
            }
        }
    }
#endif
