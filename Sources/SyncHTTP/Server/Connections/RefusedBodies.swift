import HTTPTypes
import HummingbirdCore
import NIOCore

/// Lets a client read the answer to a request whose body nobody reads to its end.
///
/// A connection that is closed while bytes wait in it is reset, and its client loses what it has not read yet (RFC 9112,
/// section 9.6). So the rest of such a body is read, and nobody gets it. After a short one the connection goes on. Of a long
/// one the answer says that the connection ends: nothing is sent after it, and what comes is dropped until the client
/// closes, for so long and so many bytes as there are bounds.
final class RefusedBodies: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPConnectionStateHandler.InboundIn
    typealias InboundOut = HTTPConnectionStateHandler.InboundOut
    typealias OutboundIn = HTTPConnectionStateHandler.OutboundIn
    typealias OutboundOut = HTTPConnectionStateHandler.OutboundOut

    /// How far the end of the connection has come.
    private enum Ending { case none, told, begun }

    /// The least that has to come of a short rest, in each span of the time that a connection may be silent.
    private static let bytesPerSecondMin: Int64 = 4096

    private let bounds: RefusedBodyBounds
    private let silence: TimeAmount
    /// The requests that have begun and are not answered. The last of them is the one that is being read.
    private var requestCount = 0
    private var isBeingRead = false
    /// Whether the client sends nothing after it.
    private var isLast = false
    /// How much of it is to come; nil when it does not say so.
    private var restByteCount: Int64?
    private var ending = Ending.none
    /// How much has come since the answer.
    private var lateByteCount: Int64 = 0
    /// What ends the connection; nil while nothing comes that nobody wants.
    private var deadline: Scheduled<Void>?

    /// - parameters:
    ///     - bounds: How much is read of what nobody wants.
    ///     - silence: How long a connection may be silent.
    init(_ bounds: RefusedBodyBounds, silence: TimeAmount) {
        self.bounds = bounds
        self.silence = silence
    }

    // MARK: What comes

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let isWanted = ending == .none || (ending == .told && isBeingRead)
        note(unwrapInboundIn(data))
        if isWanted { context.fireChannelRead(data) }
        if ending == .begun && lateByteCount > bounds.droppedByteCountMax { context.close(promise: nil) }
    }

    private func note(_ part: InboundIn) {
        switch part {
        case .head(let request):
            guard ending == .none else { return }
            requestCount += 1
            isBeingRead = true
            isLast = request.headerFields[.connection] == "close"
            restByteCount = Self.byteCount(of: request)
        case .body(let buffer):
            restByteCount? -= Int64(buffer.readableBytes)
            lateByteCount += Int64(buffer.readableBytes)
        case .end:
            isBeingRead = false
            if ending == .none { stop() }
        }
    }

    private static func byteCount(of request: HTTPRequest) -> Int64? {
        guard request.headerFields[.transferEncoding] == nil else { return nil }
        guard let length = request.headerFields[.contentLength] else { return 0 }
        return Int64(length)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        if ending == .begun { context.read() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        if ending == .begun, event as? ChannelEvent == .inputClosed { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // What is dropped may be anything, such as a body that breaks off.
        if ending != .begun { context.fireErrorCaught(error) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { stop() }

    // MARK: Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where head.status.kind != .informational && endsConnection:
            ending = .told
            head.headerFields[.connection] = "close"
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .head, .body: context.write(data, promise: promise)
        case .end: writeEnd(context, data, promise)
        }
    }

    /// Whether the connection ends with the answer to the oldest request.
    private var endsConnection: Bool {
        // Of several requests only the last one may not be there as a whole.
        guard requestCount == 1, isBeingRead else { return false }
        guard let restByteCount, !isLast else { return true }
        return restByteCount > bounds.keptByteCountMax
    }

    private func writeEnd(
        _ context: ChannelHandlerContext, _ data: NIOAny, _ promise: EventLoopPromise<Void>?
    ) {
        requestCount = max(requestCount - 1, 0)
        guard requestCount == 0, ending == .told || isBeingRead else {
            context.write(data, promise: promise)
            return
        }
        if ending == .told { ending = .begun }
        lateByteCount = 0
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.cascade(to: promise)
        sent.futureResult.assumeIsolated().whenSuccess { [self] in goOn(context) }
        context.write(data, promise: sent)
    }

    /// Reads what comes after an answer that was sent.
    private func goOn(_ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        if ending == .begun {
            endConnection(context)
        } else if requestCount == 0 && isBeingRead {
            expectProgress(context)
        }
    }

    private func endConnection(_ context: ChannelHandlerContext) {
        stop()
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: bounds.time) { () -> Void in
            context.close(promise: nil)
        }
        context.close(mode: .output, promise: nil)
        // Whoever asks for more as a rule does so when it was taken, and nobody takes this. It fails on a connection that has
        // ended, which needs nothing more.
        try? context.channel.syncOptions?.setOption(ChannelOptions.autoRead, value: false)
        context.read()
    }

    private func expectProgress(_ context: ChannelHandlerContext) {
        // Answers that could not be sent at first arrive together, and each of them begins to wait.
        stop()
        let before = lateByteCount
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: silence) { [self] () -> Void in
            deadline = nil
            let milliseconds = silence.nanoseconds / 1_000_000
            if lateByteCount - before >= Self.bytesPerSecondMin * milliseconds / 1_000 {
                expectProgress(context)
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

/// How much a server reads of bodies that nobody wants.
package struct RefusedBodyBounds: Sendable {
    /// The longest rest of a body that is read to its end, so that the connection goes on.
    let keptByteCountMax: Int64
    /// How long bytes are dropped before a connection is closed.
    let time: TimeAmount
    /// The most bytes that are dropped then.
    let droppedByteCountMax: Int64

    /// Makes bounds.
    ///
    /// - parameters:
    ///     - keptByteCountMax: The longest rest of a body that is read to its end, so that the connection goes on.
    ///     - seconds: How long bytes are dropped before a connection is closed. It is no longer than a connection may be silent.
    ///     - droppedByteCountMax: The most bytes that are dropped then.
    package init(keptByteCountMax: Int64, seconds: Double, droppedByteCountMax: Int64 = 64 << 20) {
        self.keptByteCountMax = keptByteCountMax
        time = .milliseconds(Int64(seconds * 1000))
        self.droppedByteCountMax = droppedByteCountMax
    }
}
