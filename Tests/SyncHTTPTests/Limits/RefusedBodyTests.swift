import AsyncHTTPClient
import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOEmbedded
import NIOSSL
import TestSupport
import Testing

@testable import SyncHTTP

private typealias RequestPart = RefusedBodies.InboundIn
private typealias AnswerPart = RefusedBodies.OutboundIn

/// Notes that the sending side was closed, which a channel of tests takes for the end of both.
private final class HalfClosing: ChannelOutboundHandler {
    typealias OutboundIn = NIOAny
    typealias OutboundOut = NIOAny

    private(set) var isHalfClosed = false

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .output else { return context.close(mode: mode, promise: promise) }
        isHalfClosed = true
        promise?.succeed()
    }
}

/// A connection in a time that the tests make. After a rest of 100,000 bytes it goes on; one that ends does so after 5 seconds
/// or 1,000,000 bytes.
private struct Connection {
    let channel = EmbeddedChannel()
    let closing = HalfClosing()

    init() throws {
        let bounds = RefusedBodyBounds(
            keptByteCountMax: 100_000, seconds: 5, droppedByteCountMax: 1_000_000)
        try channel.pipeline.syncOperations.addHandlers(
            closing, RefusedBodies(bounds, silence: .seconds(10)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    func receive(_ parts: RequestPart...) {
        for part in parts { channel.pipeline.fireChannelRead(part) }
        channel.pipeline.fireChannelReadComplete()
    }

    /// Answers a request.
    ///
    /// - returns: Whether the answer says that the connection ends.
    func answer() throws -> Bool {
        writeAnswer()
        channel.flush()
        var isLast = false
        while let part = try channel.readOutbound(as: AnswerPart.self) {
            if case .head(let head) = part { isLast = head.headerFields[.connection] == "close" }
        }
        return isLast
    }

    /// Answers a request while nothing can be sent.
    func writeAnswer() {
        channel.write(AnswerPart.head(.init(status: .badRequest)), promise: nil)
        channel.write(AnswerPart.end(nil), promise: nil)
    }

    /// How many parts of requests came through.
    func partCount() throws -> Int {
        var count = 0
        while try channel.readInbound(as: RequestPart.self) != nil { count += 1 }
        return count
    }

    func expectLasting(seconds: Int64) {
        channel.embeddedEventLoop.advanceTime(by: .seconds(seconds))
        #expect(channel.isActive)
    }

    func expectEnded(seconds: Int64) {
        channel.embeddedEventLoop.advanceTime(by: .seconds(seconds))
        #expect(!channel.isActive)
    }

    func end() throws { _ = try channel.finish(acceptAlreadyClosed: true) }
}

/// Answers to requests whose bodies nobody wants.
@Suite(.serialized) struct RefusedBodyTests {
    /// The head of a request with so many bytes; nil when it does not say how many.
    private func head(_ byteCount: Int?, isLast: Bool = false) -> RequestPart {
        var request = HTTPRequest(method: .put, scheme: nil, authority: "server", path: "/")
        if let byteCount {
            request.headerFields[.contentLength] = String(byteCount)
        } else {
            request.headerFields[.transferEncoding] = "chunked"
        }
        if isLast { request.headerFields[.connection] = "close" }
        return .head(request)
    }

    private func body(_ byteCount: Int) -> RequestPart { .body(ByteBuffer(repeating: 7, count: byteCount)) }

    @Test func afterAShortRestTheConnectionGoesOn() throws {
        let connection = try Connection()
        connection.receive(head(100_001), body(10))
        let isLast = try connection.answer()
        #expect(!isLast)
        connection.expectLasting(seconds: 9)
        connection.receive(body(99_991), .end(nil))
        connection.expectLasting(seconds: 100)
        #expect(!connection.closing.isHalfClosed)
        // Whoever has answered reads on, up to the next request.
        let count = try connection.partCount()
        #expect(count == 4)
        try connection.end()
    }

    @Test func aShortRestMayNotComeTooSlowly() throws {
        let connection = try Connection()
        connection.receive(head(100_000))
        _ = try connection.answer()
        connection.expectLasting(seconds: 5)
        connection.receive(body(50_000))
        connection.expectLasting(seconds: 14)
        connection.receive(body(40_000))
        connection.expectEnded(seconds: 1)
        try connection.end()
    }

    @Test func answersThatAreSentTogetherEndNothingAfterTheLastRest() throws {
        let connection = try Connection()
        connection.receive(head(100_000))
        connection.writeAnswer()
        connection.receive(body(100_000), .end(nil), head(100))
        connection.writeAnswer()
        connection.channel.flush()
        connection.expectLasting(seconds: 1)
        connection.receive(body(100), .end(nil))
        connection.expectLasting(seconds: 100)
        try connection.end()
    }

    @Test func theAnswerToALongBodyEndsTheConnection() throws {
        for head in [head(100_001), head(nil), head(1, isLast: true)] {
            let connection = try Connection()
            connection.receive(head)
            let isLast = try connection.answer()
            #expect(isLast && connection.closing.isHalfClosed)
            let before = try connection.partCount()
            #expect(before == 1)
            // It is dropped with all that follows, however fast it comes.
            connection.receive(body(90_000), .end(nil), self.head(0), .end(nil))
            let after = try connection.partCount()
            #expect(after == 0)
            connection.expectLasting(seconds: 4)
            connection.receive(body(90_000))
            connection.expectEnded(seconds: 1)
            try connection.end()
        }
    }

    @Test func onlySoManyBytesAreDropped() throws {
        let connection = try Connection()
        connection.receive(head(10_000_000), body(500_000))
        _ = try connection.answer()
        connection.receive(body(1_000_000))
        connection.expectLasting(seconds: 0)
        connection.receive(body(1))
        connection.expectEnded(seconds: 0)
        try connection.end()
    }

    @Test func whoClosesAfterTheAnswerIsLeftAtOnce() throws {
        let connection = try Connection()
        connection.receive(head(10_000_000), body(500_000))
        _ = try connection.answer()
        connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        connection.expectEnded(seconds: 0)
        try connection.end()
    }

    @Test func theAnswerToAWholeRequestLeavesTheConnectionAsItIs() throws {
        let connection = try Connection()
        connection.receive(head(500_000), body(500_000), .end(nil), head(500_000))
        // The long body that is being read is not that of the first request.
        let isFirstLast = try connection.answer()
        #expect(!isFirstLast && !connection.closing.isHalfClosed)
        connection.expectLasting(seconds: 100)
        let isSecondLast = try connection.answer()
        #expect(isSecondLast && connection.closing.isHalfClosed)
        try connection.end()
    }

    // MARK: As clients get them

    @Test func whoSendsAllBeforeItReadsGetsTheAnswer() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        let store = try hub.identity().store
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            let answers = try await blocking { () -> String in
                let client = try #require(LoopbackSocket(port: server.port))
                let head =
                    "POST /v1/stores/\(store)/sessions HTTP/1.1\r\nhost: 127.0.0.1\r\n"
                    + "content-length: \(5 << 20)\r\n\r\n"
                client.push(Data(head.utf8))
                for _ in 0..<5 {
                    // The server has answered long before the last of it.
                    Thread.sleep(forTimeInterval: 0.4)
                    client.push(Data(count: 1 << 20))
                }
                let next = "GET /v1/hello HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"
                return String(decoding: client.exchange(Data(next.utf8)), as: UTF8.self)
            }
            #expect(answers.hasPrefix("HTTP/1.1 413 "), "\(answers)")
            #expect(answers.contains("HTTP/1.1 200 "), "\(answers)")
        }
    }

    /// Bytes without end.
    private struct Endless: AsyncSequence, Sendable {
        typealias Element = ByteBuffer
        struct AsyncIterator: AsyncIteratorProtocol {
            func next() async throws -> ByteBuffer? { ByteBuffer(repeating: 7, count: 65_536) }
        }
        func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
    }

    @Test(arguments: [true, false])
    func whoSendsWithoutEndGetsTheAnswer(isEncrypted: Bool) async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        let store = try hub.identity().store
        let tls = isEncrypted ? HubServer.TLS.selfSigned : .plaintextOnLoopback
        try await RunningServer.serving(hub, tls: tls) { server in
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.certificateVerification = .none
            let client = HTTPClient(
                eventLoopGroupProvider: .singleton, configuration: .init(tlsConfiguration: configuration))
            defer { client.shutdown { [client] _ in withExtendedLifetime(client) {} } }
            var request = HTTPClientRequest(url: try server.address.url + "/v1/stores/\(store)/sessions")
            request.method = .POST
            request.body = .stream(Endless(), length: .unknown)
            let response = try await client.execute(request, timeout: .seconds(60))
            #expect(response.status.code == 413 && response.headers["connection"] == ["close"])
            let body = try await response.body.collect(upTo: 1 << 20)
            let problem = try JSONDocument.decode(Message.Problem.self, from: Array(buffer: body))
            #expect(problem.title == "tooLarge")
        }
    }
}
