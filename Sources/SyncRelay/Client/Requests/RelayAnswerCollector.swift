import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Synchronization

/// Collects an answer, as far as it is wanted.
///
/// A relay may refuse a file before it has read all of it. The client library would then wait for the rest of the file,
/// which nobody reads, until the deadline: so the file is given up soon after such an answer has begun.
final class RelayAnswerCollector: HTTPClientResponseDelegate {
    /// More came than is wanted.
    struct TooLong: Error {}
    /// The answer came before the file had been sent.
    private struct AnsweredEarly: Error {}

    private struct State {
        var head: HTTPResponseHead?
        var body = Data()
        var upload: EventLoopPromise<Void>?
        var isUploaded = true
    }

    /// How long the words of a refusal are waited for.
    private static let refusalMilliseconds: Int64 = 500

    private let byteCountMax: Int
    private let state = Mutex(State())

    /// - parameter byteCountMax: The longest answer.
    init(byteCountMax: Int) { self.byteCountMax = byteCountMax }

    /// Begins an upload.
    ///
    /// - parameter body: Sends the file.
    /// - returns: What ends with it, or when it is given up.
    func uploading(
        on loop: any EventLoop, _ body: () -> EventLoopFuture<Void>
    ) -> EventLoopFuture<Void> {
        let promise = loop.makePromise(of: Void.self)
        state.withLock { ($0.upload, $0.isUploaded) = (promise, false) }
        let sent = body()
        sent.whenSuccess { [self] in state.withLock { $0.isUploaded = true } }
        sent.cascade(to: promise)
        return promise.futureResult
    }

    func didReceiveHead(
        task: HTTPClient.Task<RelayAnswer>, _ head: HTTPResponseHead
    ) -> EventLoopFuture<Void> {
        let promised = head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
        guard promised <= byteCountMax else { return task.eventLoop.makeFailedFuture(TooLong()) }
        let upload = state.withLock { state in
            state.head = head
            return state.isUploaded || head.status.code < 300 ? nil : state.upload
        }
        if let upload {
            task.eventLoop.scheduleTask(in: .milliseconds(promised == 0 ? 0 : Self.refusalMilliseconds)) {
                upload.fail(AnsweredEarly())
            }
        }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(
        task: HTTPClient.Task<RelayAnswer>, _ buffer: ByteBuffer
    ) -> EventLoopFuture<Void> {
        let isWanted = state.withLock { state in
            guard state.body.count + buffer.readableBytes <= byteCountMax else { return false }
            state.body.append(contentsOf: buffer.readableBytesView)
            return true
        }
        return isWanted
            ? task.eventLoop.makeSucceededVoidFuture() : task.eventLoop.makeFailedFuture(TooLong())
    }

    func didFinishRequest(task: HTTPClient.Task<RelayAnswer>) throws -> RelayAnswer {
        guard let answer = state.withLock({ Self.answer($0) }) else {
            throw HTTPClientError.remoteConnectionClosed
        }
        return answer
    }

    /// The refusal that came before the file had been sent; nil when there is none.
    var refusal: RelayAnswer? {
        state.withLock { state in
            guard !state.isUploaded, (state.head?.status.code ?? 0) >= 300 else { return nil }
            return Self.answer(state)
        }
    }

    private static func answer(_ state: State) -> RelayAnswer? {
        state.head.map { head in
            RelayAnswer(
                status: Int(head.status.code), headers: head.headers.map { ($0.name, $0.value) },
                body: state.body)
        }
    }
}
