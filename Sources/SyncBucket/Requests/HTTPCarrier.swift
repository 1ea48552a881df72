import AsyncHTTPClient
import Dispatch
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Sends requests over HTTP, each over a connection of its own: they are few, and no answer is taken for another one's.
final class HTTPCarrier: BucketCarrier {
    /// How often it is looked whether a request is still wanted.
    private static let checkMilliseconds = 100

    private let client: HTTPClient
    private let silenceSeconds: Int64

    /// - parameters:
    ///     - connectSeconds: How long a connection may take to come about.
    ///     - silenceSeconds: How long the server may be silent.
    ///     - trustRootsFile: A file of certificates in PEM that chains may end in, instead of the system's.
    init(connectSeconds: Int64, silenceSeconds: Int64, trustRootsFile: String?) {
        self.silenceSeconds = silenceSeconds
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let trustRootsFile { tls.trustRoots = .file(trustRootsFile) }
        // A redirect would need another signature, for a place that nobody has named.
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(connectSeconds), read: .seconds(silenceSeconds)),
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        // What comes after an answer would be taken for that of the next request, such as a write that never was.
        configuration.maximumUsesPerConnection = 1
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    deinit {
        // It must live until its connections are closed, for which nobody waits.
        client.shutdown { [client] _ in withExtendedLifetime(client) {} }
    }

    func send(_ request: SignedRequest, check: () throws -> Void) throws -> BucketAnswer {
        let body = RequestBody(request.body)
        let ready: HTTPClient.Request
        do {
            ready = try HTTPClient.Request(
                url: request.url, method: HTTPMethod(rawValue: request.method),
                headers: HTTPHeaders(request.headers.map { ($0.name, $0.value) }),
                body: body.content)
        } catch {
            throw CarrierFailure(reason: "the address can't be asked: \(error)", mayPass: false)
        }
        let task = client.execute(
            request: ready,
            delegate: ResponseAccumulator(request: ready, maxBodySize: request.answerByteCountMax),
            deadline: .now() + .seconds(request.seconds))
        let done = DispatchSemaphore(value: 0)
        task.futureResult.whenComplete { _ in done.signal() }
        while done.wait(timeout: .now() + .milliseconds(Self.checkMilliseconds)) == .timedOut {
            do {
                try check()
                // Until all is sent, the client does not look how long the server is silent.
                if body.isStuck(after: .seconds(silenceSeconds)) {
                    throw failure(of: request, "the server takes nothing for \(silenceSeconds) seconds")
                }
            } catch {
                task.cancel()
                throw error
            }
        }
        do {
            return try answer(task.wait(), to: request)
        } catch let error as CarrierFailure {
            throw error
        } catch is ResponseAccumulator.ResponseTooBigError {
            throw CarrierFailure(
                reason:
                    "the answer has over \(request.answerByteCountMax) bytes; is a storage for buckets at the endpoint?",
                mayPass: false)
        } catch {
            throw failure(of: request, Self.words(error), isOfCertificate: Self.isOfCertificate(error))
        }
    }

    private func failure(
        of request: SignedRequest, _ words: String, isOfCertificate: Bool = false
    ) -> CarrierFailure {
        let host = request.headers.first { $0.name == "host" }?.value ?? "the server"
        return CarrierFailure(
            reason: "the connection to \(host) failed: \(words)", mayPass: !isOfCertificate,
            isOfCertificate: isOfCertificate)
    }

    private static func isOfCertificate(_ error: any Error) -> Bool {
        error is NIOSSLExtraError || "\(error)".contains("CERTIFICATE_VERIFY_FAILED")
    }

    private func answer(_ response: HTTPClient.Response, to request: SignedRequest) throws -> BucketAnswer {
        let body = response.body.map { Data($0.readableBytesView) } ?? Data()
        let promised = response.headers.first(name: "content-length").flatMap { Int($0) }
        if let promised, request.method != "HEAD", response.status != .notModified, promised != body.count {
            throw CarrierFailure(reason: "the answer is \(body.count) bytes of \(promised)")
        }
        return BucketAnswer(
            status: Int(response.status.code), headers: response.headers.map { ($0.name, $0.value) },
            body: body)
    }

    /// What is wrong, without the address, which may have a long query.
    private static func words(_ error: any Error) -> String {
        switch error {
        case let error as HTTPClientError: error.shortDescription
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case let error as NIOConnectionError:
            error.dnsAError == nil ? "nobody answers" : "there is no such host"
        // The library dumps errors of TLS with places in its sources.
        case let error where isOfCertificate(error):
            "its certificate can't be relied on: it has expired, is for another name, or comes from an authority that is not known here"
        case is NIOSSLError, is BoringSSLError:
            "no TLS connection came about; an address without TLS begins with http://"
        default: "\(error)"
        }
    }
}
