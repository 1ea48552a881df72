import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// The body of a request on its way: in pieces, each of which is given to the client when the one before has left.
///
/// The client waits for the answer from when it was given the end, wherever the bytes are then. Given all at once, a body
/// that takes long to be sent would be taken for a server that is silent.
package final class RequestBody: Sendable {
    package static let pieceByteCount = 64 << 10

    /// Where the bytes are.
    private enum Source {
        case memory(Data)
        case spool(Spool)
    }

    private let source: Source
    private let byteCount: Int
    /// When a piece left last; nil before the first one and after the last one.
    private let lastMove = Mutex<ContinuousClock.Instant?>(nil)

    package init(_ bytes: Data) { (source, byteCount) = (.memory(bytes), bytes.count) }

    /// - parameter spool: What it holds is sent. Nothing is added to it any more.
    package init(_ spool: Spool) { (source, byteCount) = (.spool(spool), spool.byteCount) }

    /// What the client asks for the pieces; nil when there are none.
    package var content: HTTPClient.Body? {
        guard byteCount > 0 else { return nil }
        return .stream(contentLength: Int64(byteCount)) { self.write(from: 0, to: $0) }
    }

    /// Whether the server takes none of the bytes any more. For its answer, the client waits.
    package func isStuck(after time: Duration) -> Bool {
        lastMove.withLock { $0.map { ContinuousClock.now - $0 >= time } ?? false }
    }

    private func write(
        from offset: Int, to writer: HTTPClient.Body.StreamWriter
    ) -> EventLoopFuture<Void> {
        lastMove.withLock { $0 = .now }
        let end = min(offset + Self.pieceByteCount, byteCount)
        let written = write(offset..<end, to: writer)
        guard end < byteCount else { return written.map { self.lastMove.withLock { $0 = nil } } }
        // Not from within the future's own call: of a server that is fast, the calls would become too many for the stack.
        let loop = written.eventLoop
        return written.flatMap { loop.flatSubmit { self.write(from: end, to: writer) } }
    }

    /// Gives a piece to the client. A spool is read on a thread that may wait for a disk.
    private func write(
        _ range: Range<Int>, to writer: HTTPClient.Body.StreamWriter
    ) -> EventLoopFuture<Void> {
        switch source {
        case .memory(let bytes):
            let piece = bytes.dropFirst(range.lowerBound).prefix(range.count)
            return writer.write(.byteBuffer(ByteBuffer(bytes: piece)))
        case .spool(let spool):
            let loop = MultiThreadedEventLoopGroup.singleton.any()
            return NIOThreadPool.singleton.runIfActive(eventLoop: loop) {
                ByteBuffer(bytes: try spool.read(at: range.lowerBound, upTo: range.count))
            }.flatMap { writer.write(.byteBuffer($0)) }
        }
    }
}
