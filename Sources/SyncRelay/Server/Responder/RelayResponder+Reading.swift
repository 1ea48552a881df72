import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore

/// Files on their way out.
extension RelayResponder {
    func read(
        _ file: RelayFileName, _ channel: RelayChannelID, _ request: Request, _ context: RelayContext
    ) async throws -> Response {
        let version = try await storage.version(of: file, in: channel)
        let tag = "\"\(version.position)\""
        if let wanted = request.headers[.ifMatch], wanted != "*", wanted != tag {
            throw RelayProblem(
                .conflict, "the file is there in another version than the one that was asked for", status: 412
            )
        }
        // Whoever has a part of another version wants all of this one.
        let isOtherVersion = request.headers[.ifRange].map { $0 != tag } ?? false
        let range = isOtherVersion ? .all : ByteRange(request.headers[.range], of: version.byteCount)
        var headers: HTTPFields = [
            .contentType: "application/octet-stream", .cacheControl: "no-store", .eTag: tag,
            .acceptRanges: "bytes",
        ]
        switch range {
        case .all:
            return Response(
                status: .ok, headers: headers, body: body(version, 0..<version.byteCount, context))
        case .part(let part):
            headers[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(version.byteCount)"
            return Response(status: .partialContent, headers: headers, body: body(version, part, context))
        case .outside:
            var response = try problem(
                RelayProblem(
                    .malformed, "none of the bytes that were asked for are there", status: 416,
                    byteCount: version.byteCount))
            response.headers[.contentRange] = "bytes */\(version.byteCount)"
            return response
        }
    }

    /// Sends bytes of a version, one block in memory at a time. When it is gone in the middle, the answer is cut.
    private func body(
        _ version: RelayFileVersion, _ range: Range<Int64>, _ context: RelayContext
    ) -> ResponseBody {
        ResponseBody(contentLength: Int(range.count)) { [self] writer in
            var position = range.lowerBound
            while position < range.upperBound {
                let bytes = try await storage.read(version, from: position)
                guard !bytes.isEmpty else { throw Self.endedEarly }
                let piece = bytes.prefix(Int(min(Int64(bytes.count), range.upperBound - position)))
                // Who has read it finds it counted.
                traffic.count(sent: piece.count)
                try await whileProgressing(context) { try await writer.write(ByteBuffer(bytes: piece)) }
                metrics.count(bytes: piece.count, "out")
                position += Int64(piece.count)
            }
            try await writer.finish(nil)
        }
    }

    /// Ends the connection when its client does not read on for too long: it must not hold the answer for ever.
    func whileProgressing(_ context: RelayContext, _ body: () async throws -> Void) async throws {
        let channel = context.channel
        let deadline = channel.eventLoop.scheduleTask(
            in: .milliseconds(Int64(limits.silenceSeconds * 1000))
        ) { () -> Void in
            channel.close(promise: nil)
        }
        defer { deadline.cancel() }
        try await body()
    }
}
