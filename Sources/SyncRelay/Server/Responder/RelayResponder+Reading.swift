import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import SyncHTTP

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
                status: .ok, headers: headers, body: try body(version, 0..<version.byteCount, context))
        case .part(let part):
            headers[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(version.byteCount)"
            return Response(
                status: .partialContent, headers: headers, body: try body(version, part, context))
        case .outside:
            var response = try problem(
                RelayProblem(
                    .malformed, "none of the bytes that were asked for are there", status: 416,
                    byteCount: version.byteCount))
            response.headers[.contentRange] = "bytes */\(version.byteCount)"
            return response
        }
    }

    private func body(
        _ version: RelayFileVersion, _ range: Range<Int64>, _ context: RelayContext
    ) throws -> ResponseBody {
        try body(version, range, heldAnswers.begin(of: context.address), context.channel)
    }

    /// Sends bytes of a version. A piece counts as in memory from before it is read until it is sent: who reads promptly holds nearly
    /// nothing, and who doesn't read one piece. When the version is gone in the middle, the answer is cut.
    ///
    /// - parameter answer: Counts the pieces.
    /// - throws: ``RelayProblem`` of code `busy` when too much waits to be read. Whoever has begun waits for room.
    func body(
        _ version: RelayFileVersion, _ range: Range<Int64>, _ answer: HeldRequest, _ channel: any Channel
    ) throws -> ResponseBody {
        try answer.raise(to: Self.heldByteCount(of: range))
        return ResponseBody(contentLength: Int(range.count)) { [self] writer in
            defer { answer.lower(to: 0) }
            var position = range.lowerBound
            while position < range.upperBound {
                let rest = position..<range.upperBound
                if rest != range { try await takeTurn(answer, Self.heldByteCount(of: rest), channel) }
                let bytes = try await storage.read(version, from: position)
                guard !bytes.isEmpty else { throw Self.endedEarly }
                let piece = bytes.prefix(Int(min(Int64(bytes.count), Int64(rest.count))))
                // Who has read it finds it counted.
                traffic.count(sent: piece.count)
                try await writer.write(ByteBuffer(bytes: piece))
                try await writer.waitUntilSent(by: channel)
                answer.lower(to: 0)
                metrics.count(bytes: piece.count, "out")
                position += Int64(piece.count)
            }
            try await writer.finish(nil)
        }
    }

    /// How much of a file counts as in memory while its next piece is sent.
    private static func heldByteCount(of rest: Range<Int64>) -> Int {
        rest.count > uncountedByteCountMax ? min(rest.count, RelayUpload.pieceByteCount) : 0
    }

    /// Waits until there is room for a piece, no longer than a connection may be silent.
    private func takeTurn(_ answer: HeldRequest, _ count: Int, _ channel: any Channel) async throws {
        let deadline = channel.eventLoop.scheduleTask(
            in: .milliseconds(Int64(limits.silenceSeconds * 1000))
        ) { () -> Void in
            answer.giveUp()
        }
        defer { deadline.cancel() }
        try await answer.takeTurn(for: count)
    }
}
