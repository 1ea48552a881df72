import AsyncHTTPClient
import Dispatch
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import SyncBucket
import SyncEngine
import SyncHTTP
import Synchronization

/// Sends requests to a relay over HTTPS, whose certificate is pinned by its fingerprint or vouched for by the system's roots.
final class RelayHTTP: RelayCarrier {
    /// How often it is looked whether a request is still wanted.
    private static let checkMilliseconds = 100

    private let address: RelayAddress
    private let options: RelayClient.Options
    private let made = Mutex<HTTPClient?>(nil)
    /// The certificate that is pinned, once it was fetched.
    private let pinnedCertificate = Mutex<NIOSSLCertificate?>(nil)

    init(_ address: RelayAddress, _ options: RelayClient.Options) {
        (self.address, self.options) = (address, options)
    }

    deinit {
        // It must live until its connections are closed, for which nobody waits.
        if let client = made.withLock({ $0 }) {
            client.shutdown { [client] _ in withExtendedLifetime(client) {} }
        }
    }

    // MARK: The connection

    /// What connects. The certificate of a fingerprint is fetched when it is needed first, as long as `check` does not throw.
    func client(check: () throws -> Void) throws -> HTTPClient {
        try made.withLock { made in
            if let made { return made }
            // Network.framework, which the client library takes where there is one, can't leave out the check of the name.
            let provider: HTTPClient.EventLoopGroupProvider =
                address.fingerprint == nil ? .singleton : .shared(MultiThreadedEventLoopGroup.singleton)
            let client = HTTPClient(eventLoopGroupProvider: provider, configuration: try configuration(check))
            made = client
            return client
        }
    }

    private func configuration(_ check: () throws -> Void) throws -> HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        // A connection is ended in the middle of a watch too, whose relay answers no goodbye.
        tls.shutdownTimeout = .milliseconds(200)
        if let fingerprint = address.fingerprint {
            // Exactly this one is trusted, whatever name it has.
            tls.trustRoots = .certificates([try pinned(fingerprint, check)])
            tls.certificateVerification = .noHostnameVerification
        } else if let file = options.trustRootsFile {
            tls.trustRoots = .file(file)
        }
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(
                connect: .seconds(options.connectSeconds), read: .seconds(options.silenceSeconds)),
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }

    private func pinned(
        _ fingerprint: [UInt8], _ check: () throws -> Void
    ) throws -> NIOSSLCertificate {
        let bytes: [UInt8]
        do {
            bytes = try CertificateProbe.certificate(
                of: address.server(fingerprint), fingerprint: fingerprint, check: check)
        } catch let error as RemoteError where error.code == .unreachable {
            throw RelayCarrierFailure(reason: error.message)
        } catch is RemoteError {
            throw wrongCertificate
        }
        // The library takes only a certificate that vouches for itself for the end of a chain.
        guard ServerCertificate.isSelfSigned(bytes) else {
            throw RelayError(
                .wrongCertificate,
                """
                the certificate of \(address.authority) comes from an authority, and only one that a relay has made for \
                itself is known by its fingerprint
                """, hint: RelayError.trustAuthority)
        }
        let certificate = try NIOSSLCertificate(bytes: bytes, format: .der)
        guard Self.isInItsTime(certificate) else { throw expiredCertificate }
        pinnedCertificate.withLock { $0 = certificate }
        return certificate
    }

    private static func isInItsTime(_ certificate: NIOSSLCertificate) -> Bool {
        let now = Date().timeIntervalSince1970
        return now >= TimeInterval(certificate.notValidBefore)
            && now <= TimeInterval(certificate.notValidAfter)
    }

    private var expiredCertificate: RelayError {
        RelayError(
            .wrongCertificate,
            "the certificate of \(address.authority) has expired, or is not valid yet by this clock",
            hint: "whoever runs the relay renews it, unless the clock of this system is wrong"
        ).passing
    }

    private var wrongCertificate: RelayError {
        guard address.fingerprint != nil else {
            // The library does not say which of these it is, and an authority's certificate is renewed as a rule.
            return RelayError(
                .wrongCertificate,
                """
                the certificate of \(address.authority) can't be relied on: it has expired, is for another name, or comes \
                from an authority that is not known here
                """, hint: "a relay that made its own certificate is known by its fingerprint"
            ).passing
        }
        // The clock may have gone wrong since it was fetched.
        if let pinned = pinnedCertificate.withLock({ $0 }), !Self.isInItsTime(pinned) {
            return expiredCertificate
        }
        return RelayError(
            .wrongCertificate,
            "\(address.authority) shows another certificate than the one that is known",
            hint: "if the relay was set up anew, ask for a new link")
    }

    // MARK: Requests

    func send(_ request: RelayRequest, check: () throws -> Void) throws -> RelayAnswer {
        let client = try client(check: check)
        let collector = RelayAnswerCollector(byteCountMax: request.answerByteCountMax)
        let body = request.sent
        let ready: HTTPClient.Request
        do {
            ready = try HTTPClient.Request(
                url: address.url + request.path, method: HTTPMethod(rawValue: request.method),
                headers: Self.headers(of: request),
                body: body?.content.map { Self.collected($0, by: collector) })
        } catch {
            throw RelayCarrierFailure(reason: "\(address.authority) can't be asked", mayPass: false)
        }
        let task = client.execute(
            request: ready, delegate: collector, deadline: .now() + .seconds(request.seconds))
        let done = DispatchSemaphore(value: 0)
        task.futureResult.whenComplete { _ in done.signal() }
        while done.wait(timeout: .now() + .milliseconds(Self.checkMilliseconds)) == .timedOut {
            do {
                try check()
                // Until all is sent, the client does not look how long the relay is silent.
                if let body, body.isStuck(after: .seconds(options.silenceSeconds)) {
                    throw RelayCarrierFailure(
                        reason: "\(address.authority) takes nothing for \(options.silenceSeconds) seconds")
                }
            } catch {
                task.cancel()
                throw error
            }
        }
        do {
            return try checked(task.wait())
        } catch let error as RelayCarrierFailure {
            throw error
        } catch is RelayAnswerCollector.TooLong {
            throw RelayCarrierFailure(
                reason: "the answer of \(address.authority) has over \(request.answerByteCountMax) bytes",
                mayPass: false)
        } catch {
            if let refusal = collector.refusal { return refusal }
            throw failure(error)
        }
    }

    private func checked(_ answer: RelayAnswer) throws -> RelayAnswer {
        let promised = answer.header("content-length").flatMap { Int($0) }
        if let promised, promised != answer.body.count {
            throw RelayCarrierFailure(reason: "the answer is \(answer.body.count) bytes of \(promised)")
        }
        return answer
    }

    static func headers(of request: RelayRequest) -> HTTPHeaders {
        var headers = HTTPHeaders(request.headers.map { ($0.name, $0.value) })
        if let token = request.token { headers.add(name: "authorization", value: token.authorization) }
        if case .document = request.body { headers.add(name: "content-type", value: "application/json") }
        return headers
    }

    /// Has a collector end what is sent when the relay has refused it.
    static func collected(
        _ content: HTTPClient.Body, by collector: RelayAnswerCollector
    ) -> HTTPClient.Body {
        let stream = content.stream
        return .stream(contentLength: content.contentLength) { writer in
            let loop = MultiThreadedEventLoopGroup.singleton.any()
            return collector.uploading(on: loop) { stream(writer) }
        }
    }

    /// Begins a request whose answer goes on.
    ///
    /// - parameter seconds: How long the answer may go on.
    /// - throws: ``RelayError``; `CancellationError`.
    func stream(_ request: RelayRequest, seconds: Int64) async throws -> HTTPClientResponse {
        var ready = HTTPClientRequest(url: address.url + request.path)
        ready.method = .init(rawValue: request.method)
        ready.headers = Self.headers(of: request)
        let prepared = ready
        do {
            // The certificate may have to be fetched, which blocks.
            let cancellation = SyncCancellation()
            let client = try await withTaskCancellationHandler {
                try await NIOThreadPool.singleton.runIfActive {
                    try self.client { try cancellation.check() }
                }
            } onCancel: {
                cancellation.cancel()
            }
            return try await client.execute(prepared, timeout: .seconds(seconds))
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw asRelayError(error)
        }
    }

    // MARK: Failures

    /// What an error of the network means to those who repeat nothing.
    func asRelayError(_ error: any Error) -> RelayError {
        if let error = error as? RelayError { return error }
        switch error as? RelayCarrierFailure ?? failure(error) {
        case let failure as RelayCarrierFailure:
            return RelayError(failure.mayPass ? .unreachable : .failed, failure.reason)
        case let error as RelayError: return error
        case let other: return RelayError(.unreachable, "\(other)")
        }
    }

    /// What an error of the network means.
    func failure(_ error: any Error) -> any Error {
        let text = "\(error)"
        let isAboutCertificate = [
            "CERTIFICATE_VERIFY_FAILED", "unableToValidateCertificate", "failedToValidateHostname",
        ].contains(where: text.contains)
        if isAboutCertificate { return wrongCertificate }
        return RelayCarrierFailure(
            reason: "\(address.authority) can't be reached: \(RemoteConnection.text(of: error))")
    }
}
