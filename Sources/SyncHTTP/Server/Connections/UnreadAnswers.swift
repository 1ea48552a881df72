import NIOCore

/// Ends a connection whose other side does not read what it is sent.
///
/// While requests are in progress, nothing else looks for silence. Who sends many requests and reads no answer has always some
/// in progress: the connection would be held for ever.
final class UnreadAnswers: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    /// The least that has to be read, in each span of the time that a connection may be silent.
    private static let bytesPerSecondMin: Int64 = 4096

    private let silence: TimeAmount
    /// What ends the connection; nil while it can be written to.
    private var deadline: Scheduled<Void>?

    /// - parameter silence: How long nothing may be read while answers wait.
    init(silence: TimeAmount) { self.silence = silence }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            stop()
        } else if deadline == nil {
            start(context)
        }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { stop() }

    private func start(_ context: ChannelHandlerContext) {
        let before = Self.waitingByteCount(context.channel)
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: silence) { [self] () -> Void in
            deadline = nil
            // A large answer may take longer. Nothing is added to it meanwhile.
            let readCount = before - Self.waitingByteCount(context.channel)
            let milliseconds = silence.nanoseconds / 1_000_000
            if readCount >= Self.bytesPerSecondMin * milliseconds / 1_000 {
                start(context)
            } else {
                context.close(promise: nil)
            }
        }
    }

    private func stop() {
        deadline?.cancel()
        deadline = nil
    }

    /// How much waits to be sent; none where a channel can't say it, so that nothing seems to be read there.
    private static func waitingByteCount(_ channel: any Channel) -> Int64 {
        Int64((try? channel.syncOptions?.getOption(ChannelOptions.bufferedWritableBytes)) ?? 0)
    }
}
