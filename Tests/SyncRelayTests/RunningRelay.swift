import AsyncHTTPClient
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import SyncHTTP
import Testing

@testable import SyncRelay

/// A relay that listens on a free port of this machine, and ends with the test.
final class RunningRelay: Sendable {
    let storage: SQLiteRelayStorage
    let folder: StorageFolder
    let server: RelayServer
    let port: Int
    private let task: Task<Void, any Error>
    private let client: HTTPClient

    /// Starts a relay.
    ///
    /// - parameters:
    ///     - tls: Plaintext unless a test needs a certificate.
    ///     - change: Changes its options. They let all requests of a test through.
    init(
        _ folder: StorageFolder? = nil, tls: RelayServer.TLS = .plaintextOnLoopback, logger: Logger? = nil,
        _ changeOptions: (inout RelayServer.Options) -> Void = { _ in },
        storage change: (inout SQLiteRelayStorage.Options) -> Void = { _ in }
    ) async throws {
        let folder = try folder ?? StorageFolder()
        self.folder = folder
        storage = try folder.open(change)
        var options = RelayServer.Options(port: 0, tls: tls)
        options.limits.requestBurst = 1_000_000
        options.limits.wrongTokenBurst = 1_000_000
        options.limits.newChannelBurst = 1_000_000
        // On a busy machine, a client may take long to see that it was refused.
        options.limits.refusalSeconds = 60
        changeOptions(&options)
        let server = try await RelayServer(storage, options: options, logger: logger)
        self.server = server
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 256
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        task = Task {
            defer { continuation.finish() }
            try await server.run { continuation.yield($0.port) }
        }
        var iterator = ports.makeAsyncIterator()
        port = try #require(await iterator.next(), "the relay doesn't listen")
    }

    deinit {
        task.cancel()
        client.shutdown { _ in }
    }

    /// Ends the relay, and waits until it has ended.
    func end() async {
        task.cancel()
        _ = await task.result
    }

    /// An answer.
    struct Answer: Equatable {
        let status: Int
        let headers: [String: String]
        let body: Data

        func document<Value: Decodable>(_ type: Value.Type) throws -> Value {
            try RelayJSON.decode(type, from: Array(body))
        }

        /// The kind of problem that it tells.
        var problem: RelayProblem.Code? { try? document(RelayProblem.self).code }
    }

    func request(
        _ method: HTTPMethod, _ path: String, token: RelayToken? = nil,
        headers: [(String, String)] = [], body: Data? = nil
    ) async throws -> Answer {
        let (response, data) = try await answer(attempts: 5) {
            let response = try await open(method, path, token: token, headers: headers, body: body)
            return (response, try await response.body.collect(upTo: 64 << 20))
        }
        let fields = Dictionary(
            response.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { $0 + ", " + $1 })
        return Answer(
            status: Int(response.status.code), headers: fields.filter { $0.key != "date" },
            body: Data(buffer: data))
    }

    func open(
        _ method: HTTPMethod, _ path: String, token: RelayToken? = nil,
        headers: [(String, String)] = [], body: Data? = nil
    ) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)" + path)
        request.method = method
        if let token { request.headers.add(name: "authorization", value: token.authorization) }
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        return try await client.execute(request, timeout: .seconds(60))
    }

    /// Asks once more when the connection ended: a relay closes those on which it has refused something, and this client may
    /// take one of them before it has heard of that, or hear of the end before the answer.
    private func answer<Answer>(
        attempts: Int, _ ask: () async throws -> Answer
    ) async throws -> Answer {
        do {
            return try await ask()
        } catch ChannelError.ioOnClosedChannel where attempts > 1 {
            return try await answer(attempts: attempts - 1, ask)
        }
    }

    // MARK: Requests that most tests send

    func channel() async throws -> TestChannel {
        let channel = TestChannel()
        let body = Data(try RelayJSON.encode(channel.registration))
        let answer = try await request(.PUT, "/v1/channels/\(channel.id)", body: body)
        try #require(answer.status == 201)
        return channel
    }

    func put(
        _ name: String, _ content: Data, in channel: TestChannel, token: RelayToken? = nil,
        headers: [(String, String)] = []
    ) async throws -> Answer {
        let digest = RelayDigest(of: content).contentDigest
        return try await request(
            .PUT, channel.path(name), token: token ?? channel.writeToken,
            headers: [("content-digest", digest)] + headers, body: content)
    }

    func get(
        _ name: String, in channel: TestChannel, headers: [(String, String)] = []
    ) async throws -> Answer {
        try await request(.GET, channel.path(name), token: channel.readToken, headers: headers)
    }
}

extension TestChannel {
    var path: String { "/v1/channels/\(id)" }
    static let folder = String(repeating: "0a", count: 16)

    func path(_ name: String) -> String { "\(path)/files/\(Self.folder)/\(name)" }
}
