import NIOCore
import NIOPosix
import SyncEngine
import SyncWire
import Synchronization
import Testing

@testable import SyncHTTP

/// What a server says is wrong, however much that is.
struct LongProblemTests {
    private final class Requests: Sendable {
        let count = Mutex(0)
    }

    /// Answers the first bytes of each connection with bytes of its own, and ends it.
    private final class Answering: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let answer: [UInt8]
        private let requests: Requests
        private var isDone = false

        init(_ answer: [UInt8], _ requests: Requests) { (self.answer, self.requests) = (answer, requests) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !isDone else { return }
            isDone = true
            requests.count.withLock { $0 += 1 }
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer)), promise: nil)
        }
    }

    /// What a request throws that is answered with a document.
    private func failure(_ document: [UInt8]) async throws -> (error: any Error, requestCount: Int) {
        let head = "HTTP/1.1 409 Conflict\r\ncontent-length: \(document.count)\r\nconnection: close\r\n\r\n"
        let (answer, requests) = (Array(head.utf8) + document, Requests())
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Answering(answer, requests))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listener.localAddress?.port)
        let connection = try RemoteConnection(
            ServerAddress(host: "127.0.0.1", port: port, trust: .loopback), certificate: nil,
            store: StoreID(high: 1, low: 2), key: DeviceKey(), options: .hasty,
            environment: TestClock().environment)
        nonisolated(unsafe) let open = connection
        var thrown: (any Error)?
        do {
            _ = try await blocking { try open.send(.init(method: "GET", path: "/v1/x", isSigned: false)) }
        } catch {
            thrown = error
        }
        connection.close()
        try await listener.close()
        return (try #require(thrown), requests.count.withLock { $0 })
    }

    @Test func allRowsOfARefusalAreHeardOf() async throws {
        var refusal = SyncError(.outsideScope, "these rows are none of this device's")
        let name = String(repeating: "n", count: 200)
        refusal.rows = (0..<1000).map { number in
            let text = "0000\(1000 + number)-0000-4000-8000-000000000000"
            return StateRows(
                table: ["\(name)\(number)"], keys: [StateRowKey(bytes: Array(text.utf8), isText: true)])
        }
        let document = try JSONDocument.encode(ProblemCoding.problem(refusal))
        #expect(document.count > 256 << 10)
        let (error, requestCount) = try await failure(document)
        let heard = try #require(error as? SyncError)
        #expect(heard.code == .outsideScope && heard.rows == refusal.rows && requestCount == 1)
    }

    @Test func aRefusalWithoutAnEndIsNotReadAndNotAskedForAgain() async throws {
        let (error, requestCount) = try await failure([UInt8](repeating: 32, count: 5 << 20))
        let heard = try #require(error as? RemoteError)
        #expect(heard.code == .failed && heard.message.contains("409") && requestCount == 1)
    }
}
