import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import Synchronization

/// Fetches the certificate of a server by its fingerprint, so that it can be pinned.
package enum CertificateProbe {
    /// What a server showed.
    private struct Finding {
        var certificate: [UInt8]?
        var isAccepted = false
    }

    private final class FindingBox: Sendable {
        private let finding = Mutex(Finding())

        var value: Finding { finding.withLock { $0 } }

        func keep(_ value: Finding) { finding.withLock { $0 = value } }
    }

    /// Connects once, checks the certificate, and sends nothing.
    ///
    /// - returns: The certificate in DER.
    /// - throws: ``RemoteError``: `unreachable`, `wrongCertificate`.
    package static func certificate(of address: ServerAddress, fingerprint: [UInt8]) throws -> [UInt8] {
        let finding = try look(host: address.host, port: address.port, authority: address.authority) {
            ServerCertificate.fingerprint($0) == fingerprint
        }
        guard let certificate = finding.certificate else {
            // A proxy without a server behind it does that, and a server that is about to end.
            throw RemoteError(
                .unreachable,
                "\(address.authority) can't be reached: it closed the connection before it showed a certificate"
            )
        }
        guard finding.isAccepted else {
            throw RemoteError(
                .wrongCertificate,
                "\(address.authority) is not the server of the invitation: its certificate is another one")
        }
        return certificate
    }

    /// Connects once, and finds out which certificate is shown. It is not trusted, and nothing is sent.
    ///
    /// - returns: The SHA-256 of the certificate; nil when nobody answers with TLS.
    package static func fingerprint(host: String, port: Int) -> [UInt8]? {
        shown(host: host, port: port).map(ServerCertificate.fingerprint)
    }

    /// Connects once, and finds out which certificate is shown. It is not trusted, and nothing is sent.
    ///
    /// - returns: The certificate in DER; nil when nobody answers with TLS.
    package static func shown(host: String, port: Int) -> [UInt8]? {
        (try? look(host: host, port: port, authority: host) { _ in false })?.certificate
    }

    private static func look(
        host: String, port: Int, authority: String, accepts: @escaping @Sendable ([UInt8]) -> Bool
    ) throws -> Finding {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.cipherSuiteValues = ServerCertificate.cipherSuites
        configuration.applicationProtocols = ["http/1.1"]
        // The fingerprint decides instead of the chain and the name.
        configuration.certificateVerification = .noHostnameVerification
        let context = try NIOSSLContext(configuration: configuration)
        let found = FindingBox()
        let name = ServerAddress.isNumeric(host) ? nil : host
        let done = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: Void.self)
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(10))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = try NIOSSLClientHandler(
                        context: context, serverHostname: name,
                        customVerificationCallback: { certificates, promise in
                            let bytes = (try? certificates.first?.toDERBytes()) ?? []
                            let isAccepted = accepts(bytes)
                            found.keep(Finding(certificate: bytes, isAccepted: isAccepted))
                            promise.succeed(isAccepted ? .certificateVerified : .failed)
                        })
                    try channel.pipeline.syncOperations.addHandler(handler)
                    try channel.pipeline.syncOperations.addHandler(HandshakeWait(done))
                }
            }
        let channel: any Channel
        do {
            channel = try bootstrap.connect(host: host, port: port).wait()
        } catch {
            done.succeed()
            throw RemoteError(
                .unreachable, "\(authority) can't be reached: \(RemoteConnection.text(of: error))")
        }
        let deadline = channel.eventLoop.scheduleTask(in: .seconds(10)) { channel.close(promise: nil) }
        try? done.futureResult.wait()
        deadline.cancel()
        channel.close(promise: nil)
        return found.value
    }
}

extension ServerAddress {
    /// Whether whoever answers here has the certificate that is pinned; true where none is. It connects once.
    public var hasExpectedCertificate: Bool {
        guard case .fingerprint(let fingerprint) = trust else { return true }
        return (try? CertificateProbe.certificate(of: self, fingerprint: fingerprint)) != nil
    }
}

/// Waits for the end of a TLS handshake, or of the connection.
private final class HandshakeWait: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let done: EventLoopPromise<Void>

    init(_ done: EventLoopPromise<Void>) { self.done = done }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .some(.handshakeCompleted) = event as? TLSUserEvent { done.succeed() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) { done.succeed() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        done.succeed()
        context.close(promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) { done.succeed() }
}
