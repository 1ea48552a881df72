import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import SyncEngine
import Testing

@testable import SyncHTTP

/// What a server agrees on with clients of TLS 1.2.
@Suite(.serialized) struct CipherSuiteTests {
    /// Says how a handshake ended.
    private final class Outcome: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer

        private let done: EventLoopPromise<Void>

        init(_ done: EventLoopPromise<Void>) { self.done = done }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .some(.handshakeCompleted) = event as? TLSUserEvent { done.succeed() }
            context.fireUserInboundEventTriggered(event)
        }

        func channelInactive(context: ChannelHandlerContext) { done.fail(ChannelError.eof) }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            done.fail(error)
            context.close(promise: nil)
        }
    }

    private func connect(_ port: Int, _ suites: [NIOTLSCipher]) async throws {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        configuration.minimumTLSVersion = .tlsv12
        configuration.maximumTLSVersion = .tlsv12
        configuration.cipherSuiteValues = suites
        let context = try NIOSSLContext(configuration: configuration)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let done = loop.makePromise(of: Void.self)
        let channel = try await ClientBootstrap(group: loop).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandlers(
                    NIOSSLClientHandler(context: context, serverHostname: nil), Outcome(done))
            }
        }.connect(host: "127.0.0.1", port: port).get()
        defer { channel.close(promise: nil) }
        try await done.futureResult.get()
    }

    @Test func onlyAuthenticatedEncryptionIsSpoken() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub) { server in
            for suites: [NIOTLSCipher] in [
                [.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA], [.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA],
            ] {
                await #expect(throws: (any Error).self, "\(suites)") {
                    try await connect(server.port, suites)
                }
            }
            for suite in ServerCertificate.cipherSuites.prefix(3) { try await connect(server.port, [suite]) }
        }
    }
}
