import Foundation
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import Testing

@testable import SyncHTTP

/// Connections that a server accepts while it ends. To drop one without a word once ended the whole process.
struct AcceptedConnectionTests {
    private static let connections = AcceptedConnections(configuration: .init()) { _, _, _ in }

    @Test func aConnectionThatIsNeverServedIsClosed() async throws {
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                // What a server does that has ended meanwhile: nothing holds the connection after this.
                Self.connections.setup(channel: channel, logger: Logger(label: "test")).map { _ in }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listener.localAddress?.port)
        for _ in 0..<10 {
            let isClosed = try await blocking {
                let connection = try #require(CuttingProxy.connection(to: port))
                defer { CuttingProxy.end(connection) }
                var timeout = timeval(tv_sec: 30, tv_usec: 0)
                setsockopt(
                    connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
                var byte: UInt8 = 0
                // Bytes that come too late for the server make this a reset, which is an end as well.
                let count = recv(connection, &byte, 1, 0)
                return count == 0 || (count < 0 && errno == ECONNRESET)
            }
            #expect(isClosed)
        }
        try await listener.close()
    }

    @Test func aServerEndsWhileDevicesConnect() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 3)
        for _ in 0..<10 {
            let (ports, sending) = AsyncStream.makeStream(of: Int.self)
            async let connecting: Void = {
                for await port in ports {
                    try await blocking {
                        for connection in (0..<64).compactMap({ _ in CuttingProxy.connection(to: port) }) {
                            CuttingProxy.end(connection)
                        }
                    }
                }
            }()
            try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
                sending.yield(server.port)
                // The server ends as soon as the first of them is there.
                let first = try #require(CuttingProxy.connection(to: server.port))
                CuttingProxy.end(first)
            }
            sending.finish()
            try await connecting
        }
    }
}
