import Dispatch
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
        /// Whether the time for it was over first.
        var isLate = false
    }

    private final class FindingBox: Sendable {
        private let finding = Mutex(Finding())

        var value: Finding { finding.withLock { $0 } }

        func keep(_ certificate: [UInt8], isAccepted: Bool) {
            finding.withLock { ($0.certificate, $0.isAccepted) = (certificate, isAccepted) }
        }

        func noteLate() { finding.withLock { $0.isLate = true } }
    }

    /// How long a server may take to show its certificate.
    private static let handshakeSeconds: Int64 = 10
    /// How often it is looked whether the certificate is still wanted.
    private static let checkMilliseconds = 100

    /// Connects once, checks the certificate, and sends nothing.
    ///
    /// - parameter check: Called all the time while this waits; what it throws ends the look.
    /// - returns: The certificate in DER.
    /// - throws: ``RemoteError``: `unreachable`, `wrongCertificate`; what `check` throws.
    package static func certificate(
        of address: ServerAddress, fingerprint: [UInt8], check: () throws -> Void = {}
    ) throws -> [UInt8] {
        let finding = try look(
            host: address.host, port: address.port, authority: address.authority, check: check
        ) {
            ServerCertificate.fingerprint($0) == fingerprint
        }
        guard let certificate = finding.certificate else {
            // A server that hangs is late. A proxy without a server behind it closes, and a server that is about to end.
            let reason =
                finding.isLate
                ? "it showed no certificate within \(handshakeSeconds) seconds"
                : "it closed the connection before it showed a certificate"
            throw RemoteError(.unreachable, "\(address.authority) can't be reached: \(reason)")
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
        (try? shown(host: host, port: port)).map(ServerCertificate.fingerprint)
    }

    /// Connects once, and finds out which certificate is shown. It is not trusted, and nothing is sent.
    ///
    /// - parameter check: Called all the time while this waits; what it throws ends the look.
    /// - returns: The certificate in DER; nil when nobody answers with TLS.
    /// - throws: What `check` throws.
    package static func shown(host: String, port: Int, check: () throws -> Void = {}) throws -> [UInt8]? {
        var reason: (any Error)?
        func noting() throws {
            do {
                try check()
            } catch {
                reason = error
                throw error
            }
        }
        do {
            return try look(host: host, port: port, authority: host, check: noting) { _ in false }.certificate
        } catch {
            if let reason { throw reason }
            return nil
        }
    }

    private static func look(
        host: String, port: Int, authority: String, check: () throws -> Void = {},
        accepts: @escaping @Sendable ([UInt8]) -> Bool
    ) throws -> Finding {
        let found = FindingBox()
        let done = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: Void.self)
        let connection: EventLoopFuture<any Channel>
        do {
            connection = try connect(host: host, port: port, found, done, accepts: accepts)
            do {
                try wait(for: connection, check)
            } catch {
                connection.whenSuccess { $0.close(promise: nil) }
                throw error
            }
        } catch {
            done.succeed()
            throw error
        }
        let channel: any Channel
        do {
            channel = try connection.wait()
        } catch {
            done.succeed()
            throw RemoteError(
                .unreachable, "\(authority) can't be reached: \(RemoteConnection.text(of: error))")
        }
        let deadline = channel.eventLoop.scheduleTask(in: .seconds(handshakeSeconds)) {
            found.noteLate()
            channel.close(promise: nil)
        }
        defer {
            deadline.cancel()
            channel.close(promise: nil)
        }
        try wait(for: done.futureResult, check)
        return found.value
    }

    private static func connect(
        host: String, port: Int, _ found: FindingBox, _ done: EventLoopPromise<Void>,
        accepts: @escaping @Sendable ([UInt8]) -> Bool
    ) throws -> EventLoopFuture<any Channel> {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.cipherSuiteValues = ServerCertificate.cipherSuites
        configuration.applicationProtocols = ["http/1.1"]
        // The fingerprint decides instead of the chain and the name.
        configuration.certificateVerification = .noHostnameVerification
        let context = try NIOSSLContext(configuration: configuration)
        let name = ServerAddress.isNumeric(host) ? nil : host
        return ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(10))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = try NIOSSLClientHandler(
                        context: context, serverHostname: name,
                        customVerificationCallback: { certificates, promise in
                            let bytes = (try? certificates.first?.toDERBytes()) ?? []
                            let isAccepted = accepts(bytes)
                            found.keep(bytes, isAccepted: isAccepted)
                            promise.succeed(isAccepted ? .certificateVerified : .failed)
                        })
                    try channel.pipeline.syncOperations.addHandler(handler)
                    try channel.pipeline.syncOperations.addHandler(HandshakeWait(done))
                }
            }
            .connect(host: host, port: port)
    }

    /// Blocks until something has come about or failed, as long as `check` does not throw.
    private static func wait<Value: Sendable>(
        for future: EventLoopFuture<Value>, _ check: () throws -> Void
    ) throws {
        let ended = DispatchSemaphore(value: 0)
        future.whenComplete { _ in ended.signal() }
        while ended.wait(timeout: .now() + .milliseconds(checkMilliseconds)) == .timedOut { try check() }
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
