import AsyncHTTPClient
import Foundation
import NIOCore
import Synchronization

/// The body of a request on its way: in pieces, each of which is given to the client when the one before has left.
///
/// The client waits for the answer from when it was given the end, wherever the bytes are then. Given all at once, a body
/// that takes long to be sent would be taken for a server that is silent.
final class RequestBody: Sendable {
    static let pieceByteCount = 64 << 10

    private let bytes: Data
    /// When a piece left last; nil before the first one and after the last one.
    private let lastMove = Mutex<ContinuousClock.Instant?>(nil)

    init(_ bytes: Data) { self.bytes = bytes }

    /// What the client asks for the pieces; nil when there are none.
    var content: HTTPClient.Body? {
        guard !bytes.isEmpty else { return nil }
        return .stream(contentLength: Int64(bytes.count)) { self.write(from: 0, to: $0) }
    }

    /// Whether the server takes none of the bytes any more. For its answer, the client waits.
    func isStuck(after time: Duration) -> Bool {
        lastMove.withLock { $0.map { ContinuousClock.now - $0 >= time } ?? false }
    }

    private func write(
        from offset: Int, to writer: HTTPClient.Body.StreamWriter
    ) -> EventLoopFuture<Void> {
        lastMove.withLock { $0 = .now }
        let piece = bytes.dropFirst(offset).prefix(Self.pieceByteCount)
        let end = offset + piece.count
        let written = writer.write(.byteBuffer(ByteBuffer(bytes: piece)))
        guard end < bytes.count else { return written.map { self.lastMove.withLock { $0 = nil } } }
        // Not from within the future's own call: of a server that is fast, the calls would become too many for the stack.
        let loop = written.eventLoop
        return written.flatMap { loop.flatSubmit { self.write(from: end, to: writer) } }
    }
}
