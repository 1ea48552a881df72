import HummingbirdCore
import NIOCore

/// Ends a connection whose other side begins a request and does not go on with it.
///
/// Hummingbird looks for that too, but not any more when an answer has taken longer than a connection may be silent: then nothing
/// would end the wait for a request that came after it.
final class SilentRequests: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPConnectionStateHandler.InboundIn

    private let silence: TimeAmount
    /// Whether a request has begun and not ended.
    private var isBeingRead = false
    /// Whether some of it came since the deadline was set.
    private var hasMoved = false
    /// What ends the connection; nil while no request is being read.
    private var deadline: Scheduled<Void>?

    /// - parameter silence: How long nothing may come of a request.
    init(silence: TimeAmount) { self.silence = silence }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: isBeingRead = true
        case .body: break
        case .end: isBeingRead = false
        }
        hasMoved = true
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Most requests have ended here, and cost no deadline.
        if !isBeingRead {
            stop()
        } else if deadline == nil {
            start(context)
        }
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { stop() }

    private func start(_ context: ChannelHandlerContext) {
        hasMoved = false
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: silence) { [self] () -> Void in
            deadline = nil
            if hasMoved {
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
}
