import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import SyncBucket

@Suite struct RequestBodyTests {
    /// What was given to the client, and what tells that it has left.
    private struct Piece: Sendable {
        let bytes: Data
        let promise: EventLoopPromise<Void>
    }

    @Test(.timeLimit(.minutes(1))) func aPieceIsGivenWhenTheOneBeforeHasLeft() async throws {
        let content = Data((0..<(2 * RequestBody.pieceByteCount + 5)).map { UInt8(truncatingIfNeeded: $0) })
        let body = RequestBody(content)
        let given = Mutex(0)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let (pieces, continuation) = AsyncStream.makeStream(of: Piece.self)
        let writer = HTTPClient.Body.StreamWriter { data in
            given.withLock { $0 += 1 }
            let promise = loop.makePromise(of: Void.self)
            if case .byteBuffer(let buffer) = data {
                continuation.yield(Piece(bytes: Data(buffer.readableBytesView), promise: promise))
            }
            return promise.futureResult
        }
        #expect(!body.isStuck(after: .zero))
        let request = try #require(body.content)
        #expect(request.contentLength == Int64(content.count))
        let sent = request.stream(writer)
        sent.whenComplete { _ in continuation.finish() }
        var iterator = pieces.makeAsyncIterator()
        var received = Data()
        for number in 1...3 {
            let piece = try #require(await iterator.next())
            let count = given.withLock { $0 }
            #expect(count == number && body.isStuck(after: .zero) && !body.isStuck(after: .seconds(3_600)))
            received += piece.bytes
            piece.promise.succeed(())
        }
        // The end is told after the last piece, and from then on it is the answer that is waited for.
        try await sent.get()
        #expect(received == content && !body.isStuck(after: .zero))
    }

    @Test func whatASpoolHoldsIsSentInPieces() async throws {
        let content = Data((0..<(RequestBody.pieceByteCount + 5)).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let body = RequestBody(Spool(content))
        let received = Mutex(Data())
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let writer = HTTPClient.Body.StreamWriter { data in
            if case .byteBuffer(let buffer) = data {
                received.withLock { $0 += Data(buffer.readableBytesView) }
            }
            return loop.makeSucceededVoidFuture()
        }
        let request = try #require(body.content)
        #expect(request.contentLength == Int64(content.count))
        try await request.stream(writer).get()
        let all = received.withLock { $0 }
        #expect(all == content && !body.isStuck(after: .zero))
    }

    @Test func aRequestWithoutABodyHasNone() {
        #expect(RequestBody(Data()).content == nil)
        #expect(RequestBody(Spool(Data())).content == nil)
    }
}
