import NIOCore
import NIOEmbedded
import Testing

@testable import SyncHTTP

/// Connections whose other side does not read, in a time that the tests make.
@Suite struct UnreadAnswersTests {
    /// A connection on which nothing may be read for 10 seconds.
    private func connection() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: UnreadAnswers(silence: .seconds(10)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    private func setWritable(_ channel: EmbeddedChannel, _ isWritable: Bool) {
        channel.isWritable = isWritable
        channel.pipeline.fireChannelWritabilityChanged()
    }

    private func expectLasting(_ channel: EmbeddedChannel, seconds: Int64) {
        channel.embeddedEventLoop.advanceTime(by: .seconds(seconds))
        #expect(channel.isActive)
    }

    private func expectEnded(_ channel: EmbeddedChannel, seconds: Int64) {
        channel.embeddedEventLoop.advanceTime(by: .seconds(seconds))
        #expect(!channel.isActive)
    }

    @Test func whoReadsNothingIsLeft() throws {
        let channel = try connection()
        expectLasting(channel, seconds: 100)
        channel.write(ByteBuffer(repeating: 7, count: 100_000), promise: nil)
        setWritable(channel, false)
        expectLasting(channel, seconds: 9)
        expectEnded(channel, seconds: 1)
    }

    @Test func whoReadsInTimeIsServedOn() throws {
        let channel = try connection()
        for _ in 0..<3 {
            setWritable(channel, false)
            expectLasting(channel, seconds: 9)
            setWritable(channel, true)
            expectLasting(channel, seconds: 9)
        }
        setWritable(channel, false)
        expectEnded(channel, seconds: 10)
    }

    @Test func aLargeAnswerMayBeReadInSeveralSpans() throws {
        let channel = try connection()
        channel.write(ByteBuffer(repeating: 7, count: 100_000), promise: nil)
        setWritable(channel, false)
        expectLasting(channel, seconds: 5)
        // That is what a network takes away.
        channel.flush()
        expectLasting(channel, seconds: 14)
        expectEnded(channel, seconds: 1)
    }

    @Test func aConnectionThatHasEndedIsLeftAlone() throws {
        let channel = try connection()
        setWritable(channel, false)
        try channel.close().wait()
        expectEnded(channel, seconds: 100)
    }
}
