import Crypto
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

@testable import SyncHTTP
@testable import SyncRelay

/// A server on loopback that speaks TLS, reads the head of each request, and answers with whatever bytes a test has.
final class HostileServer: Sendable {
    /// How a connection is answered.
    enum Answer: Sendable {
        /// With these bytes, and the end of the connection.
        case bytes(String)
        /// With these bytes, and then the same piece again and again for as long as the client reads.
        case endless(String, piece: String)
        /// With nothing.
        case silence
        /// With nothing, and it reads no more either.
        case deafness
        /// With the end of the connection.
        case end
    }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let channel: any Channel
    let address: RelayAddress
    private let counter = RequestCounter()

    /// How many requests came.
    var requestCount: Int { counter.count }

    /// - parameter validity: When its certificate is valid; nil for always.
    init(_ answers: [Answer], validity: ClosedRange<Date>? = nil) async throws {
        let key = P256.Signing.PrivateKey()
        let bytes =
            try validity.map { validity in
                try CertificateContents(
                    issuer: "relay", subject: "relay", validity: validity, publicKey: key.publicKey,
                    isAuthority: true
                ).signed(by: key)
            } ?? ServerCertificate.selfSigned(key)
        let certificate = try ServerCertificate.selfSigned(bytes, key)
        let context = try NIOSSLContext(configuration: certificate.configuration())
        let rest = Mutex(answers)
        let next: @Sendable () -> Answer = {
            // The last one is for all that come later.
            rest.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        }
        let counter = counter
        channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        NIOSSLServerHandler(context: context), AnswerHandler(next: next, counter: counter),
                    ])
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        address = try RelayAddress(
            host: "127.0.0.1", port: channel.localAddress?.port ?? 0, fingerprint: certificate.fingerprint)
    }

    deinit {
        channel.close(promise: nil)
        group.shutdownGracefully { _ in }
    }
}

private final class RequestCounter: Sendable {
    private let value = Atomic<Int>(0)

    var count: Int { value.load(ordering: .relaxed) }

    func add() { value.add(1, ordering: .relaxed) }
}

/// Answers when the head of a request is there.
private final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let next: @Sendable () -> HostileServer.Answer
    private let counter: RequestCounter
    private var head = ""

    init(next: @escaping @Sendable () -> HostileServer.Answer, counter: RequestCounter) {
        (self.next, self.counter) = (next, counter)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        head += String(buffer: unwrapInboundIn(data))
        guard head.contains("\r\n\r\n") else { return }
        head = ""
        counter.add()
        switch next() {
        case .bytes(let text):
            let closed = NIOLoopBound(context, eventLoop: context.eventLoop)
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text))).whenComplete { _ in
                closed.value.close(promise: nil)
            }
        case .endless(let text, let piece):
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
            goOn(with: ByteBuffer(string: piece), context)
        case .silence: break
        case .deafness: _ = context.channel.setOption(.autoRead, value: false)
        case .end: context.close(promise: nil)
        }
    }

    private func goOn(with piece: ByteBuffer, _ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(piece)).whenSuccess {
            let (handler, context) = bound.value
            handler.goOn(with: piece, context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
