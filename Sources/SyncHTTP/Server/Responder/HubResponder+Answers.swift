import Foundation
import Hummingbird
import HummingbirdCore
import NIOCore

/// How answers are made.
extension HubResponder {
    /// How much one request sends of a download.
    private static let rangeByteCountMax: Int64 = 8 << 20

    func decode<Value: Decodable>(_ type: Value.Type, from body: [UInt8]) throws -> Value {
        try JSONDocument.decode(type, from: body)
    }

    func document(
        _ value: some Encodable, _ status: HTTPResponse.Status = .ok, _ type: String = "application/json"
    ) throws -> Response {
        octets(try JSONDocument.encode(value), type, status)
    }

    func octets(_ bytes: [UInt8], _ type: String, _ status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: type, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// Sends what is there of a spool, after a wait for the first byte.
    ///
    /// - parameter read: Counts the answer until it was sent.
    func stream(
        _ spool: ByteSpool, from offset: Int64, _ channel: any Channel, _ read: DownloadRead
    ) async throws -> Response {
        // A device asks for what follows the bytes that it got: nothing that is further off is waited for.
        let present = spool.presentByteCount
        guard offset <= present else {
            throw RemoteError(.malformed, "the download has \(present) bytes, and none at \(offset)")
        }
        let reach = try await spool.reached(beyond: offset, seconds: limits.silenceSeconds / 2)
        guard reach.isWhole || reach.byteCount > offset else {
            throw RemoteError(.busy, "the store is busy, and the bundle is not made yet")
        }
        let end = min(reach.byteCount, offset + Self.rangeByteCountMax)
        let count = max(0, end - offset)
        let seconds = limits.answerSeconds
        let body = ResponseBody(contentLength: Int(count)) { writer in
            defer { read.end() }
            // A device that does not read on must not hold the connection for ever.
            let deadline = channel.eventLoop.scheduleTask(in: .milliseconds(Int64(seconds * 1000))) {
                channel.close(promise: nil)
            }
            defer { deadline.cancel() }
            var position = offset
            while position < end {
                let piece = try spool.read(from: position).prefix(Int(end - position))
                try await writer.write(ByteBuffer(bytes: piece))
                position += Int64(piece.count)
            }
            try await writer.waitUntilSent(by: channel)
            // The connection goes on with the next request as soon as the end is written, and that one is not to be cut.
            read.end()
            try await writer.finish(nil)
        }
        return Response(
            status: .ok, headers: [.contentType: "application/octet-stream", .cacheControl: "no-store"],
            body: body)
    }

    /// Runs what blocks where it may.
    func onThread<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            threads.async { continuation.resume(with: Swift.Result { try body() }) }
        }
    }
}
