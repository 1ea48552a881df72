import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOEmbedded
import Testing

@testable import SyncHTTP

/// Requests that begin and do not go on, in a time that the tests make.
@Suite struct SilentRequestsTests {
    private typealias Part = SilentRequests.InboundIn

    private let head = Part.head(.init(method: .put, scheme: nil, authority: "server", path: "/"))

    /// A connection on which requests may be silent for 10 seconds.
    private func connection() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: SilentRequests(silence: .seconds(10)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    private func receive(_ channel: EmbeddedChannel, _ parts: Part...) {
        for part in parts { channel.pipeline.fireChannelRead(part) }
        channel.pipeline.fireChannelReadComplete()
    }

    private func expectLasting(_ channel: EmbeddedChannel, seconds: Int64) {
        channel.embeddedEventLoop.advanceTime(by: .seconds(seconds))
        #expect(channel.isActive)
    }

    private func expectEnded(_ channel: EmbeddedChannel, seconds: Int64) {
        channel.embeddedEventLoop.advanceTime(by: .seconds(seconds))
        #expect(!channel.isActive)
    }

    @Test func aRequestThatStaysIncompleteEndsItsConnection() throws {
        let channel = try connection()
        // One that is answered for long comes before it.
        receive(channel, head, .end(nil))
        expectLasting(channel, seconds: 100)
        receive(channel, head)
        expectLasting(channel, seconds: 9)
        expectEnded(channel, seconds: 1)
    }

    @Test func aRequestThatGoesOnLasts() throws {
        let channel = try connection()
        receive(channel, head)
        for _ in 0..<10 {
            expectLasting(channel, seconds: 9)
            receive(channel, .body(ByteBuffer(repeating: 7, count: 10)))
        }
        receive(channel, .end(nil))
        expectLasting(channel, seconds: 100)
        receive(channel, head, .body(ByteBuffer(repeating: 7, count: 10)))
        expectEnded(channel, seconds: 20)
    }

    @Test func aConnectionThatHasEndedIsLeftAlone() throws {
        let channel = try connection()
        receive(channel, head)
        try channel.close().wait()
        expectEnded(channel, seconds: 100)
    }
}
