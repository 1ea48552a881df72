import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore

/// Files on their way in.
extension RelayResponder {
    /// How much is read of a body that was refused, so that its client reads the answer: 16 MiB.
    private static let skippedByteCountMax = 16 << 20

    func write(
        _ file: RelayFileName, _ channel: RelayChannelID, _ request: Request, _ context: RelayContext
    ) async throws -> Response {
        let upload = RelayUploadRequest(
            file: file, isReplacing: try isReplacing(request),
            byteCount: try byteCount(of: request, upTo: RelayBounds.fileByteCountMax),
            digest: try digest(of: request))
        let isSmall = upload.byteCount <= Int64(RelayUpload.pieceByteCount)
        let outcome = try await held.hold(of: context.address) { held in
            isSmall
                ? try await writeAtOnce(upload, channel, request, held)
                : try await writeInPieces(upload, channel, request, held)
        }
        metrics.count(bytes: Int(upload.byteCount), "in")
        return try document(RelayPlace(position: outcome.position), outcome.isNew ? .created : .ok)
    }

    private func isReplacing(_ request: Request) throws -> Bool {
        switch request.headers[.ifNoneMatch] {
        case nil: return true
        case "*": return false
        default: throw RelayProblem(.malformed, "If-None-Match may be * only")
        }
    }

    private func digest(of request: Request) throws -> RelayDigest {
        guard let digest = request.headers[.contentDigest].flatMap({ RelayDigest(contentDigest: $0) }) else {
            throw RelayProblem(.malformed, "the request has no Content-Digest with a sha-256 of its body")
        }
        return digest
    }

    private func writeAtOnce(
        _ upload: RelayUploadRequest, _ channel: RelayChannelID, _ request: Request, _ held: HeldRequest
    ) async throws -> RelayOutcome {
        var reader = reader(of: request)
        let content = try await reader.read(Int(upload.byteCount)) { try held.raise(to: $0) }
        guard content.count == Int(upload.byteCount) else { throw Self.endedEarly }
        guard RelayDigest(of: content) == upload.digest else { throw Self.otherDigest }
        let result = try await storage.change(
            channel, [.write(upload.file, replacing: upload.isReplacing, content: content)])
        return result.outcomes.first ?? RelayOutcome(position: result.position, isNew: false)
    }

    private func writeInPieces(
        _ request: RelayUploadRequest, _ channel: RelayChannelID, _ http: Request, _ held: HeldRequest
    ) async throws -> RelayOutcome {
        var reader = reader(of: http)
        let upload: RelayUpload
        do {
            upload = try await storage.beginUpload(request, to: channel)
        } catch {
            // A client that is still sending would not come to read why.
            await reader.skip(upTo: Self.skippedByteCountMax)
            throw error
        }
        do {
            try await receive(upload, &reader, held)
            return try await storage.finish(upload)
        } catch let problem as RelayProblem where problem.code == .missing {
            // It is the upload that is missing, and not what was asked for: the same request begins another one.
            await storage.abandon(upload)
            throw RelayProblem(.unavailable, problem.message)
        } catch {
            await storage.abandon(upload)
            throw error
        }
    }

    private func receive(
        _ upload: RelayUpload, _ reader: inout BodyReader, _ held: HeldRequest
    ) async throws {
        var hash = SHA256()
        var offset: Int64 = 0
        while offset < upload.request.byteCount {
            let count = min(Int64(RelayUpload.pieceByteCount), upload.request.byteCount - offset)
            // One piece is being read, and one written.
            let piece = try await reader.read(Int(count)) { try held.raise(to: 2 * $0) }
            guard piece.count == Int(count) else { throw Self.endedEarly }
            hash.update(data: piece)
            try await storage.append(piece, at: offset, to: upload)
            offset += count
        }
        guard RelayDigest(hash.finalize()) == upload.request.digest else { throw Self.otherDigest }
    }

    private static let otherDigest = RelayProblem(
        .digestMismatch, "the body is not the one whose Content-Digest came with it; send it again")
}
