import AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL
import SyncEngine
import SyncWire

/// A device's connection to a server: requests, their signatures, and their repetition.
///
/// It belongs to one thread, which it blocks. When the synchronization that it was made for is cancelled, what it waits for
/// ends, and it sends nothing more.
package final class RemoteConnection {
    /// A request. All of them can be repeated, unless they say otherwise.
    struct Call {
        var method: String
        var path: String
        var query = ""
        var body: [UInt8] = []
        var isSigned = true
        var isRepeatable = true
        /// How long the answer may take to begin, in seconds.
        var seconds: Int64 = 60
    }

    /// The longest answer that is a document, or a greeting.
    private static let answerByteCountMax = 17 << 20
    /// The longest answer that says what is wrong: with 1,000 rows, each of another table.
    private static let problemByteCountMax = 4 << 20

    let address: ServerAddress
    let store: StoreID
    let key: DeviceKey
    let options: HTTPTransport.Options
    private let environment: SyncEnvironment
    private let client: HTTPClient
    private let bridge: BridgingTask
    var session: (token: [UInt8], number: UInt64)?
    /// What the server said of this device when it opened the session.
    var terms: DeviceTerms?
    /// The codecs of chunks that the server reads.
    var codecs: [String] = []
    /// Whether the store has adapted to that.
    var isAdapted = false

    /// - parameter certificate: The certificate to pin, in DER, for an address that needs one.
    init(
        _ address: ServerAddress, certificate: [UInt8]?, store: StoreID, key: DeviceKey,
        options: HTTPTransport.Options, environment: SyncEnvironment
    ) throws {
        self.address = address
        self.store = store
        self.key = key
        self.options = options
        self.environment = environment
        let configuration = try Self.configuration(address, certificate, options)
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        bridge = BridgingTask(environment.cancellation)
    }

    private static func configuration(
        _ address: ServerAddress, _ certificate: [UInt8]?, _ options: HTTPTransport.Options
    ) throws -> HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.cipherSuiteValues = ServerCertificate.cipherSuites
        // A connection is ended in the middle of a stream too, whose server answers no goodbye.
        tls.shutdownTimeout = .milliseconds(200)
        if case .fingerprint(let fingerprint) = address.trust {
            guard let certificate, ServerCertificate.fingerprint(certificate) == fingerprint else {
                throw RemoteError(
                    .wrongCertificate, "the certificate of \(address.authority) is not known here")
            }
            // Exactly this one is trusted; whatever name it has.
            tls.trustRoots = .certificates([try NIOSSLCertificate(bytes: certificate, format: .der)])
            tls.certificateVerification = .noHostnameVerification
        } else if let file = options.trustRootsFile {
            tls.trustRoots = .file(file)
        }
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(
                connect: .seconds(options.connectSeconds), read: .seconds(options.patienceSeconds)),
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }

    /// Ends the connection.
    func close() {
        defer { bridge.end() }
        guard environment.cancellation?.isCancelled == true else {
            // That ends what the task waits for.
            try? client.syncShutdown()
            return
        }
        // A connection that is about to come is waited for until then, and nobody waits for that any more.
        client.shutdown { [client] _ in withExtendedLifetime(client) {} }
    }

    /// Whom this device takes for the server.
    var server: [UInt8] {
        if case .fingerprint(let fingerprint) = address.trust { return fingerprint }
        return []
    }

    /// The start of the paths of the store.
    var base: String { "/v1/stores/\(store)" }

    // MARK: Requests

    /// Sends a request, again if it has to be, and collects the answer.
    func send(_ call: Call) throws -> [UInt8] {
        var answer: [UInt8] = []
        try repeating(call) { call in
            answer = []
            try exchange(call) { piece in
                guard answer.count + piece.count <= Self.answerByteCountMax else {
                    throw RemoteError(
                        .tooLarge, "the server's answer has over \(Self.answerByteCountMax) bytes")
                }
                answer += piece
            }
            return true
        }
        return answer
    }

    /// Sends a request until it succeeds, or nothing helps.
    ///
    /// - parameter body: Returns whether any progress was made, after an error that may pass; the patience
    ///   begins anew then.
    func repeating(_ call: Call, _ body: (Call) throws -> Bool) throws {
        var failures = 0
        var renewals = 0
        while true {
            try options.onRequest?()
            // It has repetitions of its own.
            if call.isSigned && session == nil { try open() }
            do {
                if try body(call) { return }
                failures = 0
            } catch let error as RemoteError
                where error.code == .sessionEnded && call.isSigned && renewals < 3
            {
                renewals += 1
                session = nil
            } catch let error as RemoteError where [.unreachable, .busy].contains(error.code) {
                failures += 1
                guard call.isRepeatable, failures <= options.repetitionCountMax else { throw error }
                try pause(failures)
            }
        }
    }

    /// Waits, longer each time, and not as long as others do.
    ///
    /// - throws: `CancellationError`.
    func pause(_ failures: Int) throws {
        let most = min(options.pauseSecondsMax, options.pauseSeconds * pow(2, Double(failures - 1)))
        let random = Double(environment.random() >> 11) / Double(1 << 53)
        let seconds = most * (0.5 + random / 2)
        guard let cancellation = environment.cancellation else {
            return Thread.sleep(forTimeInterval: seconds)
        }
        try cancellation.sleep(seconds: seconds)
    }

    /// Sends a request once, and hands out the pieces of a good answer.
    func exchange(_ call: Call, _ onPiece: ([UInt8]) throws -> Void) throws {
        let target = call.path + (call.query.isEmpty ? "" : "?" + call.query)
        var request = HTTPClientRequest(url: address.url + target)
        request.method = .init(rawValue: call.method)
        request.headers.add(name: "accept", value: "application/json, application/octet-stream")
        if call.isSigned { try sign(&request, call, target) }
        if !call.body.isEmpty { request.body = .bytes(ByteBuffer(bytes: call.body)) }
        let (ready, client, seconds) = (request, client, min(call.seconds, options.patienceSeconds))
        let response = try reached { () -> HTTPClientResponse in
            try bridge.run { try await client.execute(ready, timeout: .seconds(seconds)) }
        }
        guard (200..<300).contains(response.status.code) else { throw try failure(response) }
        let pieces = PieceIterator(response.body)
        while let piece = try reached({ try bridge.run { try await pieces.next() } }) { try onPiece(piece) }
    }

    private func sign(_ request: inout HTTPClientRequest, _ call: Call, _ target: String) throws {
        guard var session else { throw RemoteError(.sessionEnded, "there is no session") }
        session.number += 1
        self.session = session
        let text = SignedText.request(
            session: session.token, number: session.number, method: call.method, target: target,
            body: call.body)
        request.headers.add(name: "cipherstore-session", value: ByteText.base64(session.token))
        request.headers.add(name: "cipherstore-number", value: String(session.number))
        request.headers.add(
            name: "cipherstore-signature", value: ByteText.base64(try key.signature(of: text)))
    }

    private func failure(_ response: HTTPClientResponse) throws -> any Error {
        let status = Int(response.status.code)
        let pieces = PieceIterator(response.body)
        var bytes: [UInt8] = []
        while let piece = try reached({ try bridge.run { try await pieces.next() } }) {
            bytes += piece
            guard bytes.count <= Self.problemByteCountMax else {
                return RemoteError(
                    .failed,
                    "\(address.authority) answered with HTTP status \(status) and over \(Self.problemByteCountMax) bytes"
                )
            }
        }
        guard let problem = try? JSONDocument.decode(Message.Problem.self, from: bytes) else {
            return RemoteError(
                status == 404 ? .notFound : .failed,
                "\(address.authority) answered with HTTP status \(status): is it a server of stores?")
        }
        return ProblemCoding.error(problem)
    }
}

/// The pieces of an answer, asked for one by one from a thread that waits for each.
// Used by one task at a time, because the thread waits for it.
private final class PieceIterator: @unchecked Sendable {
    private var iterator: HTTPClientResponse.Body.AsyncIterator

    init(_ body: HTTPClientResponse.Body) { iterator = body.makeAsyncIterator() }

    func next() async throws -> [UInt8]? { try await iterator.next().map { Array(buffer: $0) } }
}
